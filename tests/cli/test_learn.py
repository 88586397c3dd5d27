"""Teaching a saved model from a stream."""

import itertools
import json
import re
import signal
import sys

import numpy as np
import pytest

from labelrank import BinaryRelevancePerceptron, persistence

MORE = """\
{"text": "barley and rye", "labels": ["grain"]}
{"text": "wheat futures", "labels": ["grain", "trade"]}
{"text": "oil rigs", "labels": ["oil"]}
"""
NEW = '{"text": "gold coins", "labels": ["gold"]}\n'


@pytest.fixture
def stream(tmp_path):
    path = tmp_path / "more.jsonl"
    path.write_text(MORE, encoding="utf-8")
    return path


@pytest.fixture
def model(run, tmp_path):
    lines = tmp_path / "first.jsonl"
    lines.write_text(
        '{"text": "wheat and rye prices", "labels": ["grain", "trade"]}\n'
        '{"text": "crude oil prices", "labels": ["oil", "trade"]}\n',
        encoding="utf-8",
    )
    path = tmp_path / "m.labelrank"
    options = ("-l", "BR+", "--set", "epochs=1", "--representation", "tfidf")
    assert run("learn", path, lines, "-q", *options).exit_code == 0
    return path


def test_a_stream_teaches_as_partial_fit_does(run, model, stream, tmp_path):
    reference = persistence.load(model)
    for line in MORE.splitlines():
        example = json.loads(line)
        reference.partial_fit([example["text"]], [example["labels"]])
    taught = tmp_path / "taught.labelrank"
    done = run("learn", model, stream, "--batch", "1", "-o", taught)
    assert done.exit_code == 0, done.output
    assert "learned 3 examples" in done.output
    np.testing.assert_array_equal(
        persistence.load(taught).decision_function(["rye oil"]),
        reference.decision_function(["rye oil"]),
    )


def test_standard_input_and_json(run, model):
    done = run("learn", model, "-", "--format", "jsonl", "--json", stdin=MORE)
    assert done.exit_code == 0, done.output
    assert json.loads(done.output.splitlines()[-1])["learned"] == 3
    assert persistence.load(model).summary_["n_documents"] == 5


@pytest.mark.parametrize(("how", "labels"), [("add", 4), ("ignore", 3)])
def test_new_labels_are_added_or_ignored(run, model, how, labels):
    done = run("learn", model, "-", "--format", "jsonl", "--new-labels", how, stdin=NEW)
    assert done.exit_code == 0, done.output
    assert len(persistence.load(model).label_names_) == labels
    told = "1 new label, 'gold'; --new-labels ignore leaves out what is new"
    assert (told in " ".join(done.output.split())) == (how == "add")


def test_new_labels_may_be_refused_and_leave_the_model_alone(run, model):
    before = model.read_bytes()
    done = run("learn", model, "-", "--format", "jsonl", "--new-labels", "error", stdin=NEW)
    assert done.exit_code == 2
    assert "gold" in done.output
    assert model.read_bytes() == before


def test_the_curve_is_tested_before_it_is_learned(run, model, stream, tmp_path):
    curve = tmp_path / "curve.jsonl"
    done = run("learn", model, stream, "--batch", "1", "--every", "1", "--curve", curve)
    assert done.exit_code == 0, done.output
    points = [json.loads(line) for line in curve.read_text().splitlines()]
    assert [point["n_seen"] for point in points] == [1, 2, 3]
    assert 0 <= points[-1]["overall"]["ranking_loss"] <= 1


def test_a_new_model_is_started_by_naming_a_learner(run, stream, tmp_path):
    path = tmp_path / "new.labelrank"
    assert run("learn", path, stream).exit_code == 2
    assert run("learn", path, stream, "--learner", "BR").exit_code == 0
    assert persistence.load(path).label_names_ == ["grain", "oil", "trade"]
    again = run("learn", path, stream, "--learner", "BR")
    assert again.exit_code == 2
    assert "exists already" in again.output


def test_a_stream_cut_off_keeps_what_was_learned_before(run, model, stream, tmp_path):
    whole, part = tmp_path / "whole.labelrank", tmp_path / "part.labelrank"
    assert run("learn", model, stream, "--batch", "1", "-o", whole).exit_code == 0
    broken = tmp_path / "broken.jsonl"
    broken.write_text(MORE + '{"text": ', encoding="utf-8")
    done = run("learn", model, broken, "--batch", "1", "-o", part)
    assert done.exit_code == 2
    assert "learned 3 examples" in done.output
    assert "broken.jsonl" in done.output
    np.testing.assert_array_equal(
        persistence.load(whole).decision_function(["rye oil"]),
        persistence.load(part).decision_function(["rye oil"]),
    )


