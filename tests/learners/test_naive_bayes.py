"""Naive Bayes against scikit-learn's, one label at a time, and against the lecture's formulas."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from labelrank import NaiveBayesRanker
from labelrank.errors import InputError

THEIRS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB}


def problem(n=150, d=12, K=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.poisson(0.8, (n, d)) * random.choice([1.0, 0.37], (n, d))
    return X, (random.random((n, K)) < 0.3).astype(int)


@pytest.mark.parametrize("event_model", THEIRS)
@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize("fit_prior", [True, False])
def test_log_odds_are_those_of_one_binary_model_a_label(event_model, alpha, fit_prior):
    X, Y = problem()
    base = THEIRS[event_model](alpha=alpha, fit_prior=fit_prior)
    ours = NaiveBayesRanker(event_model, alpha=alpha, scores="log_odds", fit_prior=fit_prior)
    ours.fit(X, Y)
    for k in range(Y.shape[1]):
        joint = base.fit(X, Y[:, k]).predict_joint_log_proba(X)
        np.testing.assert_allclose(ours.decision_function(X)[:, k], joint[:, 1] - joint[:, 0])
    theirs = OneVsRestClassifier(base).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))


@pytest.mark.parametrize("event_model", THEIRS)
def test_posteriors_of_classes_are_scikit_learns(event_model):
    X, Y = problem()
    y = np.array(["a", "b", "c"])[Y[:, :2].sum(axis=1)]
    ours, theirs = NaiveBayesRanker(event_model).fit(X, y), THEIRS[event_model]().fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.predict_log_proba(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_posteriors_of_labels_count_a_document_for_each_of_its_labels():
    X, Y = problem()
    rows, labels = np.nonzero(Y)
    theirs = MultinomialNB().fit(X[rows], labels)
    ours = NaiveBayesRanker().fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.predict_log_proba(X))


def test_laplace_correction_by_hand():
    """Three documents, four words: p(w | c) = (n_wc + 1) / (sum of n_wc + 4)."""
    X = np.array([[2, 1, 0, 0], [0, 1, 0, 1], [0, 0, 3, 1]])
    learner = NaiveBayesRanker(fit_prior=False).fit(X, [[1, 0], [1, 0], [0, 1]])
    first, second = np.array([3, 3, 1, 2]) / 9, np.array([1, 1, 4, 2]) / 8
    document = np.array([1, 2, 0, 1])
    likelihood = np.array([np.prod(first**document), np.prod(second**document)])
    np.testing.assert_allclose(learner.predict_proba([document]), [likelihood / likelihood.sum()])


def test_binary_model_by_hand():
    """A word that is not there counts as well: p(t | c) = (documents with t + 1) / (n_c + 2)."""
    X = np.array([[2, 1, 0], [0, 1, 0], [0, 0, 3]])
    learner = NaiveBayesRanker("bernoulli", fit_prior=False).fit(X, [[1, 0], [1, 0], [0, 1]])
    first, second = np.array([2, 3, 1]) / 4, np.array([1, 1, 2]) / 3
    present = np.array([True, False, True])
    likelihood = [np.where(present, p, 1 - p).prod() for p in (first, second)]
    expected = np.array(likelihood) / np.sum(likelihood)
    np.testing.assert_allclose(learner.predict_proba([[5, 0, 1]]), [expected])


def test_the_length_of_a_document_has_its_own_likelihood():
    X, Y = problem()
    plain = NaiveBayesRanker(scores="log_odds").fit(X, Y)
    ours = NaiveBayesRanker("multinomial_length", scores="log_odds").fit(X, Y)
    lengths = np.log1p(X.sum(axis=1))
    for k in range(Y.shape[1]):
        log_density = []
        for members in (Y[:, k] > 0, Y[:, k] == 0):
            n = members.sum()
            mean = (lengths[members].sum() + lengths.mean()) / (n + 1)
            square = ((lengths[members] ** 2).sum() + (lengths**2).mean()) / (n + 1)
            log_density.append(norm.logpdf(lengths, mean, np.sqrt(square - mean**2)))
        expected = plain.decision_function(X)[:, k] + log_density[0] - log_density[1]
        np.testing.assert_allclose(ours.decision_function(X)[:, k], expected)


@pytest.mark.parametrize("event_model", ["multinomial", "bernoulli", "multinomial_length"])
@pytest.mark.parametrize("scores", ["posterior", "log_odds"])
def test_pieces_equal_the_whole_to_the_last_bit(event_model, scores):
    X, Y = problem()
    whole = NaiveBayesRanker(event_model, scores=scores).fit(X, Y)
    pieces = NaiveBayesRanker(event_model, scores=scores)
    for rows in np.array_split(np.arange(len(X)), 7):
        pieces.partial_fit(X[rows], Y[rows])
    np.testing.assert_array_equal(whole.decision_function(X), pieces.decision_function(X))


def test_unknown_labels_are_as_if_the_document_were_not_there():
    X, Y = problem()
    unknown = Y.astype(float)
    unknown[::4, 1] = np.nan
    kept = np.arange(len(X)) % 4 > 0
    ours = NaiveBayesRanker(scores="log_odds").fit(X, unknown).decision_function(X)
    alone = NaiveBayesRanker(scores="log_odds").fit(X[kept], Y[kept]).decision_function(X)
    np.testing.assert_allclose(ours[:, 1], alone[:, 1])


def test_new_labels_join_as_if_unknown_before():
    X, Y = problem()
    late = NaiveBayesRanker(scores="log_odds").partial_fit(X[:50], Y[:50, :3])
    late.partial_fit(X[50:], Y[50:], classes=np.arange(5))
    unknown = Y.astype(float)
    unknown[:50, 3:] = np.nan
    expected = NaiveBayesRanker(scores="log_odds").fit(X, unknown)
    np.testing.assert_allclose(late.decision_function(X), expected.decision_function(X))


def test_a_label_never_seen_comes_last_and_scores_stay_finite():
    X, Y = problem()
    Y[:, 0] = 0
    learner = NaiveBayesRanker().fit(X, Y)
    assert np.isfinite(learner.decision_function(X)).all()
    assert (learner.rank(X)[:, -1] == 0).all()


def test_probabilities_of_log_odds_are_their_logistic():
    X, Y = problem()
    learner = NaiveBayesRanker(scores="log_odds").fit(X, Y)
    np.testing.assert_allclose(learner.predict_proba(X), expit(learner.decision_function(X)))


def test_negative_counts_are_refused():
    with pytest.raises(InputError, match="Negative values"):
        NaiveBayesRanker().fit([[1.0, -1.0], [1.0, 0.0]], [[1, 0], [0, 1]])


def test_posteriors_count_the_length_of_a_document_too():
    X, Y = problem()
    plain = NaiveBayesRanker().fit(X, Y).decision_function(X)
    ours = NaiveBayesRanker("multinomial_length").fit(X, Y).decision_function(X)
    lengths = np.log1p(X.sum(axis=1))
    for k in range(Y.shape[1]):
        n, own = Y[:, k].sum(), lengths[Y[:, k] > 0]
        mean = (own.sum() + lengths.mean()) / (n + 1)
        square = ((own**2).sum() + (lengths**2).mean()) / (n + 1)
        plain[:, k] += norm.logpdf(lengths, mean, np.sqrt(square - mean**2))
    expected = plain - np.logaddexp.reduce(plain, axis=1, keepdims=True)
    np.testing.assert_allclose(ours, expected)


def test_lengths_that_are_all_the_same_keep_a_variance():
    X, Y = np.array([[2.0, 1.0], [1.0, 2.0], [3.0, 0.0], [0.0, 3.0]]), np.eye(2)[[0, 0, 1, 1]]
    ours = NaiveBayesRanker("multinomial_length", scores="log_odds", alpha=1e-9).fit(X, Y)
    query = np.array([[2.0, 2.0]])
    plain = NaiveBayesRanker(scores="log_odds", alpha=1e-9).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(query), plain.decision_function(query))
    longer, same = (ours._model.length[1], np.full(2, 1e-4))
    np.testing.assert_allclose(longer, same)


@pytest.mark.parametrize("event_model", ["multinomial", "bernoulli", "multinomial_length"])
def test_posteriors_take_unknown_labels_for_unknown_and_not_for_irrelevant(event_model):
    """A label that half of the documents do not know is as frequent as in the other half."""
    X, Y = problem()
    twice, unknown = np.vstack([X, X]), np.vstack([Y, Y]).astype(float)
    unknown[len(X) :, 1] = np.nan
    ours = NaiveBayesRanker(event_model, alpha=1e-9).fit(twice, unknown)
    known = NaiveBayesRanker(event_model, alpha=1e-9).fit(twice, np.vstack([Y, Y]))
    np.testing.assert_allclose(ours.decision_function(X), known.decision_function(X), rtol=1e-6)


def test_sanitised_posteriors_are_the_printed_formula():
    X, Y = problem()
    learner = NaiveBayesRanker().fit(X, Y)
    p, found = learner.predict_proba(X), learner.sanitised(X)
    near = p < 0.95
    np.testing.assert_allclose(found[near], (1 / (1 + np.exp(-(p / (1 - p)))))[near])
    assert ((found >= 0.5) & (found <= 1)).all()
    assert (np.diff(np.take_along_axis(found, learner.rank(X), axis=1), axis=1) <= 0).all()
