"""What goes wrong is one sentence on standard error and an exit code, never a traceback."""

import os
import signal
import subprocess
import sys

import pytest

from labelrank.cli.models import settings
from labelrank.errors import InputError


def refused(done, *words):
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith(("labelrank: ", "Usage:"))
    assert done.stderr.startswith("Usage:") or done.stderr.count("\n") == 1
    assert all(word in done.stderr for word in words), done.stderr


def test_a_missing_data_file_is_named(run, model):
    refused(run("predict", model, "nowhere.jsonl"), "nowhere.jsonl")


def test_a_misspelt_data_set_gets_near_names(run):
    refused(run("datasets", "yeats"), "yeast")


def test_a_missing_model_is_named(run, news):
    refused(run("predict", "nowhere.labelrank", news), "nowhere.labelrank")


def test_a_file_that_is_no_model_is_refused(run, news):
    refused(run("predict", news, news), "news.jsonl", "give MODEL, a file that labelrank fit wrote")


def test_a_cut_model_is_refused(run, model, news, tmp_path):
    cut = tmp_path / "cut.labelrank"
    cut.write_bytes(model.read_bytes()[:-100])
    refused(run("predict", cut, news), "cut.labelrank")


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\xff\xfe\x00", b'{"text": "cut', b'{"text": 3}\n', b"[1, 2]\n", b"\xfd7zXZ\x00cut"],
)
def test_broken_files_are_refused(run, model, tmp_path, content):
    path = tmp_path / "broken.jsonl"
    path.write_bytes(content)
    refused(run("predict", model, path), "broken.jsonl")


def test_a_folder_is_no_data_file(run, tmp_path):
    refused(run("fit", tmp_path))


def test_texts_without_labels_cannot_be_fitted(run, tmp_path):
    (tmp_path / "plain.txt").write_text("one\ntwo\n")
    refused(run("fit", tmp_path / "plain.txt"), "label")


def test_an_unknown_learner_gets_near_names(run, news):
    refused(run("fit", news, "-l", "BRR"), "BR")


def test_an_unknown_parameter_gets_near_names(run, news):
    refused(run("fit", news, "-l", "BR+", "--set", "epoch=3"), "epochs")


def test_a_wrong_value_is_refused(run, news, tmp_path):
    refused(run("fit", news, "-o", tmp_path / "m", "-l", "BR+", "--set", "epochs=many"), "epochs")
    refused(run("fit", news, "-o", tmp_path / "m", "--threshold", "high"), "--threshold")
    refused(
        run("fit", news, "-o", tmp_path / "m", "--representation", "soup"),
        "--representation 'soup'",
    )
    refused(run("fit", news, "--part", "half"), "half")
    refused(run("fit", news, "--part", "test"), "--part all")
    assert not (tmp_path / "m").exists()


def test_an_unwritable_place_is_named(run, news, tmp_path):
    refused(run("fit", news, "-o", tmp_path / "no" / "m"), "no/m")