def test_nothing_learned_leaves_the_model_alone(run, model):
    before = model.read_bytes()
    assert run("learn", model, "-", "--format", "jsonl", stdin="not json\n").exit_code == 2
    assert model.read_bytes() == before


@pytest.fixture
def interrupted(monkeypatch):
    """Interrupts that come while a batch is learned, after its new labels were taken in."""
    learn_more = BinaryRelevancePerceptron._learn_more

    def arrange(*batches):
        counted = itertools.count(1)

        def interrupt(self, X, Y):
            for _ in range(batches.count(next(counted))):
                signal.raise_signal(signal.SIGINT)
            learn_more(self, X, Y)

        monkeypatch.setattr(BinaryRelevancePerceptron, "_learn_more", interrupt)

    return arrange


def test_an_interrupt_keeps_what_whole_batches_taught(run, model, tmp_path, interrupted):
    stream, kept = tmp_path / "labels.jsonl", tmp_path / "kept.labelrank"
    stream.write_text(MORE + NEW + MORE, encoding="utf-8")
    interrupted(4)
    done = run("learn", model, stream, "--batch", "1", "-o", kept)
    assert done.exit_code == 130
    assert "learned 4 examples" in done.output
    taught = persistence.load(kept)
    assert taught.label_names_ == ["grain", "oil", "trade", "gold"]
    assert taught.decision_function(["gold"]).shape == (1, 4)


def test_two_interrupts_within_a_batch_leave_the_model_alone(run, model, tmp_path, interrupted):
    before, stream = model.read_bytes(), tmp_path / "labels.jsonl"
    stream.write_text(MORE + NEW, encoding="utf-8")
    interrupted(4, 4)
    assert run("learn", model, stream, "--batch", "1").exit_code == 130
    assert model.read_bytes() == before


def test_a_curve_is_appended_to_a_curve_only(run, model, stream, tmp_path):
    before = model.read_bytes()
    notes = tmp_path / "notes.txt"
    notes.write_text("mine\n")
    for place in (model, notes, stream):
        done = run("learn", model, stream, "--curve", place)
        assert done.exit_code == 2
        assert "no learning curve" in done.output
    assert model.read_bytes() == before
    assert notes.read_text() == "mine\n"
    curve = tmp_path / "curve.jsonl"
    for points in (3, 6):
        assert (
            run("learn", model, stream, "--batch", 1, "--every", 1, "--curve", curve).exit_code == 0
        )
        assert len(curve.read_text().splitlines()) == points


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /dev/full elsewhere")
def test_what_was_learned_is_kept_where_the_curve_finds_no_room(run, model, stream):
    done = run("learn", model, stream, "--batch", 1, "--every", 2, "--curve", "/dev/full")
    assert done.exit_code == 2
    assert "no space left" in done.output
    assert persistence.load(model).summary_["n_documents"] == 2 + 2


def test_an_unknown_way_with_new_labels_is_refused(run, model, stream):
    done = run("learn", model, stream, "--new-labels", "x")
    assert done.exit_code == 2
    assert "new_labels" in done.output


STRANGE = '{"text": "zzz", "labels": ["oil"]}\n'
RIGHT = '{"text": "oil of rye", "labels": ["trade"]}\n'


@pytest.fixture(params=["auto", "BR+"])
def frozen(run, news, tmp_path, request):
    """What `fit` makes; auto cannot learn in pieces, BR+ would average a correction away."""
    path = tmp_path / "fitted.labelrank"
    assert run("fit", news, "-o", path, "-q", "-l", request.param).exit_code == 0
    return path


def test_the_default_model_is_corrected_and_keeps_what_it_knew(run, frozen):
    before = persistence.load(frozen)
    assert before.predict(["oil of rye"]) != [["trade"]]
    done = run("learn", frozen, "-", "--format", "jsonl", stdin=RIGHT)
    assert done.exit_code == 0, done.output
    assert "1 example into" in done.output
    assert "as corrections: 1 was answered otherwise before, now 0" in done.output
    predicted = run("predict", frozen, "-", "--format", "text", "--json", stdin="oil of rye\n")
    assert json.loads(predicted.output)["labels"] == ["trade"]
    taught = persistence.load(frozen)
    assert persistence.digest(taught.learner_.base_) == persistence.digest(before.learner_)
    explained = run(
        "explain", frozen, "-", "--format", "text", "--label", "trade", stdin="oil of rye\n"
    )
    assert "correction 1" in explained.output


