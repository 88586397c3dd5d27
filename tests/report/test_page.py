"""The page of results: its numbers against plain counting, its safety, its completeness."""

import re

import numpy as np

from labelrank import BinaryRelevancePerceptron, Tagger, metrics, report
from labelrank.evaluation.verdict import CHIEF
from labelrank.report import Document, LearningCurve, RankedLabel, Reason, gather, page, write

rng = np.random.default_rng(0)
Y = (rng.random((80, 6)) < [0.5, 0.4, 0.3, 0.2, 0.1, 0.0]).astype(float)
scores = rng.normal(size=Y.shape) + Y
NAMES = ["a", "b", "c", "d", "<script>alert(1)</script>", "f&g\"' onload=x"]

PERCEPTRON = BinaryRelevancePerceptron(epochs=5, averaging="averaged", margin=1.0, random_state=0)


def results(**changes):
    return gather("Title", {"learner": "BR"}, Y, scores, label_names=NAMES, **changes)


def test_label_results_are_plain_counts():
    for k, label in enumerate(results().labels):
        relevant, predicted = Y[:, k] > 0, scores[:, k] > 0
        assert label.relevant == relevant.sum()
        assert label.predicted == predicted.sum()
        assert label.correct == (relevant & predicted).sum()
    assert (label.recall, label.auc, label.average_precision) == (None, None, None)
    assert label.precision == 0.0


def test_labels_of_unknown_relevance_are_left_out():
    unknown = Y.copy()
    unknown[:, 0] = np.nan
    first = gather("T", {}, unknown, scores, label_names=NAMES).labels[0]
    assert (first.relevant, first.predicted, first.correct) == (0, 0, 0)
    assert first.f1 is None


def test_without_a_relevant_label_there_is_no_curve():
    empty = gather("T", {}, np.zeros((3, 2)), np.eye(3, 2), label_names=["a", "b"])
    assert "<svg" not in page(empty)


def test_the_ranking_of_a_document_puts_its_set_first():
    members = np.array([False, True, False])
    ranked = report.ranked_labels(
        np.array([3.0, 1.0, 2.0]), members, np.array([1, 0, 1]), ["a", "b", "c"]
    )
    assert [label.name for label in ranked] == ["b", "a", "c"]
    assert ranked[0] == RankedLabel("b", 1.0, chosen=True, relevant=False)


def test_names_and_texts_are_escaped():
    hostile = '</style></script><img src=x onerror="alert(1)">'
    document = Document(
        hostile, f"{hostile} word", [RankedLabel(hostile, 1.0, True, True)],
        [Reason(hostile, 1.0, [("word", 0.5), (hostile, -0.5)])],
    )  # fmt: skip
    html = page(
        gather(
            hostile, {hostile: hostile}, Y, scores, label_names=[hostile, *NAMES[1:]],
            documents=[document], name=hostile, beside={hostile + "2": results().criteria},
            learning=LearningCurve(hostile, [1, 2], {hostile: [0.1, 0.2]}), probabilities=Y * 0.5,
        )
    )  # fmt: skip
    assert "<img" not in html
    assert "<script>alert" not in html
    assert html.count("<script>") == html.count("</script>") == 1
    assert html.count("</style>") == 1
    assert 'f&g"' not in html
    assert "&lt;img src=x" in html
    assert "<mark>word</mark>" in html


def test_the_cut_stands_between_chosen_and_other_labels():
    ranked = [RankedLabel("x", 1.0, True, True), RankedLabel("y", -1.0, False, True)]
    article = page(results(documents=[Document("d", "t", ranked)])).split("<article>")[1]
    assert article.index('class="hit"') < article.index('class="cut"') < article.index('"missed"')


def test_relevant_labels_far_below_the_cut_are_shown_with_their_place():
    names = [f"t{k}" for k in range(40)]
    draw = np.random.default_rng(0)
    tagger = Tagger(PERCEPTRON)
    tagger.fit(draw.normal(size=(60, 5)), draw.random((60, 40)) < 0.3, label_names=names)
    Y = np.ones((4, 40))
    found = report.of_tagger(tagger, draw.normal(size=(4, 5)), Y, examples=1)
    (document,) = found.documents
    shown = [label.name for label in document.ranked] + [name for name, _ in document.missed]
    assert len(document.missed) == min(40 - len(document.ranked), 25)
    assert len(set(shown)) == len(shown)
    assert document.missed[0][1] == len(document.ranked) + 1
    assert f"place {document.missed[-1][1]}<" in page(found)


def test_the_page_holds_every_criterion_and_needs_no_network(tmp_path):
    found = results(probabilities=1 / (1 + np.exp(-scores)))
    html = write(found, tmp_path / "page.html").read_text(encoding="utf-8")
    for value in found.criteria.values():
        assert f"{value:.4f}" in html or f"{value:.0f}" in html
    assert not re.search(r"https?:|src=|href=\"[^#]|url\(|@import|fetch\(|<link", html)


