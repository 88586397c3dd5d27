"""`labelrank reproduce`: the list, the book, what is kept, and verdicts that got worse."""

import json
import re

import pytest

from labelrank import experiments
from labelrank.errors import FormatError
from labelrank.experiments import Experiment, Record, book, contents, figures, verdicts

HOSTILE = "<script>alert('&')</script>"


class Bench:
    """Two experiments whose numbers, failures and calls a test decides."""

    def __init__(self):
        self.ours = {"first": 10.0, "second": 5.0}
        self.fails = set()
        self.calls = []

    def measure(self, name):
        def records(*, seed, jobs):
            self.calls.append(name)
            if name in self.fails:
                raise RuntimeError(f"{name} broke\non two lines {HOSTILE}")
            import matplotlib.pyplot as plt

            figures.save(plt.figure(figsize=(1, 1)), f"{name}-Figure-1")
            yield Record(HOSTILE, "loss", 10.0, self.ours[name], note="see x.png and this")
            yield Record("row", "other", None, 1.0)

        return records

    def experiments(self):
        data = ("debtags-sample",)
        return [
            Experiment(name, "000", f"Table {name}", "What it is.", data, "as set", minutes, 0.1,
                       0.0, "row", self.measure(name))
            for name, minutes in (("first", 1), ("second", 2))
        ]  # fmt: skip


@pytest.fixture
def bench(monkeypatch):
    made = Bench()
    monkeypatch.setattr(experiments, "experiments", made.experiments)
    monkeypatch.setattr(contents, "QUICK", ("first",))
    return made


@pytest.fixture
def reproduce(run, bench, tmp_path):
    """Run the book in a folder of its own, against verdicts of its own."""

    def call(*arguments):
        places = ["--out", tmp_path / "book", "--verdicts", tmp_path / "verdicts.jsonl"]
        return run("reproduce", *places, *arguments)

    return call


def records_of(folder):
    return sorted(path.stem for path in (folder / "book" / "records").glob("*.jsonl"))


def test_every_table_and_figure_is_listed_with_its_state(run):
    text = run("reproduce").stdout
    assert "Table III" in text
    assert "mlpp-small" in text
    found = json.loads(run("reproduce", "--json").stdout)
    states = {(one["paper"], one["table"]): one for one in found}
    assert states["003", "language tree"]["name"] is None
    assert "not available" in states["003", "language tree"]["note"]
    assert next(one for one in found if one["name"] == "mlpp-small")["shows"] == ["Table III"]


def test_what_the_contents_name_exists_and_what_exists_is_listed(run):
    known = {one.name for one in experiments.experiments()}
    named = {name for entry in contents.CONTENTS for name in entry.by}
    assert named <= known
    listed = json.loads(run("reproduce", "--json").stdout)
    assert known == {one["name"] for one in listed if one.get("shows")}
    assert set(contents.QUICK) <= known
    assert set(contents.SHORT_FORMS) | set(contents.SHORT_FORMS.values()) <= known
    assert all(entry.by or entry.note for entry in contents.CONTENTS)


def test_the_quick_book_takes_less_than_a_quarter_of_an_hour_and_the_whole_one_a_night():
    minutes = {one.name: one.minutes for one in experiments.experiments()}
    assert sum(minutes[name] for name in contents.planned(list(minutes), quick=True)) < 15
    assert sum(minutes[name] for name in contents.planned(list(minutes), quick=False)) < 12 * 60


def test_every_published_table_has_a_place_in_the_contents():
    assert {entry.paper for entry in contents.CONTENTS} == set(contents.TITLES)