def test_corrections_come_in_batches_with_new_labels_and_a_curve(run, frozen, stream, tmp_path):
    stream.write_text(RIGHT + NEW + MORE, encoding="utf-8")
    curve = tmp_path / "curve.jsonl"
    done = run("learn", frozen, stream, "--batch", 2, "--every", 1, "--curve", curve, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.output.splitlines()[-1])
    assert (told["learned"], told["learner"]) == (5, "CorrectedRanker")
    assert 2 <= told["otherwise_before"] <= 5
    assert told["otherwise_after"] < told["otherwise_before"]
    taught = persistence.load(frozen)
    assert taught.label_names_ == ["grain", "oil", "trade", "gold"]
    assert len(taught.learner_.steps_) == 5
    assert len(curve.read_text().splitlines()) == 3


def test_a_text_without_a_known_word_is_learned_by_its_own(run, frozen):
    done = run("learn", frozen, "-", "--format", "jsonl", stdin=STRANGE)
    assert done.exit_code == 0, done.output
    assert persistence.load(frozen).predict(["zzz"]) == [["oil"]]


def test_a_text_without_any_word_teaches_nothing_and_says_so(run, frozen):
    with pytest.warns(UserWarning, match="1 of 1 instances have no feature"):
        done = run("learn", frozen, "-", "--format", "jsonl", stdin=STRANGE.replace("zzz", "!"))
    assert done.exit_code == 0, done.output


PREFER = '{"text": "oil of rye", "prefer": [["trade", null], [null, "oil"], ["grain", "oil"]]}\n'
BOTH = '{"text": "oil of rye", "labels": ["oil"], "prefer": [["oil", "trade"]]}\n'


@pytest.mark.parametrize("begun_by", ["fit", "learn"])
def test_any_model_learns_single_preferences_at_once(run, frozen, model, begun_by):
    path = frozen if begun_by == "fit" else model
    done = run("learn", path, "-", "--format", "jsonl", stdin=PREFER)
    assert done.exit_code == 0, done.output
    assert "1 example into" in done.output
    assert " answered otherwise before, now 0" in done.output
    taught = persistence.load(path)
    ranked = {label: in_set for label, _, in_set in taught.rank(["oil of rye"])[0]}
    assert ranked["trade"]
    assert not ranked["oil"]
    assert list(ranked).index("grain") < list(ranked).index("oil")


def test_rows_are_learned_in_their_order_labels_first(run, frozen, tmp_path):
    reference = persistence.load(frozen)
    reference.corrected()
    reference.partial_fit(["oil of rye"], [["trade"]])
    reference.learn_arcs(["oil of rye"], [[("trade", None), (None, "oil"), ("grain", "oil")]])
    reference.partial_fit(["oil of rye"], [["oil"]])
    reference.learn_arcs(["oil of rye"], [[("oil", "trade")]])
    done = run("learn", frozen, "-", "--format", "jsonl", stdin=RIGHT + PREFER + BOTH)
    assert done.exit_code == 0, done.output
    steps = persistence.load(frozen).learner_.steps_
    expected = reference.learner_.steps_
    assert len(steps) == len(expected) == 4
    for one, other in zip(steps, expected, strict=True):
        np.testing.assert_allclose(one.coefficients, other.coefficients)


@pytest.mark.parametrize(("line", "words"), [
    ('{"text": "rye", "prefer": [["rai", "oil"]]}', "got label 'rai', which the model"),
    ('{"text": "rye", "prefer": [["oil", "oil"]]}', "'oil' over itself"),
    ('{"text": "rye", "prefer": [["oil", "grain"], ["grain", "oil"]]}', "contradict"),
    ('{"text": "rye", "prefer": [[null, null]]}', "the threshold over itself"),
    ('{"text": "rye", "prefer": [["oil", NaN]]}', "NaN is not JSON; use null"),
])  # fmt: skip
def test_bad_preferences_get_one_sentence_and_change_nothing(run, frozen, line, words):
    before = frozen.read_bytes()
    done = run(
        "learn", frozen, "-", "--format", "jsonl", "--new-labels", "error", stdin=RIGHT + line
    )
    assert done.exit_code == 2
    assert re.search(words, " ".join(done.output.split()))
    assert frozen.read_bytes() == before


