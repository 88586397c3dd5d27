"""The page of results: its numbers against plain counting, its safety, its completeness."""

import numpy as np
import pytest

from labelrank import metrics
from labelrank.relevance import check_relevance
from labelrank.report import Document, RankedLabel, gather, page, ranked_labels, write
from labelrank.report.results import threshold_curve

rng = np.random.default_rng(0)
Y = (rng.random((80, 6)) < [0.5, 0.4, 0.3, 0.2, 0.1, 0.0]).astype(float)
scores = rng.normal(size=Y.shape) + Y
NAMES = ["a", "b", "c", "d", "<script>alert(1)</script>", "f&g"]


def results(**changes):
    return gather("Title", {"learner": "BR"}, Y, scores, label_names=NAMES, **changes)


def test_label_results_are_plain_counts():
    for k, label in enumerate(results().labels):
        relevant, predicted = Y[:, k] > 0, scores[:, k] > 0
        assert label.relevant == relevant.sum()
        assert label.predicted == predicted.sum()
        assert label.correct == (relevant & predicted).sum()
    assert label.recall is None
    assert label.precision == 0.0


def test_labels_of_unknown_relevance_are_left_out():
    unknown = Y.copy()
    unknown[:, 0] = np.nan
    first = gather("T", {}, unknown, scores, label_names=NAMES).labels[0]
    assert (first.relevant, first.predicted, first.correct) == (0, 0, 0)
    assert first.f1 is None


def test_every_point_of_the_curve_is_the_criterion_at_that_cut():
    curve = threshold_curve(check_relevance(Y), scores)
    assert len(curve) > 20
    for point in curve:
        predicted = scores >= point.threshold
        assert point.precision == pytest.approx(metrics.precision(Y, predicted, average="micro"))
        assert point.recall == pytest.approx(metrics.recall(Y, predicted, average="micro"))
        assert point.f1 == pytest.approx(metrics.f1(Y, predicted, average="micro"))


def test_without_a_relevant_label_there_is_no_curve():
    assert threshold_curve(check_relevance(np.zeros((3, 2))), np.zeros((3, 2))) == []
    assert "<svg" not in page(
        gather("T", {}, np.zeros((3, 2)), np.eye(3, 2), label_names=["a", "b"])
    )


def test_the_ranking_of_a_document_puts_its_set_first():
    members = np.array([False, True, False])
    ranked = ranked_labels(np.array([3.0, 1.0, 2.0]), members, np.array([1, 0, 1]), ["a", "b", "c"])
    assert [label.name for label in ranked] == ["b", "a", "c"]
    assert ranked[0] == RankedLabel("b", 1.0, chosen=True, relevant=False)


def test_names_and_texts_are_escaped():
    document = Document("<b>x</b>", "<img src=x>", [RankedLabel("<i>", 1.0, True, True)])
    html = page(results(documents=[document]))
    assert "<script>alert" not in html
    assert "<img" not in html
    assert "<i>" not in html.split("<article>")[1].split("</article>")[0]
    assert "&lt;img src=x&gt;" in html


def test_the_cut_stands_between_chosen_and_other_labels():
    ranked = [RankedLabel("x", 1.0, True, True), RankedLabel("y", -1.0, False, True)]
    article = page(results(documents=[Document("d", "t", ranked)])).split("<article>")[1]
    assert article.index('class="hit"') < article.index('class="cut"') < article.index('"missed"')


def test_the_page_holds_every_criterion_and_needs_no_network(tmp_path):
    found = results()
    html = write(found, tmp_path / "page.html").read_text(encoding="utf-8")
    for value in found.criteria.values():
        assert f"{value:.4f}" in html or f"{value:.0f}" in html
    assert "prefers-color-scheme: dark" in html
    assert "http" not in html.replace("http://www.w3.org/", "")