def test_the_page_begins_with_the_verdict():
    html = page(results())
    verdict = html[html.index('id="verdict"') : html.index("<details>")]
    assert "labels found per document" in verdict
    assert "guessing by frequency would find" in verdict
    assert verdict.count('<th scope="row">') == len(CHIEF)
    assert html.index('id="verdict"') < html.index('id="summary"')


def test_the_best_of_several_models_and_cuts_is_marked():
    columns = {"a": {"ranking_loss": 0.2, "micro_f1": 0.5, "macro_auc": float("nan")},
               "b": {"ranking_loss": 0.1, "micro_f1": 0.5, "macro_auc": 0.5}}  # fmt: skip
    rows = {row.name: row.cells for row in report.criteria_rows(columns)}
    assert rows["ranking_loss"] == [("0.2000", False), ("0.1000", True)]
    assert rows["micro_f1"] == [("0.5000", True), ("0.5000", True)]
    assert rows["macro_auc"] == [("–", False), ("0.5000", True)]
    alone = report.criteria_rows({"a": {"micro_f1": 0.5}})
    assert next(alone).cells == [("0.5000", False)]


def test_confusion_shows_the_most_frequent_pairs_first():
    found = results().confusion
    counts = metrics.label_confusion(Y, scores > 0).toarray()
    assert [pair.documents for pair in found.pairs] == sorted(counts[counts > 0])[::-1][:20]
    first = found.pairs[0]
    u, v = NAMES.index(first.missed), NAMES.index(first.given)
    assert first.documents == counts[u, v]
    assert first.misses == ((Y[:, u] > 0) & (scores[:, u] <= 0)).sum()
    for i, missed in enumerate(found.missed):
        for j, given in enumerate(found.given):
            assert found.counts[i, j] == counts[NAMES.index(missed), NAMES.index(given)]


def test_without_a_mistake_there_is_no_confusion():
    assert gather("T", {}, Y, Y - 0.5, label_names=NAMES).confusion is None


TEXTS = ["wheat and rye prices", "crude oil prices", "rye harvest", "oil tankers"] * 3
LABELS = [["grain", "trade"], ["oil", "trade"], ["grain"], ["oil"]] * 3


def test_a_tagger_is_reported_with_reasons_and_facts():
    tagger = Tagger(PERCEPTRON).fit(TEXTS, LABELS)
    found = report.of_tagger(
        tagger, TEXTS, LABELS, data="news", thresholds=[0.5], examples=3, curves_of=["trade"]
    )
    assert found.title == "BinaryRelevancePerceptron on news"
    assert found.facts["tested on"] == "12 (news)"
    assert found.criteria["micro_f1"] == 1.0
    assert list(found.beside) == ["cut at 0.5"]
    assert next(iter(found.label_curves)) == "trade"
    assert len(found.documents) == 3
    reason = found.documents[0].reasons[0]
    why = tagger.why(TEXTS[0], reason.label)
    assert reason.margin == why.margin
    assert [addend for _, addend in reason.words] == [c for c in why.contributions[:7] if c]
    assert "<mark>rye</mark>" in page(found)
    assert found.reliability is None


def test_a_learner_with_probabilities_gets_a_reliability_diagram():
    from labelrank import NaiveBayesRanker

    tagger = Tagger(NaiveBayesRanker()).fit(TEXTS, LABELS)
    found = report.of_tagger(tagger, TEXTS, LABELS)
    chances = tagger.learner_.predict_proba(tagger.vectorizer_.transform(TEXTS))
    wanted = metrics.reliability(tagger.relevance(LABELS), chances)
    assert found.reliability.brier_score == wanted.brier_score
    assert 'id="calibration"' in page(found)


def test_features_without_texts_are_reported_too():
    X = np.tile(np.eye(3), (4, 1))
    tagger = Tagger().fit(X, np.tile(np.eye(3), (4, 1)))
    found = report.of_tagger(tagger, X, np.tile(np.eye(3), (4, 1)), examples=2)
    assert [document.name for document in found.documents] == ["document 1", "document 7"]
    assert found.documents[0].reasons[0].words[0][0] == "x0"
    assert 'class="why"' in page(found)


def test_an_example_that_was_given_everything_stays_short():
    n = 300
    tagger = Tagger().fit(np.eye(2, n), np.eye(2, n))
    found = report.of_tagger(tagger, np.ones((1, n)) * 9, np.ones((1, n)), examples=1)
    assert len(found.documents[0].ranked) <= 25


def test_a_page_of_four_thousand_labels_stays_below_five_megabytes():
    draw = np.random.default_rng(1)
    many = (draw.random((60, 4000)) < 0.05).astype(float)
    names = [f"a rather long label name, number {k}" for k in range(4000)]
    html = page(gather("Many", {}, many, draw.normal(size=many.shape) + many, label_names=names))
    assert len(html.encode()) < 5_000_000
    assert html.count("<tr>") > 4000
    assert html.count("<polyline") < 200