def test_a_model_is_not_started_by_preferences(run, tmp_path):
    path = tmp_path / "new.labelrank"
    done = run("learn", path, "-", "--format", "jsonl", "-l", "BR", stdin=PREFER)
    assert done.exit_code == 2
    assert "fit one on rows with labels first" in " ".join(done.output.split())
    assert not path.exists()


def test_fit_learns_labels_and_then_preferences_and_says_so(run, news, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(news.read_text(encoding="utf-8") + PREFER, encoding="utf-8")
    path = tmp_path / "m.labelrank"
    done = run("fit", rows, "-o", path, "-l", "BSVM")
    assert done.exit_code == 0, done.output
    assert "rows: 4" in done.output or "4 rows" in done.output
    assert "1 row states preferences: taught as corrections on top" in " ".join(done.output.split())
    taught = persistence.load(path)
    assert taught.rank(["oil of rye"])[0][0].label == "trade"
    rows.write_text(rows.read_text().replace('["trade", null]', '["tarde", null]'))
    refused = run("fit", rows, "-o", path, "-l", "BSVM")
    assert refused.exit_code == 2
    assert "did you mean trade?" in " ".join(refused.output.split())


def lines_of(texts, labels):
    rows = zip(texts, labels, strict=True)
    return "".join(json.dumps({"text": text, "labels": given}) + "\n" for text, given in rows)


@pytest.fixture(scope="module")
def many():
    """Texts of two topics, and their labels: the first forty in words of their own."""
    random = np.random.default_rng(4)
    words = {"grain": ["rye", "wheat", "oats", "barley"], "oil": ["crude", "rig", "sea", "tanker"]}
    texts, labels = [], []
    for i in range(440):
        topic = ("grain", "oil")[i % 2]
        own = random.choice(words[topic][:2] if i < 40 else words[topic], 2)
        texts.append(" ".join([*own, *random.choice(["of", "at", "to", "by"], 3)]))
        labels.append([topic])
    return texts, labels


@pytest.fixture
def early(run, many, tmp_path):
    """A model of the first forty."""
    data, path = tmp_path / "early.jsonl", tmp_path / "early.labelrank"
    data.write_text(lines_of(*(part[:40] for part in many)))
    assert run("fit", data, "-o", path, "-q", "-l", "BSVM").exit_code == 0
    return path


def test_many_examples_are_judged_before_they_are_learned_and_kept_if_no_worse(run, many, early):
    texts, labels = (part[40:] for part in many)
    done = run("learn", early, "-", "--format", "jsonl", "--json", stdin=lines_of(texts, labels))
    assert done.exit_code == 0, done.output
    told = json.loads(done.output.splitlines()[-1])
    assert told["learned"] == 400
    assert told["judged"]["n_instances"] == 200
    assert told["judged"]["micro_f1"] > told["judged"]["micro_f1_before"]
    taught = persistence.load(early).learner_
    assert taught.C is None
    assert taught.epochs == 1
    assert taught.steps_[0].coefficients.max() < 0.1


@pytest.mark.parametrize("batch", [100, 20])
def test_examples_that_make_the_model_worse_are_kept_out(run, many, early, batch):
    texts, labels = (part[40:] for part in many)
    random = np.random.default_rng(0)
    wrong = [["oil"], ["grain"]]
    noisy = [labels[i] if i > 350 else wrong[random.integers(2)] for i in range(400)]
    before = early.read_bytes()
    noise = lines_of(texts[:150], noisy[:150]) + lines_of(texts[:150], labels[:150])
    done = run("learn", early, "-", "--format", "jsonl", "--batch", batch, stdin=noise)
    if done.exit_code == 0:  # it may have withstood the noise, but then it is no worse
        assert "now" in done.output
        return
    assert done.exit_code == 1
    assert "learned nothing, for the model got worse: average precision was" in done.output
    assert early.read_bytes() == before


def test_few_examples_are_always_taken_and_said_to_be_too_few(run, early):
    done = run("learn", early, "-", "--format", "jsonl", stdin=lines_of(["rye"], [["oil"]]))
    assert done.exit_code == 0, done.output
    assert "too few to judge what else has changed" in done.output


def test_a_model_is_fitted_anew_with_what_it_has_learned(run, many, early, tmp_path):
    old, new = tmp_path / "early.jsonl", tmp_path / "new.jsonl"
    texts, labels = (part[40:] * 2 for part in many)
    new.write_text(lines_of(texts, labels) + '{"text": "rye", "prefer": [["oil", "grain"]]}\n')
    done = run("learn", early, new, "--refit", old, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.output.splitlines()[-1])
    assert told["learned"] == 800
    assert told["judged"]["n_instances"] == 160
    refitted = persistence.load(early)
    assert refitted.summary_["n_documents"] == 841
    assert refitted.rank(["rye"])[0][0].label == "oil"
    few = run("learn", early, "-", "--format", "jsonl", "--refit", old, stdin=MORE)
    assert few.exit_code == 0, few.output
    assert "fitted anew with 40 others; too few to judge" in few.output
    assert persistence.load(early).label_names_ == ["grain", "oil", "trade"]


def test_a_refit_that_is_worse_is_kept_out(run, many, early, tmp_path):
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    texts, labels = many
    turned = [["oil" if label == ["grain"] else "grain"] for label in labels]
    old.write_text(lines_of(texts * 6, turned * 6))
    new.write_text(lines_of(texts * 2, labels * 2))
    before = early.read_bytes()
    done = run("learn", early, new, "--refit", old)
    assert done.exit_code == 1
    assert "learned nothing" in done.output
    assert early.read_bytes() == before


def test_a_stream_is_gone_over_as_often_as_epochs_say_and_finds_its_cut(run, many, tmp_path):
    path, (texts, labels) = tmp_path / "begun.labelrank", many
    lines = lines_of(texts, [given * (i % 4 > 0) + ["news"] * (i % 3 == 0)
                             for i, given in enumerate(labels)])  # fmt: skip
    lines = lines.replace("[]", '["none"]')
    assert run("learn", path, "-", "--format", "jsonl", "-l", "BR+", stdin=lines).exit_code == 0
    begun = persistence.load(path)
    assert begun.summary_["n_documents"] == 440
    assert begun.learner_.estimator_._n_learned == 5 * 440
    scores = begun.learner_.estimator_.decision_function(begun.features(texts))
    assert scores.min() < begun.learner_.threshold_ < scores.max()
    assert begun.learner_.threshold_ != 0
    asked = tmp_path / "asked.labelrank"
    done = run(
        "learn", asked, "-", "--format", "jsonl", "-l", "BR+", "--threshold", "0.25", stdin=lines
    )
    assert done.exit_code == 0, done.output
    assert persistence.load(asked).learner_.threshold_ == 0.25


@pytest.mark.parametrize(("cell", "told", "option"), [
    ("oil; rye", "'oil; rye' has labels that it knows, give --label-separator ';'",
     ["--label-separator", ";"]),
    ("OIL", "'OIL' is like 'oil', --merge-spellings makes them one", ["--merge-spellings"]),
])  # fmt: skip
def test_labels_that_may_be_known_ones_are_told_with_the_option_to_type(
    run, tmp_path, cell, told, option
):
    rows, more = tmp_path / "rows.csv", tmp_path / "more.csv"
    rows.write_text("text,labels\n" + "rye bread,rye\noil wells,oil\nboth here,oil|rye\n" * 4)
    more.write_text(f"text,labels\noil and rye,{cell}\nbread again,rye\n")
    model, taught = tmp_path / "m.labelrank", tmp_path / "taught.labelrank"
    assert run("fit", rows, "-o", model, "-l", "BSVM", "-q").exit_code == 0
    done = run("learn", model, more, "-o", taught)
    assert f"; 1 new label, {cell!r}; {told}" in " ".join(done.output.split())
    with pytest.warns(UserWarning, match=re.escape(f"left out: {cell}; {told}")):
        assert run("evaluate", model, more).exit_code == 0
    more.write_text(f"text,labels\noil and rye,{cell}\n")
    done = run("evaluate", model, more)
    assert f"has no label that the model knows; {told}" in " ".join(done.output.split())
    done = run("learn", model, more, "-o", taught, *option)
    assert done.exit_code == 0, done.output
    assert sorted(persistence.load(taught).label_names_) == ["oil", "rye"]
    assert run("evaluate", model, more, *option).exit_code == 0
