"""`labelrank evaluate --report` and the page of `compare`, as typed."""

import json
import re

import pytest


@pytest.fixture
def report(run, model, news, tmp_path):
    """Write the report with the given options; return its HTML."""

    def write(*options):
        page = tmp_path / "page.html"
        done = run("evaluate", model, news, "--report", page, "-q", *options)
        assert done.exit_code == 0, done.output
        return page.read_text(encoding="utf-8")

    return write


def test_models_and_cuts_stand_side_by_side(run, report, model, news, tmp_path):
    other = tmp_path / "other.labelrank"
    assert run("fit", news, "-o", other, "-l", "Rocchio", "-q").exit_code == 0
    html = report("--beside", other, "--threshold", 0.5, "--threshold", -9)
    for column in ("news", "cut at 0.5", "cut at -9", "other"):
        assert f'class="number">{column}</th>' in html
    assert 'class="number best"' in html
    done = run("evaluate", model, news, "--beside", other, "--threshold", -9, "--json")
    found = json.loads(done.stdout)
    assert list(found) == ["news", "cut at -9", "other"]
    assert found["cut at -9"]["micro_recall"] == 1.0
    assert "1.0000 *" in run("evaluate", model, news, "--beside", other).stdout


def test_labels_that_the_model_does_not_know_are_told(run, report, model, news, tmp_path):
    assert "labels it does not know" not in report()
    strange = [f'"strange{k}"' for k in range(7)]
    news.write_text(news.read_text() + f'{{"text": "tin", "labels": [{", ".join(strange)}]}}\n')
    assert "7, left out of all criteria" in report()
    with pytest.warns(UserWarning, match="7 label.* strange4, and others"):
        run("evaluate", model, news)


def test_a_model_beside_its_namesake_keeps_its_path(run, model, news, tmp_path):
    twin = tmp_path / "news.labelrank"
    twin.write_bytes(model.read_bytes())
    done = run("evaluate", model, news, "--beside", twin, "--json")
    assert list(json.loads(done.stdout)) == ["news", str(twin)]


def test_the_curve_of_a_stream_is_drawn(run, report, news, tmp_path):
    stream, curve = tmp_path / "new.labelrank", tmp_path / "curve.jsonl"
    arguments = ["--batch", 1, "--every", 1, "--curve", curve, "-l", "BR", "-q"]
    assert run("learn", stream, news, *arguments).exit_code == 0
    html = report("--curve", curve)
    assert "first ranked by what had been learned before" in html
    assert "after 4</title>" in html


def test_growing_parts_are_learned_on_request(report, news):
    html = report("--train", news)
    assert 'id="learning"' in html
    assert "micro F1 1.0000 after 4</title>" in html
    assert 'id="learning"' not in report()


def test_examples_are_as_many_as_asked_for(report):
    assert report("--examples", 2).count("<article>") == 2
    assert report("--examples", 0).count("<article>") == 0


def test_a_label_asked_for_has_its_curve(report):
    names = re.findall(r'id="curve-\d+".*?</span>(.*?)</label>', report("--label", "oil"))
    assert names[0] == "oil"


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--label", "bread", "--report", "p.html"], "bread"),
        (["--train", "a", "--curve", "b", "--report", "p.html"], "one of them"),
        (["--label", "oil"], "--report FILE"),
        (["--curve", "none.jsonl", "--report", "p.html"], "none.jsonl"),
    ],
)
def test_what_cannot_be_shown_is_refused(run, model, news, tmp_path, monkeypatch, options, word):
    monkeypatch.chdir(tmp_path)
    done = run("evaluate", model, news, *options)
    assert done.exit_code != 0
    assert word in done.output


def test_a_file_that_is_no_curve_is_refused(run, model, news, tmp_path):
    for text in ("{}\n", "no JSON\n", ""):
        curve = tmp_path / "curve.jsonl"
        curve.write_text(text)
        done = run("evaluate", model, news, "--report", tmp_path / "p.html", "--curve", curve)
        assert "curve" in done.output
        assert done.exit_code != 0


def test_compare_leaves_a_report(run, tmp_path):
    arguments = ["--learners", "BR,Rocchio", "--cv", 2, "--criteria", "micro_f1", "-q"]
    done = run("compare", "debtags-sample", *arguments, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "2 learners on debtags-sample" in html
    for section in ("criteria", "costs", "tests"):
        assert f'<section id="{section}"' in html
    assert "critical-difference" not in html


@pytest.mark.parametrize("threshold", ["-9", "0.0", "9"])
def test_predict_reaches_beyond_every_cut(run, tmp_path, threshold):
    data, model = tmp_path / "many.jsonl", tmp_path / "m.labelrank"
    labels = [f"l{k}" for k in range(120)]
    lines = [{"text": f"word{k} and", "labels": labels[k : k + 30]} for k in range(60)]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    fitted = run("fit", data, "-o", model, "--threshold", threshold, "-q")
    assert fitted.exit_code == 0, fitted.output
    found = run("predict", model, data, "--json", "--top", 3)
    for line, ranked in zip(map(json.loads, found.stdout.splitlines()), _whole(model, data)):
        places = ranked[: max(3, sum(place.in_set for place in ranked))]
        assert line["labels"] == [place.label for place in places if place.in_set]
        assert [one["label"] for one in line["ranked"]] == [place.label for place in places]


def _whole(model, data):
    from labelrank import datasets, persistence

    return persistence.load(model).rank(datasets.load(data).texts)
