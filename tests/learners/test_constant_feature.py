"""Perceptrons with `fit_intercept` are those of the data with one more feature, always 1."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import (
    BinaryRelevancePerceptron,
    MulticlassMultilabelPerceptron,
    PairwisePerceptron,
    persistence,
)
from labelrank.errors import InputError

MAKERS = {
    "BR": lambda **more: BinaryRelevancePerceptron(epochs=3, random_state=0, **more),
    "BR averaged": lambda **more: BinaryRelevancePerceptron(
        epochs=3, averaging="averaged", step="pa", random_state=0, **more
    ),
    "BR random": lambda **more: BinaryRelevancePerceptron(init="random", random_state=0, **more),
    "MMP": lambda **more: MulticlassMultilabelPerceptron(epochs=3, random_state=0, **more),
    "primal": lambda **more: PairwisePerceptron(
        representation="primal", epochs=3, random_state=0, **more
    ),
    "primal averaged": lambda **more: PairwisePerceptron(
        representation="primal", averaging="averaged", step="pa", random_state=0, **more
    ),
    "dual": lambda **more: PairwisePerceptron(
        representation="dual", epochs=3, random_state=0, **more
    ),
    "quick": lambda **more: PairwisePerceptron(
        inference="quick", tie_break=None, random_state=0, **more
    ),
    "soft votes": lambda **more: PairwisePerceptron(voting="weighted", random_state=0, **more),
}


def problem(n=60, d=5, K=20, seed=0):
    """Whole numbers, so that sums are exact in any order; the features say little of the sizes."""
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, size=(n, d)).astype(float)
    Y = (X @ random.normal(size=(d, K)) > random.normal(size=K) + 4).astype(int)
    return X, Y


def with_ones(X):
    return np.hstack([X, np.ones((len(X), 1))])


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def test_a_constant_is_a_feature_that_is_always_1(make):
    X, Y = problem()
    ours = make(fit_intercept=True).fit(X, Y)
    appended = make().fit(with_ones(X), Y)
    found, wanted = ours.decision_function(X), appended.decision_function(with_ones(X))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), appended.predict(with_ones(X)))
    assert not np.array_equal(found, make().fit(X, Y).decision_function(X))


def test_dense_and_sparse_rows_learn_the_same_constant(make):
    X, Y = problem()
    dense, sparse = make(fit_intercept=True).fit(X, Y), make(fit_intercept=True)
    sparse.fit(sp.csr_array(X), sp.csr_array(Y))
    np.testing.assert_array_equal(dense.decision_function(X), sparse.decision_function(X))


def test_pieces_equal_the_whole_with_a_constant(make):
    X, Y = problem()
    whole = make(fit_intercept=True, shuffle=False)
    if whole.epochs > 1:
        whole.set_params(epochs=1)
    whole.fit(X, Y)
    pieces = make(fit_intercept=True)
    for rows in (slice(0, 1), slice(1, 40), slice(40, 60)):
        pieces.partial_fit(X[rows], Y[rows])
    np.testing.assert_array_equal(whole.decision_function(X), pieces.decision_function(X))


def test_saved_learners_keep_their_constant(make, tmp_path):
    X, Y = problem()
    learner = make(fit_intercept=True).fit(X, Y)
    loaded = persistence.load(persistence.save(learner, tmp_path / "m"))
    np.testing.assert_array_equal(loaded.decision_function(X), learner.decision_function(X))
    again = loaded.partial_fit(X[:5], Y[:5]).decision_function(X)
    np.testing.assert_array_equal(again, learner.partial_fit(X[:5], Y[:5]).decision_function(X))


@pytest.mark.parametrize("name", ["BR", "BR averaged", "MMP"])
def test_reasons_tell_the_constant_and_sum_to_the_score(name):
    X, Y = problem()
    learner = MAKERS[name](fit_intercept=True).fit(X, Y)
    score = learner.decision_function(X[:1])[0, 3]
    reason = learner.why(X[0], 3)
    assert reason.constant == pytest.approx(learner.intercept_[3]) != 0
    assert reason.margin == pytest.approx(score, abs=1e-5)
    assert len(reason.features) == np.count_nonzero(X[0])
    scores = X @ learner.coef_.T + learner.intercept_
    np.testing.assert_allclose(scores, learner.decision_function(X), atol=1e-4)
    assert MAKERS[name]().fit(X, Y).intercept_.tolist() == [0.0] * 20


@pytest.mark.parametrize("name", ["primal", "primal averaged", "dual"])
def test_reasons_of_a_duel_tell_its_constant(name):
    X, Y = problem()
    learner = MAKERS[name](fit_intercept=True).fit(X, Y)
    duels = learner.duels(X[:1])[0]
    for over, place in ((None, 20), (7, 7)):
        reason = learner.why(X[0], 3, over=over)
        assert reason.margin == pytest.approx(duels[3, place], abs=1e-4)
    assert any(learner.why(X[0], 3, over=k).constant for k in range(20) if k != 3)


def test_new_labels_join_with_a_constant():
    X, Y = problem()
    unknown = Y.astype(float)
    unknown[:40, 15:] = np.nan
    options = dict(fit_intercept=True, shuffle=False)
    reference = BinaryRelevancePerceptron(**options).fit(X, unknown)
    learner = BinaryRelevancePerceptron(**options).partial_fit(X[:40], Y[:40, :15])
    learner.partial_fit(X[40:], Y[40:], classes=np.arange(20))
    np.testing.assert_array_equal(reference.intercept_, learner.intercept_)
    np.testing.assert_array_equal(reference.coef_, learner.coef_)


@pytest.mark.parametrize("more", [{"kernel": "rbf"}, {"shortlist": ("centroid", 3)}])
def test_a_constant_among_other_features_is_refused(more):
    X, Y = problem()
    with pytest.raises(InputError, match="use fit_intercept=False"):
        PairwisePerceptron(fit_intercept=True, **more).fit(X, Y)


def test_the_forecast_knows_of_the_constant():
    X, Y = problem()
    ours = PairwisePerceptron(fit_intercept=True).forecast(X, Y)
    assert ours == PairwisePerceptron().forecast(with_ones(X), Y)
