"""Commands on folders of files: here, and on a cluster of two processes."""

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from labelrank import persistence

LABELS = ["grain", "oil", "trade"]


@pytest.fixture(scope="module")
def inbox(tmp_path_factory):
    """Four files of uneven size, one of them empty, and all rows in one."""
    folder = tmp_path_factory.mktemp("pieces")
    (folder / "in").mkdir()
    texts = [
        f"{word} prices of {place} {k % 7}"
        for k in range(10)
        for word, place in (("wheat", "Łódź"), ("crude oil", "sea"), ("rye", "a port"))
    ]
    labels = [[["grain"], ["oil", "trade"], ["grain", "trade"]][k % 3] for k in range(30)]
    for name, first, last in (("a", 0, 1), ("b", 1, 1), ("c", 1, 20), ("d", 20, 30)):
        frame(texts[first:last], labels[first:last]).write_parquet(
            folder / "in" / f"{name}.parquet"
        )
    frame(texts, labels).write_parquet(folder / "whole.parquet")
    return folder


def frame(texts, labels):
    schema = {"text": pl.String, "labels": pl.List(pl.String)}
    return pl.DataFrame({"text": texts, "labels": labels}, schema=schema)


def fit(run, folder, model, *options):
    return run("fit", folder / "in" / "*.parquet", "-l", "BR", "-o", model, *options)


@pytest.fixture
def model(run, inbox):
    path = inbox / "parts.labelrank"
    if not path.exists():
        done = fit(run, inbox, path, "--quiet")
        assert done.exit_code == 0, done.output
    return path


def test_a_folder_gives_the_model_of_one_file(run, inbox, tmp_path):
    one, many = tmp_path / "one.labelrank", tmp_path / "many.labelrank"
    assert run("fit", inbox / "whole.parquet", "-l", "BR", "-o", one, "-q").exit_code == 0
    done = fit(run, inbox, many)
    assert done.exit_code == 0, done.output
    assert "4 files with 30 rows" in done.stderr
    assert "1 without a row" in done.stderr
    assert "BR learned 30 rows of" in done.stdout
    assert "the same bits as shuffle=False" in " ".join(done.stdout.split())
    here, there = persistence.load(one), persistence.load(many)
    assert persistence.digest(here.learner_) == persistence.digest(there.learner_)
    assert here.label_names_ == there.label_names_ == LABELS


def test_a_cluster_fits_predicts_and_goes_on(run, inbox, model, tmp_path):
    path = tmp_path / "cluster.labelrank"
    done = fit(run, inbox, path, "--cluster", "local:2", "--memory", "1GiB", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["read"] == {"parts": 4, "empty": [str(inbox / "in" / "b.parquet")],
                            "data_bytes": told["read"]["data_bytes"]}  # fmt: skip
    assert told["peak_bytes"] > 0
    assert "dashboard: http" in done.stderr
    assert persistence.digest(persistence.load(path)) == persistence.digest(persistence.load(model))
    data = inbox / "in" / "*.parquet"
    for place, more in (("here", ()), ("there", ("--cluster", "local:2"))):
        done = run("predict", path, data, "-o", tmp_path / place, *more)
        assert done.exit_code == 0, done.output
        assert "30 documents in 4 files" in done.stderr
    names = ["_labelrank.json", *(f"{name}.parquet" for name in "abcd")]
    assert sorted(os.listdir(tmp_path / "there")) == names
    for name in names[1:]:
        tables = [pl.read_parquet(tmp_path / place / name) for place in ("here", "there")]
        assert tables[0].equals(tables[1])


def test_the_answers_of_parts_are_those_of_the_whole(run, inbox, model, tmp_path):
    assert run("predict", model, inbox / "in", "-o", tmp_path / "out", "-q").exit_code == 0
    done = run("predict", model, inbox / "whole.parquet", "-o", tmp_path / "whole.parquet", "-q")
    assert done.exit_code == 0
    parts = [pl.read_parquet(tmp_path / "out" / f"{name}.parquet") for name in "acd"]
    whole = pl.read_parquet(tmp_path / "whole.parquet")
    chosen = [name for name in whole.columns if name != "id"]
    assert pl.concat([part.select(chosen) for part in parts]).equals(whole.select(chosen))
    assert pl.read_parquet(tmp_path / "out" / "b.parquet").height == 0


def test_a_run_that_was_stopped_goes_on(run, inbox, model, tmp_path):
    out = tmp_path / "out"
    assert run("predict", model, inbox / "in", "-o", out, "-q").exit_code == 0
    kept = (out / "c.parquet").stat().st_mtime_ns
    os.remove(out / "d.parquet")
    done = run("predict", model, inbox / "in", "-o", out)
    assert "3 of 4 files are answered already" in done.stderr
    assert "10 documents in 1 files" in done.stderr
    assert (out / "c.parquet").stat().st_mtime_ns == kept
    done = run("predict", model, inbox / "in", "-o", out, "--top", "1")
    assert done.exit_code == 2
    assert "no folder of answers by this model with these options; name a new folder" in done.output


def test_an_input_that_is_newer_than_its_answers_is_answered_again(run, inbox, model, tmp_path):
    data, out = tmp_path / "in", tmp_path / "out"
    data.mkdir()
    frame(["wheat"], [["grain"]]).write_parquet(data / "a.parquet")
    assert run("predict", model, data, "-o", out, "-q").exit_code == 0
    later = time.time_ns() + 10**9
    os.utime(data / "a.parquet", ns=(later, later))
    assert "1 documents in 1 files" in run("predict", model, data, "-o", out).stderr


def test_parts_are_judged_like_the_whole(run, inbox, model):
    told = [run("evaluate", model, inbox / data, "--json") for data in ("in", "whole.parquet")]
    parts, whole = (json.loads(one.stdout) for one in told)
    assert parts == pytest.approx(whole, nan_ok=True)


def test_a_cluster_judges_as_this_process_does(run, inbox, model):
    cut = ("--threshold", "0.5")
    here = json.loads(run("evaluate", model, inbox / "in", "--json", *cut).stdout)
    done = run("evaluate", model, inbox / "in", "--json", "--cluster", "local:2", *cut)
    assert done.exit_code == 0, done.output
    assert "areas under curves are counted by histograms: they are exact to" in done.stderr
    for name, values in json.loads(done.stdout).items():
        error = values.pop("auc_error")
        assert error < 0.02
        for area in ("micro_auc", "macro_auc"):
            assert values.pop(area) == pytest.approx(here[name][area], abs=error + 1e-12)
        assert values == {one: here[name][one] for one in values}
        left_out = {one for one in here[name] if one not in values}
        assert left_out == {"micro_auc", "macro_auc", "micro_break_even_point",
                            "macro_break_even_point"}  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "name one by --learner, such as NB"),
        (("-l", "MLkNN"), "got MLkNN, which learns on one machine"),
        (("-l", "BR+"), "use shuffle=False"),
        (("-l", "NB", "--fast"), "got --fast with data in pieces"),
        (("-l", "NB", "--part", "train"), "got --part with data in pieces"),
        (("-l", "NB", "--memory", "much", "--cluster", "local:2"), "write a size such as 2GiB"),
        (("-l", "NB", "--memory", "2GiB"), "got --memory 2GiB without --cluster local:N"),
        (("-l", "NB", "--cluster", "elsewhere"), "write tcp://host:port or local:N"),
    ],
)
def test_what_cannot_be_is_one_sentence(run, inbox, options, message):
    done = run("fit", inbox / "in", *options)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_answers_of_files_go_to_a_folder(run, inbox, model, tmp_path):
    for more in ((), ("-o", tmp_path / "one.csv")):
        done = run("predict", model, inbox / "in", *more)
        assert done.exit_code == 2
        assert "name a folder for the answers by -o FOLDER" in done.output
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    done = run("predict", model, inbox / "in", "-o", tmp_path / "full")
    assert "name a new folder" in done.output
    frame(["a"], [["grain"]]).write_parquet(tmp_path / "a.parquet")
    frame(["a"], [["grain"]]).write_parquet(tmp_path / "a.b.parquet")
    done = run("predict", model, tmp_path / "a*.parquet", "-o", tmp_path / "two")
    assert "would both be answered in" in done.output


