"""Corrections on top of a frozen ranker, against the same mathematics in slow Python."""

import copy
import itertools
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from labelrank import (
    BinaryRelevancePerceptron,
    BinaryRelevanceSVM,
    CalibratedRanker,
    ClassifierChain,
    CompressionClassifier,
    CorrectedRanker,
    InvertedIndexKNN,
    LabelPowerset,
    RankSVM,
    Tagger,
    ThresholdedRanker,
    persistence,
    testing,
)
from labelrank.errors import InputError
from labelrank.learners.corrections.arc_steps import step
from labelrank.learners.corrections.corrected import relative
from labelrank.preferences import Arcs
from labelrank.testing import snapshot

RANDOM = np.random.default_rng(5)
X = np.round(RANDOM.random((30, 6)) * (RANDOM.random((30, 6)) < 0.6), 3)
X[:, 0] += 0.125
Y = (X[:, :4] + 0.3 * RANDOM.random((30, 4)) > 0.5).astype(int)
BASE = BinaryRelevanceSVM(random_state=0).fit(X, Y)
# These begin with `partial_fit`, for which the base is fitted first; see the tests of these names.
LEFT_OUT = ("pieces_equal_the_whole", "unknown_labels_state_nothing", "the_input_is_never_modified")


def slow_step(scores, arcs, norm, margin, C):
    """The rule of the file, arc by arc, with the scores computed anew each time."""
    c, used = np.zeros(len(scores)), dict.fromkeys(range(len(arcs)), 0.0)
    for _ in range(10):
        s = scores + norm * c
        violated = [i for i, (a, b) in enumerate(arcs) if s[a] - s[b] < margin * (1 - 1e-9)]
        for i in violated:
            a, b = arcs[i]
            s = scores + norm * c
            lack = margin - (s[a] - s[b])
            by = min(C - used[i], max(0.0, lack) / (2 * norm))
            used[i] += by
            c[a] += by
            c[b] -= by
    return c


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 2.0, np.inf]))
def test_a_step_is_the_slow_one(seed, most):
    random = np.random.default_rng(seed)
    scores = random.normal(size=5)
    arcs = [pair for pair in itertools.combinations(range(5), 2) if random.random() < 0.5]
    better, worse = np.array(arcs, int).reshape(-1, 2).T
    found = step(scores, better, worse, 0.7, 0.5, most)
    expected = slow_step(scores, arcs, 0.7, 0.5, most)
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("cut", [1.0, 0.4])
@pytest.mark.parametrize(("a", "b"), [(3, 0), (1, None), (None, 0)])
def test_an_arc_holds_by_the_margin_once_it_is_learned(form, a, b, cut):
    x = form(X[:1])
    ranker = CorrectedRanker(BASE, margin=0.7, cut=cut).learn_arcs(
        x, Arcs.of([(0, a, b)], n_rows=1, n_labels=4)
    )
    scores = np.append(ranker.decision_function(x)[0], 0.0)
    before = np.append(BASE.decision_function(x)[0], 0.0)
    ahead = scores[4 if a is None else a] - scores[4 if b is None else b]
    was = before[4 if a is None else a] - before[4 if b is None else b]
    wanted = 0.7 if a is not None and b is not None else cut * 0.7
    assert ahead == pytest.approx(max(wanted, was))


def test_an_arc_moves_its_labels_by_C_at_most():
    ranker = CorrectedRanker(BASE, C=0.01, margin=50.0)
    ranker.learn_arcs(X[:1], Arcs.of([(0, 3, 0)], n_rows=1, n_labels=4))
    np.testing.assert_allclose(ranker.steps_[0].coefficients, [-0.01, 0, 0, 0.01, 0])


def test_scores_are_those_of_the_base_and_the_sum_of_the_steps():
    ranker = CorrectedRanker(BASE).partial_fit(X[:9], 1 - Y[:9])
    D = sum(np.outer(one.x.toarray(), one.coefficients) for one in ranker.steps_)
    moved = X @ D
    expected = BASE.decision_function(X) + moved[:, :4] - moved[:, 4:]
    np.testing.assert_allclose(ranker.decision_function(X), expected, atol=1e-12)
    np.testing.assert_allclose(
        ranker.decision_function(sp.csr_array(X)), ranker.decision_function(X), atol=1e-6
    )


