"""Answers in files people can use: the suffix decides, columns stay, nothing is half written."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import zipfile

import polars as pl
import pytest
from defusedxml import ElementTree

from labelrank import Tagger, persistence
from labelrank.cli import answers, workbook, writers

NEW = """\
{"id": "a", "text": "wheat and rye prices rise", "size": 3}
{"id": "b", "text": "crude oil prices fall", "size": 4}
{"id": "c", "text": "rye harvest near Łódź", "size": 5}
{"id": "d", "text": "oil tankers at sea", "size": 6}
"""
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.fixture
def new(tmp_path):
    """Documents without labels."""
    path = tmp_path / "new.jsonl"
    path.write_text(NEW, encoding="utf-8")
    return path


def sheet(path):
    """The cells of a workbook as texts, row by row."""
    with zipfile.ZipFile(path) as file:
        rows = ElementTree.fromstring(file.read("xl/worksheets/sheet1.xml")).iter(f"{SHEET}row")
        return [["".join(cell.itertext()) for cell in row] for row in rows]


def told(run, model, news, *options):
    done = run("predict", model, news, "--json", *options)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def written(run, model, news, out, *options):
    done = run("predict", model, news, "-o", out, "-q", *options)
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    return out


def table(path):
    if path.suffix == ".xlsx":
        head, *rows = sheet(path)
        return [dict(zip(head, row, strict=True)) for row in rows]
    mark = "\t" if path.suffix == ".tsv" else ","
    text = path.read_bytes().decode()
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=mark))


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])
def test_tables_hold_what_json_lines_hold(run, model, new, tmp_path, ending):
    expected = told(run, model, new)
    rows = table(written(run, model, new, tmp_path / f"out.{ending}"))
    mark = answers.mark_of(persistence.load(model))
    for row, one in zip(rows, expected, strict=True):
        assert list(row) == ["id", "text", "size", "labels", "ranked", "scores"]
        assert (row["id"], len(row["size"])) == (one["id"], 1)
        assert row["labels"].split(mark) == one["labels"]
        assert row["ranked"].split(mark) == [place["label"] for place in one["ranked"]]
        scores = [float(score) for score in row["scores"].split(mark)]
        assert scores == [place["score"] for place in one["ranked"]]


def test_parquet_keeps_lists_and_numbers(run, model, new, tmp_path):
    expected = told(run, model, new)
    frame = pl.read_parquet(written(run, model, new, tmp_path / "out.parquet"))
    assert frame.schema["scores"] == pl.List(pl.Float64)
    assert frame["labels"].to_list() == [one["labels"] for one in expected]
    scores = [[place["score"] for place in one["ranked"]] for one in expected]
    rounded = [[float(f"{score:.6g}") for score in row] for row in frame["scores"].to_list()]
    assert rounded == scores != frame["scores"].to_list()


@pytest.mark.parametrize("ending", ["jsonl", "ndjson", "jsonl.gz"])
def test_json_lines_keep_their_keys(run, model, new, tmp_path, ending):
    path = written(run, model, new, tmp_path / f"out.{ending}")
    frame = pl.read_ndjson(path)
    assert frame.columns == ["id", "labels", "ranked"]
    assert frame["id"].to_list() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "xlsx"])
def test_long_tables_have_a_row_per_document_and_label(run, model, new, tmp_path, ending):
    expected = [
        (one["id"], place["label"], rank, place["label"] in one["labels"])
        for one in told(run, model, new, "--top", 2)
        for rank, place in enumerate(one["ranked"], 1)
    ]
    path = written(run, model, new, tmp_path / f"o.{ending}", "--long", "--top", 2)
    if ending in ("parquet", "jsonl"):
        frame = (pl.read_parquet if ending == "parquet" else pl.read_ndjson)(path)
        assert frame.columns == ["id", "label", "rank", "score", "in_set"]
        assert frame.select("id", "label", "rank", "in_set").rows() == expected
        return
    yes = "1" if ending == "xlsx" else "true"
    rows = [(r["id"], r["label"], int(r["rank"]), r["in_set"] == yes) for r in table(path)]
    assert rows == expected


def test_a_threshold_of_the_day_moves_the_cut_and_not_the_ranking(run, model, new):
    usual = told(run, model, new)
    assert [one["labels"] for one in told(run, model, new, "--threshold", 99)] == [[]] * 4
    everything = told(run, model, new, "--threshold", -99, "--top", 1)
    for one, other in zip(usual, everything, strict=True):
        assert other["labels"] == [place["label"] for place in one["ranked"]]


class _Chances:
    """A tagger whose probabilities are known."""

    label_names_ = ["rye", "oil"]

    def features(self, documents):
        return documents

    def answer(self, X):
        return Tagger.answer(self.inner, X)

    def predict_proba(self, X):
        return [[0.9, 0.2]] * len(X)


def test_probabilities_stand_beside_labels_and_can_be_cut():
    tagger = _Chances()
    tagger.inner = Tagger().fit(["rye", "oil"], [["rye"], ["oil"]], label_names=["rye", "oil"])
    import numpy as np

    tagger.predict_proba = lambda X: np.array([[0.9, 0.2]] * len(X))
    wanted = answers.Wanted(1, 0.1, probabilities=True)
    wanted.check()
    ranked = answers.places(tagger, (wanted, ["rye"]))[0]
    assert [(p.label, p.in_set, p.probability) for p in ranked] == [
        ("rye", True, 0.9), ("oil", True, 0.2)]  # fmt: skip
    batch = answers.Batch(["1"], {}, [ranked])
    assert next(batch.records())["ranked"][1]["probability"] == 0.2
    assert [one["probability"] for one in batch.long()] == [0.9, 0.2]
    layout = answers.Layout(batch, long=False, probabilities=True, mark="|")
    assert layout.names == ["id", "labels", "ranked", "scores", "probabilities"]
    assert next(layout.rows(batch))[-1] == "0.9|0.2"


def batch(kept, ids=("1",), **more):
    ids = list(ids)
    place = answers.Place("rye", 1.0, True)
    return answers.Batch(ids, kept, [[place]] * len(ids), **more)


def save(path, *batches, long=False, probabilities=False):
    with writers.opened(path, long=long, probabilities=probabilities, mark="|") as add:
        for one in batches:
            add(one)


def laid(one, *, mark="|", long=False):
    return answers.Layout(one, long=long, probabilities=False, mark=mark)


def test_columns_of_the_input_come_first_and_keep_their_names():
    one = batch({"colour": ["red"], "labels": ["sea"]})
    layout = laid(one)
    assert layout.names == [
        "id", "colour", "labels", "predicted_labels", "predicted_ranked", "predicted_scores",
    ]  # fmt: skip
    assert next(layout.rows(one))[1:4] == ["red", "sea", "rye"]


def test_rows_are_numbered_only_where_no_column_names_them():
    assert laid(batch({"key": ["x"]}, id_column="key")).names[0] == "key"
    assert laid(batch({"key": ["1"]})).names[0] == "id"
    assert laid(batch({"id": ["x"]})).names[0] == "row"


def test_labels_of_the_input_stay_beside_the_answers(run, model, news, tmp_path):
    with pytest.warns(UserWarning, match="which are in predicted_labels"):
        written(run, model, news, tmp_path / "o.csv")
    row = table(tmp_path / "o.csv")[0]
    assert json.loads(row["labels"]) == ["grain", "trade"]
    assert row["predicted_labels"].split("|") == ["grain", "trade"]


def test_an_id_column_names_rows_and_numbers_do_where_there_is_none(run, model, tmp_path):
    data, out = tmp_path / "in.csv", tmp_path / "o.csv"
    data.write_text("key,text\nx,rye\ny,oil\n")
    assert [row["id"] for row in table(written(run, model, data, out))] == ["1", "2"]
    assert [row["id"] for row in table(written(run, model, data, out, "--long"))][-1] == "2"
    rows = table(written(run, model, data, out, "--long", "--id-column", "key"))
    assert {row["id"] for row in rows} == {"x", "y"}
    rows = table(written(run, model, data, out, "--id-column", "key"))
    assert next(iter(rows[0])) == "key"


def test_a_column_that_comes_late_is_left_out_and_told(tmp_path):
    with pytest.warns(UserWarning, match=r"late.* are left out"):
        save(tmp_path / "o.csv", batch({"a": ["1"]}), batch({"late": ["2"]}))
    assert [row["a"] for row in table(tmp_path / "o.csv")] == ["1", ""]


@pytest.mark.parametrize(
    ("names", "learned", "mark"),
    [(["a", "b"], ";", ";"), (["a", "b"], None, "|"), (["a|b"], None, ";"), (["a+b"], "+", "|"),
     (["|", ";", ","], None, "")],
)  # fmt: skip
def test_labels_are_joined_by_what_is_in_none_of_them(names, learned, mark):
    tagger = Tagger()
    tagger.label_names_, tagger.reading_ = names, {"label_separator": learned}
    assert answers.mark_of(tagger) == mark
    if not mark:
        one = laid(batch({}), mark=mark)
        assert next(one.rows(batch({})))[1] == '["rye"]'


HARD = ['a,"b"', "two\nlines", "a\rb", "tab\tx", " outer ", "Łódź 🌾", "=1+1", "bell\a", "_x0041_"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
@pytest.mark.filterwarnings("ignore:.*spreadsheet")
def test_cells_come_back_as_they_were(tmp_path, ending):
    path = tmp_path / f"o.{ending}"
    save(path, batch({"cell": HARD}, ids=map(str, range(len(HARD)))))
    found = (
        pl.read_parquet(path)["cell"].to_list()
        if ending == "parquet"
        else [row["cell"] for row in table(path)]
    )
    assert found == HARD


def test_a_workbook_holds_texts_as_texts_and_numbers_as_numbers(tmp_path):
    path = tmp_path / "o.xlsx"
    cells = [*HARD, 7, 2.5, True, None, float("inf")]
    save(path, batch({"cell": cells}, ids=map(str, range(len(cells)))))
    rows = sheet(path)
    assert [row[1] for row in rows[1:8]] == HARD[:2] + ["a_x000D_b"] + HARD[3:7]
    assert rows[8][1] == "bell_x0007_"
    assert rows[9][1] == "_x005F_x0041_"
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        text = file.read("xl/worksheets/sheet1.xml").decode()
    assert "<c><v>7</v></c>" in text
    assert "<c><v>2.5</v></c>" in text
    assert "<f>" not in text


def test_a_workbook_has_no_more_rows_than_a_spreadsheet(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook, "MOST_ROWS", 3)
    path = tmp_path / "o.xlsx"
    with pytest.raises(ValueError, match=r"write \.csv or \.parquet"):
        save(path, batch({"x": ["1", "2", "3"]}, ids="abc"))
    assert list(tmp_path.iterdir()) == []


def test_texts_too_long_for_a_cell_are_cut_and_told(tmp_path):
    path = tmp_path / "o.xlsx"
    with pytest.warns(UserWarning, match=r"1 text\(s\) are cut"):
        save(path, batch({"x": ["a" * 40_000]}))
    assert len(sheet(path)[1][1]) == 32_767


def test_cells_that_a_spreadsheet_would_run_are_told_and_kept(tmp_path):
    path = tmp_path / "o.csv"
    with pytest.warns(UserWarning, match=r"2 cell\(s\) begin with ="):
        save(path, batch({"x": ["=HYPERLINK()", "-5", "-1,5", "@me"]}, ids="abcd"))
    assert [row["x"] for row in table(path)] == ["=HYPERLINK()", "-5", "-1,5", "@me"]


@pytest.mark.filterwarnings("error")
def test_our_own_scores_are_not_taken_for_formulas(tmp_path):
    places = [answers.Place("rye", -0.5, False, 0.4), answers.Place("oil", -1.0, False, 0.3)]
    below = answers.Batch(["a"], {"x": ["b"]}, [places])
    for ending, long in (("csv", False), ("tsv", False), ("csv", True)):
        save(path := tmp_path / f"{long}.{ending}", below, long=long, probabilities=True)
        found = table(path)[0]
        assert found["score" if long else "scores"].startswith("-0.5")


def test_a_flushed_table_has_one_heading_and_a_line_per_row(run, model):
    stdin = "rye\noil\nwheat and a much longer text, so that columns become wider\nsea\n"
    for options, n_rows in (([], 4), (["--long", "--top", 2], None)):
        done = run(
            "predict", model, "-", "--input-format", "text", "--flush", *options, stdin=stdin
        )
        assert done.exit_code == 0, done.output
        top, heading, rule, *rows, end = done.stdout.splitlines()
        assert top.strip() == end.strip() == ""
        assert set(rule.strip()) == {"─"}
        assert "labels ranked" in heading or "in_set" in heading
        assert all(row.strip() for row in rows)
        assert len(rows) == (n_rows or len(rows)) >= 4
        assert "labels ranked" not in "".join(rows)


def sheets(path, **tables):
    """A workbook with these sheets, each a list of rows of texts."""
    packed = dict(workbook._PARTS)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{k}" r:id="r{k}"/>' for k, name in enumerate(tables, 1)
    )
    places = "".join(
        f'<Relationship Id="r{k}" Type="{workbook._OFFICE}/worksheet" '
        f'Target="worksheets/sheet{k}.xml"/>'
        for k in range(1, len(tables) + 1)
    )
    book = packed["xl/workbook.xml"]
    packed["xl/workbook.xml"] = re.sub(r"<sheet .*?/>", listed, book)
    relations = packed["xl/_rels/workbook.xml.rels"]
    packed["xl/_rels/workbook.xml.rels"] = re.sub(r"<Relationship .*?/>", places, relations)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in packed.items():
            file.writestr(name, workbook._HEAD + content)
        for k, rows in enumerate(tables.values(), 1):
            cells = "".join(
                "<row>" + "".join(f'<c t="inlineStr"><is><t>{c}</t></is></c>' for c in row)
                + "</row>" for row in rows
            )  # fmt: skip
            body = f'<worksheet xmlns="{SHEET[1:-1]}"><sheetData>{cells}</sheetData></worksheet>'
            file.writestr(f"xl/worksheets/sheet{k}.xml", body)
    return path


def test_the_sheet_that_is_named_is_learned_and_tagged(run, tmp_path):
    learned = [["text", "labels"], *([f"{word} price {k}", word] for k in range(6)
                                     for word in ("oil", "rye"))]  # fmt: skip
    other = [["text", "labels"], ["tea", "drink"], ["cake", "food"]]
    data = sheets(tmp_path / "a.xlsx", Notes=other, Data=learned)
    new = sheets(tmp_path / "n.xlsx", Old=[["text"], ["rye"]], New=[["text"], ["oil"], ["rye"]])
    path = tmp_path / "m"
    done = run("fit", data, "--sheet", "Data", "-o", path, "-l", "BR+")
    assert done.exit_code == 0, done.output
    assert "12 rows, 2 labels" in done.stdout
    assert persistence.load(path).label_names_ == ["oil", "rye"]
    answered = told(run, path, new, "--sheet", "New")
    assert [one["labels"] for one in answered] == [["oil"], ["rye"]]
    refused = run("predict", path, new, "--sheet", "Nwe")
    assert refused.exit_code == 2
    assert "did you mean New?" in refused.stderr


def test_parquet_joins_parts_of_other_types(tmp_path, monkeypatch):
    monkeypatch.setattr(writers, "_ROWS_PER_PART", 1)
    path = tmp_path / "o.parquet"
    with writers.opened(path, long=False, probabilities=False, mark="|") as add:
        for cell in (None, 1, 2.5):
            add(batch({"x": [cell]}))
        add(batch({"x": [True]}))
    assert pl.read_parquet(path)["x"].to_list() == [None, 1.0, 2.5, 1.0]


@pytest.mark.parametrize(
    ("place", "words"),
    [("out.soup", ".parquet"), ("out", ".csv"), ("out.parquet.gz", ".xlsx"), ("no/out.csv", "no"),
     ("", "folder")],
)  # fmt: skip
def test_a_place_that_cannot_be_is_refused_before_anything_is_read(
    run, model, news, tmp_path, monkeypatch, place, words
):
    monkeypatch.setattr("labelrank.cli.options.Trained.load", lambda _: pytest.fail("read"))
    done = run("predict", model, news, "-o", tmp_path / place)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--jobs", "0"], "--jobs 0"), (["--threshold", "nan"], "nan"),
     (["--threshold", "7", "--probabilities"], "from 0 to 1"),
     (["--flush", "-o", "x.csv"], "--flush")],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(run, model, news, options, words):
    done = run("predict", model, news, *options)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_a_broken_row_leaves_the_old_answers(run, model, tmp_path):
    data, out = tmp_path / "in.jsonl", tmp_path / "out.csv"
    data.write_text('{"text": "rye"}\n' * 3000 + '{"text": \n')
    out.write_text("old")
    done = run("predict", model, data, "-o", out)
    assert done.exit_code == 2
    assert "line 3001" in done.stderr
    assert out.read_text() == "old"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in.jsonl", "out.csv"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_jobs_change_nothing(run, model, tmp_path, ending):
    data = tmp_path / "in.txt"
    data.write_text("".join(f"rye and oil {k}\n" for k in range(5000)))
    one, two = tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"
    written(run, model, data, one)
    written(run, model, data, two, "--jobs", 2)
    assert one.stat().st_size == two.stat().st_size
    assert ending == "xlsx" or one.read_bytes() == two.read_bytes()
    rows = pl.read_parquet(two) if ending == "parquet" else table(two)
    assert len(rows) == 5000
    assert [*(rows["id"] if ending == "parquet" else (r["id"] for r in rows))][-1] == "5000"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_disk_is_told_in_one_sentence(model, news):
    program = [sys.executable, "-c", "from labelrank.cli import main; main()"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*program, "predict", str(model), str(news), "--long"], stdout=full,
            stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.decode() == "labelrank: no space left on device\n"


PROGRAM = [sys.executable, "-c", "from labelrank.cli import main; main()"]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("form", "lines"),
    [("text", ["rye\n", "oil\n"]), ("csv", ["id,text\nx,rye\n", 'y,"oil\nsea"\n']),
     ("jsonl", ['{"text": "rye"}\n', '{"text": "oil"}\n'])],
)  # fmt: skip
def test_standard_input_is_answered_as_it_comes(model, form, lines, jobs):
    command = ["predict", str(model), "-", "--json", "--input-format", form, "--jobs", str(jobs)]
    with subprocess.Popen(
        [*PROGRAM, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        found = []
        for line in lines:
            process.stdin.write(line.encode())
            process.stdin.flush()
            found.append(json.loads(process.stdout.readline())["labels"])
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(timeout=60) == 0
    assert found == [["grain"], ["oil"]]


def test_many_lines_that_are_there_are_answered_together(run, model, monkeypatch):
    sizes = []
    inner = answers.places

    def places(tagger, asked):
        sizes.append(len(asked[1]))
        return inner(tagger, asked)

    monkeypatch.setattr(answers, "places", places)
    stdin = "rye\n" * 3000
    arguments = ["predict", model, "-", "--input-format", "text", "--json"]
    done = run(*arguments, stdin=stdin)
    assert len(done.stdout.splitlines()) == 3000
    assert max(sizes) > 1000
    sizes.clear()
    assert run(*arguments, "--flush", stdin="rye\noil\n").stdout.count("\n") == 2
    assert sizes == [1, 1]


def test_a_reader_that_stops_early_ends_a_table_without_noise(model, tmp_path):
    (tmp_path / "in.txt").write_text("rye\n" * 9000)
    line = f'"{sys.executable}" -c "from labelrank.cli import main; main()" predict '
    line += f'"{model}" "{tmp_path / "in.txt"}" --long | head -1'
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=120, check=False)
    assert done.returncode == 0
    assert done.stderr == b""


def test_a_model_that_has_all_cores_says_nothing_of_them_in_processes(shell, tmp_path):
    rows = [f'{{"text": "{word} prices", "labels": ["{word}"]}}' for word in ("oil", "rye") * 8]
    (tmp_path / "a.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert shell("fit", "a.jsonl", "-o", "m", "-q").returncode == 0
    done = shell("predict", "m", "a.jsonl", "-o", "out.csv", "--jobs", "2")
    assert done.returncode == 0
    assert b"n_jobs" not in done.stderr + done.stdout


def test_a_line_of_text_is_answered_without_tables_and_without_all_that_may_race(tmp_path):
    texts, lists = ["wheat and rye", "crude oil"], [["grain"], ["oil"]]
    path = persistence.save(Tagger().fit(texts, lists), tmp_path / "model")
    (tmp_path / "new.txt").write_text("rye\n")
    code = (
        "import sys; from labelrank.cli import main\n"
        f"sys.argv = ['labelrank', 'predict', {str(path)!r}, {str(tmp_path / 'new.txt')!r}]\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([m for m in ('polars', 'labelrank.learners.auto.candidates') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "grain" in done.stdout
    assert done.stdout.endswith("[]\n")