def test_a_damaged_file_is_named_before_any_answer(run, inbox, model, tmp_path):
    for name in "ab":
        frame(["wheat"], [["grain"]]).write_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "b.parquet").write_bytes((tmp_path / "b.parquet").read_bytes()[:-9])
    done = run("predict", model, tmp_path / "*.parquet", "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert "b.parquet: not a Parquet file, or damaged" in done.output
    assert not (tmp_path / "out").exists()


def test_rows_without_labels_are_left_out_as_with_one_file(run, inbox, tmp_path):
    rows = ["text,labels", "wheat,grain", "oil,oil", "nothing at all,", "rye,grain", ""]
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("\n".join(rows))
    (tmp_path / "whole.csv").write_text("\n".join([*rows[:-1], *rows[1:]]))
    for data, more in (("?.csv", ()), ("whole.csv", ()), ("?.csv", ("--unlabelled", "none"))):
        done = run("fit", tmp_path / data, "-l", "NB", "-o", tmp_path / "m", "--json", *more)
        assert done.exit_code == 0, done.output
        wanted = 8 if more else 6
        assert json.loads(done.stdout)["n_documents"] == wanted


def test_an_interrupt_leaves_no_half_model(inbox, tmp_path):
    program = [sys.executable, "-c", "from labelrank.cli import main; main()"]
    command = ["fit", f"{inbox}/in/*.parquet", "-l", "BR", "--set", "epochs=100000", "-o", "m.x"]
    running = subprocess.Popen([*program, *command], cwd=tmp_path, stderr=subprocess.PIPE)
    time.sleep(4)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert told.decode().strip().endswith("labelrank: interrupted")
    assert os.listdir(tmp_path) == []


def test_a_dry_run_says_what_learning_would_take_and_learns_nothing(run, inbox, tmp_path):
    place = tmp_path / "none.labelrank"
    found = {}
    for learner in ("NB", "BR", "MLPP", "BSVM", "ProSVM-A", "EP-PLM"):
        done = fit(run, inbox, place, "-l", learner, "--dry-run", "--cluster", "local:3", "--json")
        assert done.exit_code == 0, done.output
        found[learner] = json.loads(done.stdout)
    assert not place.exists()
    assert {one["rows"] for one in found.values()} == {30}
    assert {one["labels"] for one in found.values()} == {3}
    assert found["EP-PLM"]["side by side"] == 1
    assert found["ProSVM-A"]["side by side"] == 3
    done = fit(run, inbox, place, "-l", "NB", "--dry-run")
    assert "NB would take about" in done.stdout


def test_a_data_set_by_its_name_comes_before_a_folder_of_that_name(shell, tmp_path):
    (tmp_path / "debtags-sample").mkdir()
    done = shell("fit", "debtags-sample", "-l", "NB", "-o", "m.labelrank", "--quiet")
    assert done.returncode == 0, done.stderr