def test_what_was_taught_last_is_answered():
    ranker = CorrectedRanker(BASE)
    for x, y in zip(X, 1 - Y, strict=True):
        assert ranker.partial_fit([x], [y]).predict([x]).tolist() == [y.tolist()]


def test_what_is_right_by_the_margin_changes_nothing():
    scores = BASE.decision_function(X)
    sure = (np.abs(scores) > 0.1).all(axis=1)
    right = (scores > 0).astype(int)[sure]
    ranker = CorrectedRanker(BASE, margin=1e-6).partial_fit(X[sure], right)
    assert all(not one.coefficients.any() for one in ranker.steps_)


@pytest.mark.parametrize("base", [
    BinaryRelevancePerceptron(random_state=0), RankSVM(random_state=0),
    InvertedIndexKNN(3), ClassifierChain(random_state=0),
    LabelPowerset(BinaryRelevancePerceptron(random_state=0)),
    CalibratedRanker(BinaryRelevanceSVM(random_state=0), random_state=0),
    ThresholdedRanker(BinaryRelevanceSVM(random_state=0), strategy="cardinality"),
    ThresholdedRanker(BinaryRelevanceSVM(random_state=0), per_label=True, random_state=0),
], ids=repr)  # fmt: skip
@pytest.mark.filterwarnings("ignore:the probabilities")
def test_without_an_effect_it_answers_as_its_base_does_whatever_that_is(base):
    base.fit(X, Y)
    ranker = CorrectedRanker(base).partial_fit(X[:2], np.full((2, 4), np.nan))
    np.testing.assert_array_equal(ranker.predict(X), base.predict(X))
    np.testing.assert_array_equal(ranker.rank(X), base.rank(X))
    assert ranker.has_probabilities in (base.has_probabilities, False)
    ranker.partial_fit(X[:5], 1 - Y[:5])
    testing.scores_ranking_and_set_agree(_case_of(ranker))
    testing.probabilities_agree_with_the_answers(_case_of(ranker))


def _case_of(ranker):
    case = testing.Case(ranker, X, Y)
    case.__dict__["_once"] = ranker
    return case


def test_a_class_vector_is_corrected():
    y = np.array(["low", "high", "mid"])[np.arange(30) % 3]
    base = BinaryRelevanceSVM(random_state=0).fit(X, y)
    ranker = CorrectedRanker(base).partial_fit(X[:1], ["mid"])
    assert base.predict(X[:1]) != ["mid"]
    assert ranker.predict(X[:1]) == ["mid"]
    with pytest.raises(InputError, match="new classes"):
        ranker.partial_fit(X[:1], ["new"], classes=["high", "low", "mid", "new"])