def test_a_book_holds_numbers_verdicts_and_pictures_and_needs_nothing_else(reproduce, tmp_path):
    done = reproduce("--all")
    assert done.exit_code == 0, done.output
    assert "1 within tolerance, 1 measured" in done.stdout
    page = (tmp_path / "book" / "book.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 2
    assert "light dark" in page
    assert "order holds" in page
    assert "see and this" in page
    assert not re.search(r'(src|href)="(?!data:|#)|url\(|@import|fetch\(', page)
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page


def test_quick_runs_the_quick_ones_alone(reproduce, bench):
    assert reproduce("--quick").exit_code == 0
    assert bench.calls == ["first"]


def test_a_book_in_json_is_one_line_a_record(reproduce):
    found = [json.loads(line) for line in reproduce("--all", "--json", "-q").stdout.splitlines()]
    assert [one["experiment"] for one in found] == ["first", "first", "second", "second"]


def test_a_worse_verdict_fails_and_is_named(reproduce, bench, tmp_path):
    assert reproduce("--all", "--record").exit_code == 0
    bench.ours["first"] = 20.0
    done = reproduce("--all", "--fresh")
    assert done.exit_code == 1
    assert "worse: first" in done.stderr
    assert "outside, recorded as within tolerance" in done.stderr
    assert "second" not in done.stderr.split("worse:")[1]
    page = (tmp_path / "book" / "book.html").read_text(encoding="utf-8")
    assert "Worse than recorded" in page


def test_equal_and_better_verdicts_pass(reproduce, bench):
    assert reproduce("--all", "--record").exit_code == 0
    bench.ours["second"] = 10.0
    assert reproduce("--all", "--fresh").exit_code == 0
    bench.ours["second"] = 4.0
    assert reproduce("--all", "--fresh").exit_code == 0


def test_recording_one_experiment_leaves_the_others(reproduce, run, bench, tmp_path):
    assert reproduce("--all", "--record").exit_code == 0
    bench.ours["first"] = 20.0
    path = tmp_path / "verdicts.jsonl"
    before = verdicts.read(path)
    done = run("reproduce", "first", "--record", "--verdicts", path, "--figures", tmp_path)
    assert done.exit_code == 0, done.output
    after = verdicts.read(path)
    changed = [cell for cell in before if before[cell] != after[cell]]
    assert changed == [verdicts.Cell("first", HOSTILE, "loss")]


def test_a_value_that_is_gone_is_worse_and_an_experiment_that_did_not_run_is_not():
    cell, other = verdicts.Cell("x", "a", "b"), verdicts.Cell("x", "a", "c")
    recorded = {cell: "order holds", other: "measured", verdicts.Cell("y", "a", "b"): "outside"}
    assert verdicts.got_worse({other: "measured"}, recorded) == [
        verdicts.Worse(cell, "order holds", "not available")
    ]
    assert verdicts.got_worse({}, recorded) == []
    assert verdicts.got_worse({cell: "order holds"}, recorded) == []
    assert verdicts.got_worse({cell: "order holds", other: "not available"}, recorded) != []


def test_a_run_continues_where_it_was_interrupted(reproduce, bench, tmp_path, monkeypatch):
    monkeypatch.setattr(book, "_store", interrupt_at("second", book._store))
    assert reproduce("--all").exit_code == 130
    assert records_of(tmp_path) == ["first"]
    assert "Table first" in (tmp_path / "book" / "book.html").read_text(encoding="utf-8")
    monkeypatch.undo()
    monkeypatch.setattr(experiments, "experiments", bench.experiments)
    done = reproduce("--all")
    assert bench.calls == ["first", "second", "second"]
    assert "first" in done.stdout
    assert "(kept)" in done.stdout
    assert records_of(tmp_path) == ["first", "second"]


def interrupt_at(name, store):
    def stop(folder, chapter):
        if chapter.experiment == name:
            raise KeyboardInterrupt
        store(folder, chapter)

    return stop


@pytest.mark.parametrize("damage", ["", "{}\n", "not json\n", '{"fingerprint": "other"}\n'])
def test_damaged_or_foreign_records_are_measured_again(reproduce, bench, tmp_path, damage):
    reproduce("--all")
    (tmp_path / "book" / "records" / "first.jsonl").write_text(damage)
    assert reproduce("--all").exit_code == 0
    assert bench.calls == ["first", "second", "first"]


def test_another_seed_or_fresh_measures_again(reproduce, bench):
    for arguments in ((), ("--seed", 1), ("--fresh",)):
        reproduce("--quick", *arguments)
    assert bench.calls == ["first"] * 3


def test_one_failing_experiment_does_not_lose_the_others(reproduce, bench, tmp_path):
    bench.fails.add("first")
    done = reproduce("--all")
    assert done.exit_code == 1
    assert "failed: first: first broke on two lines" in done.stderr
    assert records_of(tmp_path) == ["second"]
    assert HOSTILE not in (tmp_path / "book" / "book.html").read_text(encoding="utf-8")
    bench.fails.clear()
    assert reproduce("--all").exit_code == 0
    assert bench.calls == ["first", "second", "first"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mlpp-rcv1", "--all"], "mlpp-rcv1 and --all"),
        (["--all", "--quick"], "--all and --quick"),
        (["--record"], "nothing to run"),
        (["--out", "x"], "nothing to run"),
        (["--all", "--figures", "x"], "leave it out"),
        (["mlpp-rcv1", "--fresh"], "leave it out"),
        (["--all", "--record", "--seed", "3"], "seed 0"),
    ],
)
def test_options_that_do_not_go_together_are_refused_in_one_sentence(run, arguments, words):
    done = run("reproduce", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_told_before_anything_runs(run, bench, tmp_path):
    (tmp_path / "file").write_text("here already")
    done = run("reproduce", "--all", "--out", tmp_path / "file" / "book")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr
    assert bench.calls == []


def test_a_book_without_any_data_is_one_sentence(run, bench, monkeypatch, tmp_path):
    monkeypatch.setattr("labelrank.cli.book.has_data", lambda experiment: False)
    done = run("reproduce", "--all", "--out", tmp_path / "book")
    assert done.exit_code == 2
    assert "LABELRANK_DATA" in done.stderr


@pytest.mark.parametrize("line", ["nonsense", "{}", '{"experiment": "x", "row": "a"}',
    '{"experiment": "x", "row": "a", "column": "b", "verdict": "splendid"}'])  # fmt: skip
def test_a_damaged_file_of_verdicts_is_refused(tmp_path, line):
    path = tmp_path / "verdicts.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(FormatError, match="line 1 of"):
        verdicts.read(path)


def test_the_recorded_verdicts_belong_to_experiments_that_exist():
    recorded = verdicts.read(verdicts.recorded_file())
    assert {cell.experiment for cell in recorded} <= {e.name for e in experiments.experiments()}
