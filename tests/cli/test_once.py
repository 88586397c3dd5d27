"""Each text is turned into features once, each row scored once, relevance checked once."""

import sys
from collections import Counter

import pytest

from labelrank import relevance, text
from labelrank.learners.perceptron import BinaryRelevancePerceptron
from labelrank.relevance import Checked
from labelrank.text import TextVectorizer


@pytest.fixture
def calls(monkeypatch):
    """How often the work of a command is done, counted wherever it is called."""
    counted = Counter()

    def count(owner, name, what):
        inner = getattr(owner, name)

        def counting(*arguments, **options):
            if not isinstance(arguments[0], Checked):
                counted[what] += 1
            return inner(*arguments, **options)

        monkeypatch.setattr(owner, name, counting)
        if owner in (relevance, text):
            for module in list(sys.modules.values()):
                if module is not owner and vars(module).get(name) is inner:
                    monkeypatch.setattr(module, name, counting)

    import labelrank.datasets.records
    import labelrank.evaluation
    import labelrank.report  # noqa: F401 - loads all modules that a command calls

    count(TextVectorizer, "transform", "features")
    count(TextVectorizer, "fit_transform", "features")
    count(BinaryRelevancePerceptron, "_scores", "scores")
    count(text, "check_texts", "texts")
    count(relevance, "check_relevance", "relevance")
    return counted


@pytest.mark.parametrize("examples", [0, 4])
def test_a_report_needs_every_document_once(run, model, news, tmp_path, calls, examples):
    page = tmp_path / "page.html"
    done = run("evaluate", model, news, "--report", page, "--examples", examples)
    assert done.exit_code == 0, done.output
    assert calls == {"features": 1, "scores": 1, "texts": 1, "relevance": 1}


def test_cuts_beside_the_model_cost_no_scores(run, model, news, calls):
    done = run("evaluate", model, news, "--threshold", 0.5, "--threshold", 1)
    assert done.exit_code == 0, done.output
    assert calls == {"features": 1, "scores": 1, "texts": 1, "relevance": 1}


def test_fitting_checks_texts_and_relevance_once(run, news, tmp_path, calls):
    done = run("fit", news, "-o", tmp_path / "m", "-l", "BR+")
    assert done.exit_code == 0, done.output
    assert calls == {"features": 1, "texts": 1, "relevance": 1}


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_answers_need_every_document_once(run, model, news, calls, command):
    done = run(command, model, news)
    assert done.exit_code == 0, done.output
    assert calls == {"features": 1, "scores": 1, "texts": 1}


def test_a_batch_is_tested_and_learned_by_the_same_features(run, news, tmp_path, calls):
    begun = tmp_path / "begun"
    assert run("learn", begun, news, "-l", "BR+", "-q").exit_code == 0
    calls.clear()
    done = run("learn", begun, news, "-o", tmp_path / "m", "--curve", tmp_path / "c", "--batch", 2)
    assert done.exit_code == 0, done.output
    # Each batch is scored for the curve and for the cut; the second also by the model as it was,
    # and as it is, to judge it.
    assert (calls["features"], calls["scores"], calls["texts"]) == (2, 6, 2)
