"""Pairwise perceptrons against the same perceptrons kept one by one in a dictionary."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import BinaryRelevancePerceptron, PairwisePerceptron, preferences
from labelrank import resources as memory
from labelrank.errors import InputError
from labelrank.learners.pairwise import forecast
from labelrank.learners.pairwise.mistakes import DualPairScorer
from labelrank.learners.pairwise.scorer import UpdateRule, quick_voting
from labelrank.learners.pairwise.weights import PrimalPairScorer
from labelrank.relevance import check_relevance
from labelrank.rows import as_rows


class OneByOne:
    """Fig. 3 of Loza Mencía & Fürnkranz 2008, with the options of the library."""

    def __init__(self, d, K, *, calibrated, ordered, margin=None, step="perceptron", C=1.0):
        self.width = K + calibrated
        self.preferences = PairwisePerceptron(calibrated=calibrated, ordered=ordered).preferences
        self.margin, self.step, self.C = margin, step, C
        self.pairs = list(itertools.combinations(range(self.width), 2))
        self.w = {pair: np.zeros(d) for pair in self.pairs}
        self.history = {pair: [] for pair in self.pairs}
        self.trained = self.mistakes = 0

    def arcs(self, grades):
        listed = preferences.arcs(grades[None], self.preferences)
        return zip(listed.better.tolist(), listed.worse.tolist(), strict=True)

    def length(self, s, y, x):
        """How far w moves along y x, or None where it stays."""
        if self.step == "pa":
            loss = 1 - y * s
            return min(self.C, loss / (x @ x)) if loss > 0 and x.any() else None
        prediction = 1 if s >= 0 else -1
        wrong = prediction != y if self.margin is None else y * s <= self.margin
        return 2.0 if wrong else None

    def learn(self, X, Y):
        for x, grades in zip(X, Y, strict=True):
            for better, worse in self.arcs(grades):
                pair, y = (min(better, worse), max(better, worse)), 1 if better < worse else -1
                length = self.length(x @ self.w[pair], y, x)
                self.trained += 1
                if length is not None:
                    self.mistakes += 1
                    self.w[pair] = self.w[pair] + length * y * x
                self.history[pair].append(self.w[pair])

    def margins(self, X, averaged=False):
        found = np.zeros((len(X), self.width, self.width))
        for u, v in self.pairs:
            w = np.mean(self.history[u, v] or [self.w[u, v]], axis=0) if averaged else self.w[u, v]
            found[:, u, v] = X @ w
            found[:, v, u] = -found[:, u, v]
        return found

    def votes(self, X):
        won = self.margins(X) > 0
        for u, v in self.pairs:
            won[:, u, v] |= self.margins(X)[:, u, v] == 0
        return won.sum(axis=2)


def whole_numbers(seed, n=40, d=7, K=6, unknown=0.1):
    """Small whole numbers: every sum is exact in float32."""
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, (n, d)) * (random.random((n, d)) < 0.6)
    Y = (random.random((n, K)) < 0.3) * random.integers(1, 4, (n, K)).astype(float)
    Y[random.random((n, K)) < unknown] = np.nan
    return X.astype(float), Y


def both(X, Y, epochs=1, **options):
    slow = OneByOne(X.shape[1], Y.shape[1], **options)
    for _ in range(epochs):
        slow.learn(X, Y)
    learner = PairwisePerceptron(
        representation="primal", tie_break=None, shuffle=False, epochs=epochs, **options
    )
    return learner, slow


@pytest.mark.parametrize("K", [1, 2, 6, 18])
@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("margin", [None, 0, 2.0])
def test_duels_votes_and_operations_are_exact(K, epochs, calibrated, ordered, margin):
    X, Y = whole_numbers(K + epochs, K=K)
    learner, slow = both(X, Y, epochs, calibrated=calibrated, ordered=ordered, margin=margin)
    learner.fit(X, Y)
    assert learner.n_operations_["train"] == slow.trained + slow.mistakes
    np.testing.assert_array_equal(learner.duels(X), slow.margins(X))
    votes, sums = learner.scorer_.votes(as_rows(X))
    np.testing.assert_array_equal(votes, slow.votes(X))
    np.testing.assert_array_equal(sums, slow.margins(X).sum(axis=2))
    scores = votes[:, :-1] - votes[:, -1:] if calibrated else votes
    met = X.any(axis=1)  # of the others nothing is known
    np.testing.assert_array_equal(learner.decision_function(X)[met], scores[met])
    width = K + calibrated
    assert learner.n_operations_["predict"] == width * (width - 1) // 2


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_dense_input_are_the_same(form, dtype):
    X, Y = whole_numbers(2)
    learner, slow = both(X, Y, calibrated=True, ordered=False)
    learner.fit(form(X.astype(dtype)), sp.csr_array(Y))
    np.testing.assert_array_equal(learner.duels(form(X.astype(dtype))), slow.margins(X))


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("averaged", [True, False])
def test_passive_aggressive_steps_agree(calibrated, averaged):
    random = np.random.default_rng(4)
    X, Y = random.normal(size=(60, 5)), (random.random((60, 9)) < 0.3).astype(float)
    learner, slow = both(X, Y, 2, calibrated=calibrated, ordered=False, step="pa", C=0.3)
    learner.set_params(averaging="averaged" if averaged else None).fit(X, Y)
    assert learner.n_operations_["train"] == slow.trained + slow.mistakes
    np.testing.assert_allclose(learner.duels(X), slow.margins(X, averaged), atol=2e-4)


@pytest.mark.parametrize("ordered", [True, False])
def test_averaged_weights_are_the_mean_after_each_example_of_the_pair(ordered):
    X, Y = whole_numbers(5, K=9)
    learner, slow = both(X, Y, 2, calibrated=True, ordered=ordered)
    learner.set_params(averaging="averaged").fit(X, Y)
    wanted = slow.margins(X, averaged=True)
    np.testing.assert_allclose(learner.duels(X), wanted, atol=1e-4)
    votes, sums = learner.scorer_.votes(as_rows(X))
    np.testing.assert_allclose(sums, wanted.sum(axis=2), atol=1e-3)
    upper = np.triu(np.ones(wanted.shape[1:], bool), 1)
    margins = learner.duels(X)
    won = (margins > 0) | ((margins == 0) & upper)
    np.testing.assert_array_equal(votes, won.sum(axis=2))


def test_until_no_error_stops_at_the_first_clean_epoch():
    X, Y = np.eye(6), np.eye(6)[:, ::-1]
    learner = PairwisePerceptron(until_no_error=True, random_state=0).fit(X, Y)
    assert learner.n_mistakes_ == 0
    assert 1 < learner.n_epochs_ < 10
    np.testing.assert_array_equal(learner.predict(X), Y)


@pytest.mark.parametrize("averaging", [None, "averaged"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_until_no_error_is_as_many_epochs_though_pairs_without_error_rest(averaging, jobs):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(80, 60)), random.integers(0, 2, (80, 18))
    options = dict(averaging=averaging, representation="primal", random_state=0)
    resting = PairwisePerceptron(until_no_error=True, n_jobs=jobs, **options).fit(X, Y)
    plain = PairwisePerceptron(epochs=resting.n_epochs_, **options).fit(X, Y)
    assert resting.n_epochs_ > 5
    np.testing.assert_array_equal(resting.duels(X), plain.duels(X))
    if averaging is None:
        assert resting.n_operations_["train"] < plain.n_operations_["train"]


@pytest.mark.parametrize("init", ["zeros", "random"])
@pytest.mark.parametrize("averaging", [None, "averaged"])
def test_pairs_with_the_threshold_are_the_binary_relevance_perceptrons(init, averaging):
    X, Y = whole_numbers(6, K=20, unknown=0)
    options = dict(epochs=3, init=init, averaging=averaging, random_state=3)
    pairwise = PairwisePerceptron(representation="primal", **options).fit(X, Y)
    one = BinaryRelevancePerceptron(**options).fit(X, Y)
    ours = np.array([pairwise.scorer_.weights(k, 20) for k in range(20)])
    np.testing.assert_allclose(ours, one.coef_, atol=1e-5)
    if init == "zeros" and not averaging:
        np.testing.assert_array_equal(ours, one.coef_)


@pytest.mark.parametrize("calibrated", [True, False])
def test_primal_and_dual_hold_the_same_duels(calibrated):
    X, Y = whole_numbers(7, K=11)
    options = dict(calibrated=calibrated, epochs=2, random_state=1)
    primal = PairwisePerceptron(representation="primal", **options).fit(X, Y)
    dual = PairwisePerceptron(representation="dual", **options).fit(X, Y)
    np.testing.assert_array_equal(primal.duels(X), dual.duels(X))
    np.testing.assert_array_equal(primal.decision_function(X), dual.decision_function(X))
    assert primal.n_operations_ == dual.n_operations_


def test_one_row_of_duels_is_that_row_of_all_duels():
    X, Y = whole_numbers(8, K=18)
    learner = PairwisePerceptron(representation="primal", random_state=0).fit(X, Y)
    random = np.random.default_rng(0)
    rows, labels = random.integers(0, len(X), 60), random.integers(0, 19, 60)
    found = learner.scorer_.duels_of(as_rows(X), rows, labels)
    np.testing.assert_array_equal(found, learner.duels(X)[rows, labels])


@pytest.mark.parametrize("averaging", [None, "averaged"])
def test_weights_times_the_instance_are_the_duel(averaging):
    X, Y = whole_numbers(9, K=18)
    learner = PairwisePerceptron(averaging=averaging, representation="primal").fit(X, Y)
    duels = learner.duels(X)
    for u, v in [(0, 1), (1, 0), (3, 17), (17, 18), (18, 2), (5, 5)]:
        found = X @ learner.scorer_.weights(u, v)
        np.testing.assert_allclose(found, duels[:, u, v], atol=1e-4)


def test_quick_voting_finds_the_same_set_in_the_same_order():
    X, Y = whole_numbers(10, n=80, K=18, unknown=0)
    options = dict(tie_break=None, representation="primal", random_state=0)
    full = PairwisePerceptron(**options).fit(X, Y)
    quick = PairwisePerceptron(inference="quick", **options).fit(X, Y)
    np.testing.assert_array_equal(quick.predict(X), full.predict(X))
    for x in X:
        size = full.predict([x]).sum()
        assert quick.rank([x])[0, :size].tolist() == full.rank([x])[0, :size].tolist()


def test_weights_that_cannot_be_held_are_refused_with_the_figures(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**20)
    with pytest.raises(InputError, match=r"0\.\d GiB, but 0\.0 GiB are available"):
        PrimalPairScorer(25_000, 103, calibrated=True, ordered=False)


@pytest.mark.parametrize(
    ("columns", "labels", "order"), [(6, 6, [0]), (7, 5, [0]), (7, 6, [40]), (7, 6, [-1])]
)
def test_the_door_refuses_what_would_corrupt_memory(columns, labels, order):
    X, Y = whole_numbers(0)
    scorer = PrimalPairScorer(7, 6, calibrated=True, ordered=False, rule=UpdateRule())
    with pytest.raises(InputError):
        scorer.course(as_rows(X[:, :columns]), check_relevance(Y[:, :labels]))(np.array(order))


def test_scores_and_rankings_of_quick_voting_are_those_of_full_voting():
    """Bounds, which are all that quick voting knows of labels outside the set, are no scores."""
    X, Y = whole_numbers(10, n=80, K=18, unknown=0)
    options = dict(tie_break=None, representation="primal", random_state=0)
    full = PairwisePerceptron(**options).fit(X, Y)
    quick = PairwisePerceptron(inference="quick", **options).fit(X, Y)
    np.testing.assert_array_equal(quick.decision_function(X), full.decision_function(X))
    np.testing.assert_array_equal(quick.rank(X), full.rank(X))
    assert quick.score(X, Y) == full.score(X, Y)
    assert (quick_voting(quick.scorer_, as_rows(X)).scores != full.decision_function(X)).any()


def test_weights_at_random_that_fit_nowhere_come_with_advice_that_helps(monkeypatch):
    X, Y = whole_numbers(0)
    monkeypatch.setattr(forecast, "available_bytes", lambda: 2**25)
    wide = sp.csr_array(sp.hstack([X, sp.csr_array((len(X), 300_000))]))
    with pytest.raises(InputError, match="use init='zeros'"):
        PairwisePerceptron(init="random").fit(wide, Y)
    learner = PairwisePerceptron(init="zeros").fit(wide, Y)
    assert isinstance(learner.scorer_, DualPairScorer)