@pytest.mark.parametrize("command", ["fit", "tune", "learn", "evaluate"])
def test_an_unwritable_place_is_told_before_anything_is_learned(
    run, model, news, tmp_path, monkeypatch, command
):
    def read(*_):
        pytest.fail("the data were read first")

    monkeypatch.setattr("labelrank.cli.options.Recipe.teach", read)
    monkeypatch.setattr("labelrank.cli.models.learn_more", read)
    monkeypatch.setattr("labelrank.cli.models.put_to", read)
    place = tmp_path / "nowhere" / "file"
    arguments = {
        "fit": [news, "-o", place],
        "tune": [news, "-o", place],
        "learn": [model, news, "-o", place],
        "evaluate": [model, news, "--report", place],
    }
    refused(run(command, *arguments[command], "-q"), "nowhere", "writable")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_device_or_pipe_is_not_replaced_by_a_model(run, news, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refused(run("fit", news, "-o", tmp_path / "pipe"), "pipe")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.data
def test_texts_do_not_go_into_a_model_of_matrices(run, model, news, tmp_path):
    (tmp_path / "x.svm").write_text("0 1:1\n1 2:1\n")
    refused(run("predict", model, tmp_path / "x.svm"), "text")
    assert run("fit", tmp_path / "x.svm", "-o", tmp_path / "m").exit_code == 0
    refused(run("predict", tmp_path / "m", news), "text")


def test_more_features_than_the_model_knows_are_refused(run, tmp_path):
    (tmp_path / "a.svm").write_text("0 1:1\n1 2:1\n")
    (tmp_path / "b.svm").write_text("0 7:1\n")
    assert run("fit", tmp_path / "a.svm", "-o", tmp_path / "m").exit_code == 0
    refused(run("predict", tmp_path / "m", tmp_path / "b.svm"), "features")


def test_labels_unknown_to_the_model_cannot_be_evaluated(run, model, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text": "rye", "labels": ["bread"]}\n')
    refused(run("evaluate", model, tmp_path / "x.jsonl"), "label")


def test_an_unknown_experiment_or_folder_is_named(run, tmp_path):
    refused(run("reproduce", "mlpp"), "mlpp-rcv1")
    refused(run("datasets", "--data", tmp_path / "no"), "folder")


def test_an_unknown_output_format_is_named(run, news, tmp_path):
    refused(run("convert", news, tmp_path / "out.soup"), "out.soup", "give --to NAME")


def test_an_unknown_command_or_option_is_a_usage_error(run):
    refused(run("fitt"), "fitt")
    refused(run("fit", "x", "--colour"), "--colour")


@pytest.mark.parametrize("pair", ["epochs", "=3", " =3"])
def test_settings_want_a_name_and_a_value(pair):
    with pytest.raises(InputError, match="NAME=VALUE"):
        settings([pair])


def test_errors_of_a_real_process_are_one_sentence(shell):
    done = shell("predict", "nowhere.labelrank", "x")
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().count("\n") == 1
    assert b"Traceback" not in done.stderr


def test_help_and_version_of_a_real_process(shell):
    assert b"reproduce" in shell("--help").stdout
    assert shell("--version").stdout.startswith(b"labelrank ")


def test_output_is_utf8_whatever_the_locale(shell, model, news):
    done = shell("predict", model, news, "--json", LC_ALL="C", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    shown = shell("predict", model, news, PYTHONIOENCODING="ascii")
    assert "Łódź" in shown.stdout.decode("utf-8")


def test_a_reader_that_stops_early_makes_no_noise(model, tmp_path):
    many = tmp_path / "many.txt"
    many.write_text("rye and oil\n" * 20_000)
    code = "from labelrank.cli import main; main()"
    command = [sys.executable, "-c", code, "predict", str(model), str(many), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /dev/full elsewhere")
def test_a_full_disk_is_one_sentence(shell, model, news):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from labelrank.cli import main; main()", "predict",
             str(model), str(news), "--json"],
            stdout=full, stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.decode().startswith("labelrank: no space left")
    assert b"Traceback" not in done.stderr


def test_an_interrupt_is_quiet(model, tmp_path):
    code = "from labelrank.cli import main; main()"
    command = [sys.executable, "-c", code, "predict", str(model), "-", "--format", "text"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(b"rye\n")
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stderr.read() == b"labelrank: interrupted\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no streams that are closed")
@pytest.mark.parametrize(
    ("stream", "code", "said"),
    [("<&-", 2, "standard input"), (">&-", 2, "standard output is closed"), ("2>&-", 0, "")],
)
def test_closed_streams_are_no_defect(model, news, tmp_path, stream, code, said):
    data = "- --format jsonl" if stream == "<&-" else news
    program = f'"{sys.executable}" -c "from labelrank.cli import main; main()"'
    line = f'{program} predict "{model}" {data} --json {stream}'
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == bool(code)


def test_the_usual_place_of_a_model_is_tried_before_anything_is_learned(
    run, news, tmp_path, monkeypatch
):
    monkeypatch.setattr("labelrank.cli.options.Recipe.teach", lambda *_: pytest.fail("learned"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news.labelrank").mkdir()
    refused(run("fit", news, "-q"), "is a folder")


def test_what_is_read_is_not_written_over(run, model, tmp_path):
    rows = "\n".join(f"{word} prices,{word}" for word in ("oil", "rye") * 6)
    data, own = tmp_path / "data.csv", tmp_path / "model.csv"
    data.write_text(f"text,labels\n{rows}\n", encoding="utf-8")
    own.write_bytes(model.read_bytes())
    link = tmp_path / "link.csv"
    link.symlink_to(data)
    for path in (data, own):
        before = path.read_bytes()
        for command in (
            ["fit", data, "-o", data], ["fit", data, "-l", "BR", "-o", link],
            ["tune", data, "-o", data], ["predict", model, data, "-o", link],
            ["predict", own, data, "-o", own], ["evaluate", model, data, "--report", data],
            ["evaluate", own, data, "--report", own], ["learn", own, data, "-o", data],
            ["convert", data, link, "--text-column", "text"],
        ):  # fmt: skip
            refused(run(*command), "is read too")
        assert path.read_bytes() == before
