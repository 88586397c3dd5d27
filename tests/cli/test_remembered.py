"""What a model was told of rows without labels and of row names holds for later files."""

import csv
import json

import pytest

COLOURS = ["red", "green", "blue", ""]


@pytest.fixture
def customers(tmp_path):
    """Forty rows with a number of their own; those without a colour have no label."""
    lines = ["Customer No;Colour;Spend;Tags"]
    for k in range(40):
        colour = COLOURS[k % 4]
        lines.append(f"C{k:03};{colour};{k * 7 % 13},5;{'warm' if colour == 'red' else colour}")
    path = tmp_path / "customers.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("asked", "n_rows"), [("none", 40), ("skip", 30), (None, 30)])
def test_rows_without_labels_are_evaluated_as_they_were_learned(run, customers, asked, n_rows):
    model = customers.with_suffix(".labelrank")
    options = [] if asked is None else ["--unlabelled", asked]
    assert run("fit", customers, "-o", model, "-q", *options).exit_code == 0
    told = run("evaluate", model, customers).stdout
    assert f"{n_rows} documents of customers" in told


def test_the_one_identifier_of_a_table_names_the_answers(run, customers):
    model = customers.with_suffix(".labelrank")
    assert run("fit", customers, "-o", model, "-q").exit_code == 0
    lines = run("predict", model, customers, "--json").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [f"C{k:03}" for k in range(40)]


def test_all_rows_are_answered_in_their_order_whatever_part_they_are_of(run, tmp_path):
    train, new, out = (tmp_path / name for name in ("train.csv", "new.csv", "out.csv"))
    rows = "".join(f"{k % 7}.5,{'red,warm' if k % 2 else 'blue,cold'}\n" for k in range(20))
    train.write_text("size,colour,labels\n" + rows)
    assert run("fit", train, "-o", tmp_path / "m", "-l", "BSVM", "-q").exit_code == 0
    new.write_text("size,colour,split\n1,red,train\n2,blue,test\n3,red,val\n")
    done = run("predict", tmp_path / "m", new, "-o", out, "-q")
    assert done.exit_code == 0, done.output
    with out.open() as file:
        found = [(row["id"], row["size"], row["labels"]) for row in csv.DictReader(file)]
    assert found == [("1", "1", "warm"), ("2", "2", "cold"), ("3", "3", "warm")]
    assert run("explain", tmp_path / "m", new, "--row", 3).exit_code == 0
    done = run("predict", tmp_path / "m", new, "--part", "test", "--json")
    assert [json.loads(line)["labels"] for line in done.stdout.splitlines()] == [["cold"]]


@pytest.fixture
def keyed(run, tmp_path):
    """A model of JSON lines, of which some have gaps: they mean warm where they are small."""
    rows = [
        {"meta": {"size": k % 9 / 2, "hue": "red"[: k % 4]}, "labels": ["cold", "warm"][k % 9 < 4]}
        for k in range(72)
    ]
    rows[5]["meta"]["size"] = None
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = run("fit", path, "-o", tmp_path / "keyed.labelrank", "-l", "BSVM", "-q")
    assert done.exit_code == 0, done.output
    return tmp_path / "keyed.labelrank"


@pytest.mark.parametrize("options", [[], ["--flush"]])
@pytest.mark.parametrize("lacking", [{"meta": {"hue": "red"}}, {"meta": None}])
def test_a_record_that_lacks_a_key_has_a_gap_in_whatever_batch(
    run, keyed, tmp_path, monkeypatch, options, lacking
):
    row = {"meta": {"size": 1.0, "hue": "red"}}
    lines = [json.dumps(one) + "\n" for one in (row, lacking, row)]
    done = run("predict", keyed, "-", "--format", "jsonl", "--json", stdin="".join(lines))
    wanted = done.stdout.splitlines()
    assert len(wanted) == 3
    monkeypatch.setattr("labelrank.cli.predict._ROWS_AT_ONCE", 1)
    (tmp_path / "new.jsonl").write_text("".join(lines))
    for data, stdin in ((tmp_path / "new.jsonl", None), ("-", "".join(lines))):
        done = run("predict", keyed, data, "--json", *options, stdin=stdin)
        assert (done.exit_code, done.stdout.splitlines()) == (0, wanted), done.output


def test_a_key_that_no_record_has_is_told(run, keyed, tmp_path):
    for lines in ('{"meta": "red"}\n' * 2, '{"meta": {"hue": "red"}}\n' * 2):
        (tmp_path / "new.jsonl").write_text(lines)
        done = run("predict", keyed, tmp_path / "new.jsonl")
        assert done.exit_code == 2
        assert "'meta.size'" in done.stderr
        assert "which the model has learned" in " ".join(done.stderr.split())
    with pytest.warns(UserWarning, match="no row so far has 'meta.size'"):
        done = run("predict", keyed, "-", "--json", stdin=lines)
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252"])
def test_standard_input_is_read_and_explained_as_the_file_is(run, tmp_path, encoding):
    train, new = tmp_path / "train.csv", tmp_path / "new.csv"
    train.write_text("Subject,size,Tags\n" + "Käse oder Brot,1.5,food\nein Boot,2.5,sea\n" * 9)
    assert run("fit", train, "-o", tmp_path / "m", "-l", "BSVM", "-q").exit_code == 0
    new.write_text("Subject,size\nBoot,1\nBrot,2\nKäse für Jürgen,3\n", encoding=encoding)
    for command in (["predict", "--json"], ["explain", "--row", 3, "--json"]):
        wanted = run(command[0], tmp_path / "m", new, *command[1:])
        assert wanted.exit_code == 0, wanted.output
        done = run(command[0], tmp_path / "m", "-", *command[1:], stdin=new.read_bytes())
        assert (done.exit_code, done.stdout) == (0, wanted.stdout), done.output
    assert "has 3 documents" in run("explain", tmp_path / "m", new, "--row", 4).stderr
    line = '{"Subject": "Käse", "size": 1}\n'.encode("windows-1252")
    done = run("predict", tmp_path / "m", "-", stdin=line)
    assert done.exit_code == 2
    assert "not utf-8 text" in " ".join(done.stderr.split())