def test_probabilities_go_by_the_link_of_the_base():
    ranker = CorrectedRanker(
        CalibratedRanker(BinaryRelevanceSVM(random_state=0), random_state=0).fit(X, Y)
    ).partial_fit(X[:3], 1 - Y[:3])
    expected = ranker.base_.link(ranker.decision_function(X))
    np.testing.assert_allclose(ranker.predict_proba(X), expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore:the probabilities")
def test_an_instance_of_which_nothing_is_known_is_answered_as_by_the_base():
    nothing = np.zeros((1, 6))
    ranker = CorrectedRanker(BASE).partial_fit(X[:3], 1 - Y[:3])
    for name in ("decision_function", "predict", "predict_proba"):
        expected, found = (getattr(one, name)(nothing) for one in (BASE, ranker))
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_forgotten_steps_were_never_learned_whatever_the_order(order):
    rows, wanted = X[:6], 1 - Y[:6]
    ranker = CorrectedRanker(BASE)
    for x, y in zip(rows, wanted, strict=True):
        ranker.partial_fit([x], [y])
    names = list(range(6))
    for one in order:
        ranker.forget(names.index(one))
        names.remove(one)
    never = CorrectedRanker(BASE).partial_fit(rows[3:], wanted[3:])
    assert persistence.digest(ranker) == persistence.digest(never)
    np.testing.assert_array_equal(ranker.decision_function(X), never.decision_function(X))


def test_pieces_are_the_whole():
    whole, pieces = CorrectedRanker(BASE).partial_fit(X, 1 - Y), CorrectedRanker(BASE)
    for rows in np.split(np.arange(30), [1, 11]):
        pieces.partial_fit(X[rows], 1 - Y[rows])
    assert persistence.digest(whole) == persistence.digest(pieces)
    np.testing.assert_array_equal(whole.decision_function(X), pieces.decision_function(X))


def test_words_and_corrections_sum_to_the_margin():
    ranker = CorrectedRanker(BASE).partial_fit(X[:8], 1 - Y[:8])
    ranker.partial_fit(X[:2], np.column_stack([Y[:2], [1, 1]]), classes=np.arange(5))
    scores = ranker.decision_function(X)
    for i, a, b in itertools.product(range(0, 30, 7), (0, 4), (None, 2)):
        reason = ranker.why(X[i], a, over=b)
        expected = scores[i, a] - (0.0 if b is None else scores[i, b])
        assert reason.margin == pytest.approx(expected, abs=1e-9)
        total = reason.contributions.sum() + reason.shares.sum() + reason.constant
        assert total == pytest.approx(expected, abs=1e-9)
        for t, share in zip(reason.steps, reason.shares, strict=True):
            c = ranker.steps_[t].coefficients
            along = (ranker.steps_[t].x @ X[i])[0]
            assert share == pytest.approx(along * (c[a] - c[-1 if b is None else b]))


def test_a_new_label_is_last_until_it_is_taught_and_then_is_answered():
    ranker = CorrectedRanker(BASE)
    ranker.partial_fit(X[:1], np.full((1, 5), np.nan), classes=np.arange(5))
    assert (ranker.rank(X[1:])[:, -1] == 4).all()
    ranker.partial_fit(X[2:3], [[0, 0, 0, 0, 1]])
    assert ranker.predict(X[2:3]).tolist() == [[0, 0, 0, 0, 1]]
    assert ranker.forget(1).predict(X[2:3])[0, 4] == 0


def test_an_instance_without_features_teaches_nothing_and_says_so():
    ranker = CorrectedRanker(BASE)
    with pytest.warns(UserWarning, match="1 of 2 instances have no feature"):
        ranker.partial_fit(np.vstack([np.zeros(6), X[0]]), 1 - Y[:2])
    assert not ranker.steps_[0].coefficients.any()
    assert ranker.steps_[1].coefficients.any()


@pytest.mark.parametrize(("act", "words"), [
    (lambda r: r.forget(2), "got step 2, but there are 2"),
    (lambda r: r.forget(-1), "count them from 0"),
    (lambda r: r.forget(True), "whole number"),
    (lambda r: r.learn_arcs(X[:2], Arcs.of([(0, 1, 2)], n_rows=1, n_labels=4)), "a row each"),
    (lambda r: r.learn_arcs(X[:1], [(0, 1, 2)]), "preferences.Arcs"),
    (lambda r: r.partial_fit(X[:1] * np.nan, Y[:1]), "NaN"),
    (lambda r: r.partial_fit(X[:2], Y[:1]), "one row of Y"),
    (lambda r: r.partial_fit(X[:1], Y[:1], classes=[3, 2, 1, 0, 4]), "already known"),
    (lambda r: r.set_params(C=0).partial_fit(X[:1], Y[:1]), "got C=0"),
])  # fmt: skip
def test_what_is_refused_leaves_no_trace(act, words):
    ranker = CorrectedRanker(BASE).partial_fit(X[:2], 1 - Y[:2])
    before = snapshot({k: v for k, v in vars(ranker).items() if k != "C"})
    with pytest.raises(InputError, match=words):
        act(ranker)
    assert snapshot({k: v for k, v in vars(ranker).items() if k != "C"}) == before


def test_the_base_must_be_fitted_and_a_ranker():
    with pytest.raises(NotFittedError, match="fit it on labels first"):
        CorrectedRanker(RankSVM()).partial_fit(X, Y)
    texts = CompressionClassifier().fit(["rye oats", "oil sea"], np.eye(2, dtype=int))
    with pytest.raises(InputError, match="features and labels"):
        CorrectedRanker(texts).partial_fit(["rye"], [[1, 0]])
    with pytest.raises(InputError, match="learner of labelrank"):
        CorrectedRanker(Tagger()).partial_fit(X, Y)


def test_learning_leaves_base_and_input_alone():
    given = (BASE, X, Y, sp.csr_array(X), sp.csr_array(1.0 - Y))
    before = snapshot(given)
    CorrectedRanker(BASE).partial_fit(X, Y).partial_fit(*given[3:]).forget(3).predict(X)
    assert snapshot(given) == before


def test_unknown_labels_state_nothing():
    ranker = CorrectedRanker(BASE).partial_fit(X[:5], 1 - Y[:5])
    before = ranker.decision_function(X)
    ranker.partial_fit(X[3:5], np.full((2, 4), np.nan))
    np.testing.assert_array_equal(ranker.decision_function(X), before)


def test_it_keeps_the_promises_of_learners():
    testing.check_learner(CorrectedRanker(BinaryRelevanceSVM()), leaving_out=LEFT_OUT)


def test_a_loaded_one_learns_and_forgets_on(tmp_path):
    ranker = CorrectedRanker(BASE).partial_fit(X[:5], 1 - Y[:5])
    loaded = persistence.load(persistence.save(ranker, tmp_path / "m"))
    for one in (ranker, loaded):
        one.partial_fit(X[5:9], Y[5:9]).forget(2)
    assert persistence.digest(ranker) == persistence.digest(loaded)
    np.testing.assert_array_equal(ranker.decision_function(X), loaded.decision_function(X))


@pytest.mark.parametrize(("part", "wrong"), [
    ("better", np.array([9], np.int32)), ("pointers", np.array([0, 7])),
    ("reached", np.zeros(3)), ("moves", sp.csr_array((1, 9))), ("most", np.zeros(1)),
    ("instances", sp.csr_array((1, 9))), ("margin", -np.ones(1)), ("n_labels", np.array([3])),
    ("n_labels", np.array([9])), ("relevance", sp.csr_array((1, 9))), ("cut", np.zeros(1)),
])  # fmt: skip
def test_parts_that_do_not_fit_are_refused(part, wrong, tmp_path):
    ranker = CorrectedRanker(BASE)
    ranker.learn_arcs(X[:1], Arcs.of([(0, 3, 0)], n_rows=1, n_labels=4))
    ranker._packed = replace(ranker._packed, **{part: wrong})
    with pytest.raises(persistence.container.ModelFileError):
        persistence.load(persistence.save(ranker, tmp_path / "m"))


def test_the_middle_between_set_and_rest_is_zero_where_there_is_no_other_cut():
    members = np.array([[True, False, False], [False, True, False]])
    found = relative(np.array([[5.0, 3.0, 1.0], [5.0, 3.0, 1.0]]), members, None)
    np.testing.assert_allclose(found[0], [1.0, -1.0, -3.0])
    assert (found[1] > 0).tolist() == [False, True, False]
    assert found[1, 0] > found[1, 2]
    np.testing.assert_allclose(relative(found, members, 0.0), found)


def test_what_was_learned_before_a_label_came_is_learned_again_without_it():
    ranker, never = CorrectedRanker(BASE), CorrectedRanker(BASE)
    wider = np.column_stack([1 - Y[3:4], [1]])
    for one, first in ((ranker, 0), (never, 1)):
        one.partial_fit(X[first:3], 1 - Y[first:3]).partial_fit(X[3:4], wider, classes=np.arange(5))
    ranker.forget(0)
    assert persistence.digest(ranker) == persistence.digest(never)


def test_each_pass_is_a_step_and_what_was_asked_then_stays_so():
    ranker = CorrectedRanker(BASE, C=0.01, margin=0.9, cut=0.3, epochs=3)
    ranker.partial_fit(X[:2], 1 - Y[:2]).set_params(
        C=None, margin=None, cut=1.0, epochs=1
    ).partial_fit(X[2:3], 1 - Y[2:3])
    assert len(ranker.steps_) == 7
    with_other = CorrectedRanker(BASE, C=0.01, margin=0.9, cut=0.3)
    for row in (1, 0, 1, 0, 1):
        with_other.partial_fit(X[row : row + 1], 1 - Y[row : row + 1])
    with_other.set_params(C=None, margin=None, cut=1.0).partial_fit(X[2:3], 1 - Y[2:3])
    ranker.forget(0)
    np.testing.assert_array_equal(ranker.decision_function(X), with_other.decision_function(X))


def test_a_copy_learns_by_itself():
    ranker = CorrectedRanker(BASE).partial_fit(X[:2], 1 - Y[:2])
    before = ranker.decision_function(X)
    copy.copy(ranker).partial_fit(X[2:4], 1 - Y[2:4])
    np.testing.assert_array_equal(ranker.decision_function(X), before)


def test_the_threshold_moves_the_cut_for_all_labels():
    x = X[:1]
    ranker = CorrectedRanker(BASE, margin=0.5)
    before = ranker.partial_fit(x, np.full((1, 4), np.nan)).decision_function(x)[0]
    ranker.learn_arcs(x, Arcs.of([(0, 3, None)], n_rows=1, n_labels=4))
    moved = ranker.decision_function(x)[0] - before
    assert moved[3] > 0
    np.testing.assert_allclose(moved[:3], moved[3] / 2)
    again = CorrectedRanker(BASE, margin=0.5)
    again.learn_arcs(x, Arcs.of([(0, None, 0)], n_rows=1, n_labels=4))
    lowered = again.decision_function(x)[0] - before
    assert (lowered <= 0).all()
    np.testing.assert_allclose(lowered[1:], lowered[0] / 2)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_the_same_steps_give_the_same_bytes_on_any_number_of_threads(n_jobs):
    alone, threads = (
        CorrectedRanker(BinaryRelevancePerceptron(random_state=0, epochs=3, n_jobs=n).fit(X, Y))
        for n in (1, n_jobs)
    )
    for one in (alone, threads):
        one.partial_fit(X, 1 - Y).forget(4)
        one.base_.set_params(n_jobs=1)
    assert persistence.digest(alone) == persistence.digest(threads)


def test_the_same_steps_give_the_same_bytes_in_another_process(tmp_path):
    made = CorrectedRanker(BASE).partial_fit(X, 1 - Y).forget(7)
    base = persistence.save(BASE, tmp_path / "base")
    np.savez(tmp_path / "data.npz", X=X, Y=Y)
    code = (
        "import sys, numpy as np; from labelrank import CorrectedRanker, persistence\n"
        "data, base = np.load(sys.argv[1]), persistence.load(sys.argv[2])\n"
        "made = CorrectedRanker(base)\n"
        "for x, y in zip(data['X'], data['Y']): made.partial_fit([x], [1 - y])\n"
        "print(persistence.digest(made.forget(7)))"
    )
    call = [sys.executable, "-c", code, str(tmp_path / "data.npz"), str(base)]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == persistence.digest(made)


def test_a_file_of_the_version_before_is_read(tmp_path):
    """Its steps were by arcs alone, and the threshold held by the whole margin."""
    from labelrank.persistence.decode import OLDER, Contents

    ranker = CorrectedRanker(BASE, margin=0.5)
    ranker.learn_arcs(X[:2], Arcs.of([(0, 3, 0), (1, None, 2)], n_rows=2, n_labels=4))
    packed = ranker._packed
    parts = {
        "base_": BASE, "instances": packed.instances, "pointers": packed.pointers,
        "better": packed.better, "worse": packed.worse, "moves": packed.moves,
        "reach": packed.reached,
    }  # fmt: skip
    read = OLDER["CorrectedRanker", 1](Contents({"C": None, "margin": 0.5}, parts))
    steps = read.parts["steps"].steps()
    np.testing.assert_array_equal(steps[1].moves, ranker._steps[1].moves)
    assert [one.margin for one in steps] == [0.5, 0.5]
    assert [one.most for one in steps] == [np.inf, np.inf]


def test_the_threshold_moves_over_a_tuned_cut_which_itself_stays():
    inside = BinaryRelevancePerceptron(random_state=0, epochs=3)
    base = ThresholdedRanker(inside, random_state=0).fit(X, Y)
    tuned = base.threshold_
    i = int(np.flatnonzero(base.predict(X).any(axis=1))[0])
    member = int(base.predict(X[[i]])[0].argmax())
    ranker = CorrectedRanker(base)
    ranker.learn_arcs(X[[i]], Arcs.of([(0, None, member)], n_rows=1, n_labels=4))
    assert ranker.predict(X[[i]])[0, member] == 0
    assert base.threshold_ == tuned
    base.partial_fit(X, 1 - Y)
    assert base.threshold_ == tuned
