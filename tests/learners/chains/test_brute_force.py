"""Chains against the same mathematics by trying every path, written for reading."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as ScikitChain
from sklearn.naive_bayes import GaussianNB

from labelrank import (
    ChainEnsemble,
    ChainSearch,
    ClassifierChain,
    IndependentClassifiers,
    MonteCarloClassifierChain,
    ProbabilisticClassifierChain,
    ViterbiClassifierChain,
)
from labelrank.errors import InputError

CHAINS = (
    IndependentClassifiers,
    ClassifierChain,
    ProbabilisticClassifierChain,
    MonteCarloClassifierChain,
    ViterbiClassifierChain,
)
BASES = {
    "logistic-fast": "logistic-fast",
    "logistic": LogisticRegression(),
    "forest": RandomForestClassifier(n_estimators=10, max_depth=3, random_state=0),
    "bayes": GaussianNB(),
}


def problem(sizes, n=60, d=4, seed=0):
    """Columns that depend on x and on the column before; every class occurs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = np.empty((n, len(sizes)), dtype=int)
    for c, size in enumerate(sizes):
        before = Y[:, c - 1] if c else 0
        noise = rng.normal(scale=1.5, size=n)
        Y[:, c] = np.digitize(X[:, c % d] + 0.7 * before + noise, np.linspace(-1, 2, size - 1))
        Y[:size, c] = np.arange(size)
    return X, Y


def all_vectors(chain):
    return np.array(list(itertools.product(*chain.column_classes_)))


def best_by_trying_all(chain, X):
    """The most probable target of each instance, and its log probability, by brute force."""
    vectors = all_vectors(chain)
    log = np.stack([chain.log_joint(X, np.tile(v, (len(X), 1))) for v in vectors], axis=1)
    return vectors[log.argmax(axis=1)], log


def slow_log_joint(chain, x, y):
    """Left to right, one link and one instance at a time, through predict_proba."""
    codes = [list(chain.column_classes_[c]).index(value) for c, value in enumerate(y)]
    total = 0.0
    for position, column in enumerate(chain.order_):
        features = list(x)
        for c in chain.parents(chain.order_, position):
            size = len(chain.column_classes_[c])
            features += [codes[c]] if size == 2 else [float(codes[c] == k) for k in range(size)]
        link = chain.estimators_[position]
        proba = dict(zip(link.classes_, link.predict_proba([features])[0], strict=True))
        total += np.log(proba.get(codes[column], 0.0) or 1e-320)
    return total


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", CHAINS)
def test_log_joint_is_the_product_of_the_links(kind, base):
    X, Y = problem([2, 3, 2, 4])
    chain = kind(BASES[base], random_state=0)
    if kind is not IndependentClassifiers:
        chain.set_params(order=[2, 0, 3, 1])
    chain.fit(X, Y)
    expected = [slow_log_joint(chain, x, y) for x, y in zip(X[:8], Y[:8], strict=True)]
    np.testing.assert_allclose(chain.log_joint(X[:8], Y[:8]), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", CHAINS)
def test_log_joint_is_a_distribution(kind):
    X, Y = problem([3, 2, 4])
    chain = kind(random_state=0).fit(X, Y)
    _, log = best_by_trying_all(chain, X[:5])
    np.testing.assert_allclose(np.exp(log).sum(axis=1), 1.0, rtol=1e-9)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("sizes", [(2, 2, 2, 2, 2), (2, 3, 4), (4, 3, 2, 3)])
@pytest.mark.parametrize("kind", [ViterbiClassifierChain, ProbabilisticClassifierChain])
def test_no_vector_is_more_probable_than_the_predicted_one(kind, sizes, base):
    X, Y = problem(sizes)
    chain = kind(BASES[base], order="random", targets="classes", random_state=3).fit(X, Y)
    _, log = best_by_trying_all(chain, X)
    np.testing.assert_allclose(chain.log_joint(X, chain.predict(X)), log.max(axis=1), rtol=1e-9)


def test_greedy_is_sometimes_less_probable_than_exact():
    X, Y = problem([2] * 6, n=200)
    greedy = ClassifierChain().fit(X, Y)
    exact = ProbabilisticClassifierChain().fit(X, Y)
    gain = exact.log_joint(X, exact.predict(X)) - exact.log_joint(X, greedy.predict(X))
    assert gain.min() >= -1e-12
    assert gain.max() > 1e-3


def test_branch_and_bound_visits_fewer_nodes_than_brute_force_and_says_how_many():
    X, Y = problem([2] * 10, n=100)
    chain = ProbabilisticClassifierChain().fit(X, Y)
    found = chain.explore(X)
    assert found.n_all == 2**10 - 1
    assert (found.n_nodes >= 10).all()
    assert found.n_nodes.mean() < found.n_all / 4
    np.testing.assert_allclose(found.log_joint, chain.log_joint(X, found.codes), rtol=1e-9)


def test_exact_inference_refuses_too_many_paths_in_one_sentence():
    X, Y = problem([2] * 12)
    chain = ProbabilisticClassifierChain(max_paths=1000)
    with pytest.raises(InputError, match=r"4.1e\+03 paths.*max_paths=1000; use inference='beam'"):
        chain.fit(X, Y)
    chain.set_params(inference="beam").fit(X, Y).predict(X)


def test_a_wide_beam_is_exact_and_a_beam_of_one_is_greedy():
    X, Y = problem([2, 3, 2, 2], n=100)
    exact = ProbabilisticClassifierChain().fit(X, Y)
    beam = ProbabilisticClassifierChain(inference="beam", beam_width=24).fit(X, Y)
    narrow = ProbabilisticClassifierChain(inference="beam", beam_width=1).fit(X, Y)
    np.testing.assert_array_equal(beam.predict(X), exact.predict(X))
    np.testing.assert_array_equal(narrow.predict(X), ClassifierChain().fit(X, Y).predict(X))


def test_epsilon_inference_finds_every_best_path_above_epsilon_with_fewer_nodes():
    X, Y = problem([2] * 9, n=150)
    exact = ProbabilisticClassifierChain().fit(X, Y).explore(X)
    rough = ProbabilisticClassifierChain(inference="epsilon", epsilon=0.05).fit(X, Y).explore(X)
    likely = exact.log_joint >= np.log(0.05)
    assert 0 < likely.sum() < len(X)
    np.testing.assert_array_equal(rough.codes[likely], exact.codes[likely])
    assert rough.n_nodes.sum() < exact.n_nodes.sum()


def test_monte_carlo_converges_to_the_exact_answer():
    X, Y = problem([2, 3, 2, 2, 2], n=150)
    exact = ProbabilisticClassifierChain().fit(X, Y)
    best = exact.log_joint(X, exact.predict(X))
    gaps = []
    for n_samples in (1, 10, 100, 3000):
        chain = MonteCarloClassifierChain(n_samples=n_samples, random_state=0).fit(X, Y)
        gaps.append((best - exact.log_joint(X, chain.predict(X))).mean())
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 0.005
    assert gaps[-1] < 1e-12


def test_monte_carlo_finds_no_path_less_probable_than_the_greedy_one():
    X, Y = problem((2, 3, 2, 2, 3))
    greedy = ClassifierChain(targets="classes").fit(X, Y)
    sampled = MonteCarloClassifierChain(n_samples=1, targets="classes", random_state=0).fit(X, Y)
    paths = greedy.predict(X), sampled.predict(X)
    assert (paths[0] != paths[1]).any()
    log = [greedy.log_joint(X, path) for path in paths]
    assert (log[1] >= log[0] - 1e-9).all()


def test_monte_carlo_repeats_with_its_seed_and_row_by_row():
    X, Y = problem([2] * 8, n=80)
    chain = MonteCarloClassifierChain(n_samples=5, random_state=1).fit(X, Y)
    again = MonteCarloClassifierChain(n_samples=5, random_state=1).fit(X, Y)
    np.testing.assert_array_equal(chain.predict(X), again.predict(X))
    one_by_one = np.vstack([chain.predict(x[None]) for x in X])
    np.testing.assert_array_equal(chain.predict(X), one_by_one)


def test_sampled_marginals_approach_the_true_ones():
    X, Y = problem([2, 2, 3, 2], n=60)
    chain = MonteCarloClassifierChain(n_samples=5000, random_state=0).fit(X, Y)
    vectors = all_vectors(chain)
    _, log = best_by_trying_all(chain, X[:6])
    for c, proba in enumerate(chain.predict_proba(X[:6])):
        for k in range(proba.shape[1]):
            expected = np.exp(log)[:, vectors[:, c] == k].sum(axis=1)
            np.testing.assert_allclose(proba[:, k], expected, atol=0.02)


def test_viterbi_marginals_are_exact():
    X, Y = problem([2, 4, 3], n=60)
    chain = ViterbiClassifierChain(order=[1, 2, 0]).fit(X, Y)
    vectors = all_vectors(chain)
    _, log = best_by_trying_all(chain, X[:6])
    for c, proba in enumerate(chain.predict_proba(X[:6])):
        for k in range(proba.shape[1]):
            expected = np.exp(log)[:, vectors[:, c] == k].sum(axis=1)
            np.testing.assert_allclose(proba[:, k], expected, rtol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_greedy_chain_predicts_as_scikit_learns(sparse):
    X, Y = problem([2] * 7, n=120)
    X = sp.csr_array(np.where(X > 0, X, 0)) if sparse else X
    order = [3, 1, 0, 6, 5, 2, 4]
    for base in (LogisticRegression(), GaussianNB() if not sparse else LogisticRegression(C=0.1)):
        ours = ClassifierChain(base, order=order).fit(X, Y)
        theirs = ScikitChain(base, order=order).fit(X, Y)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)


def test_cross_validated_training_is_scikit_learns():
    X, Y = problem([2] * 4, n=120)
    ours = ClassifierChain(LogisticRegression(), cv=3).fit(X, Y)
    theirs = ScikitChain(LogisticRegression(), cv=3).fit(X, Y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    assert (
        ours.predict_proba(X) != ClassifierChain(LogisticRegression()).fit(X, Y).predict_proba(X)
    ).any()


class Counting(ClassifierMixin, BaseEstimator):
    """A Gaussian naive Bayes that counts the calls of predict_proba."""

    calls = 0

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        Counting.calls += 1
        return self.model_.predict_proba(X)


@pytest.mark.parametrize(
    ("kind", "calls"),
    [
        (IndependentClassifiers(), 4),
        (ClassifierChain(), 4),
        (MonteCarloClassifierChain(n_samples=50, random_state=0), 4),
        (ViterbiClassifierChain(), 1 + 2 + 3 + 2),
        (ProbabilisticClassifierChain(), 4 + 4),
    ],
)
def test_inference_costs_calls_by_link_not_by_instance(kind, calls):
    X, Y = problem([2, 3, 2, 4], n=90)
    chain = kind.set_params(estimator=Counting()).fit(X, Y)
    Counting.calls = 0
    chain.predict(X)
    assert Counting.calls == calls


@pytest.mark.parametrize(
    ("kind", "calls"),
    [
        (ClassifierChain(), 5),
        (MonteCarloClassifierChain(n_samples=50, random_state=0), 5),
        (ViterbiClassifierChain(), 1 + 4 * 2),
        (ProbabilisticClassifierChain(), 5 + 5 + 5),
        (ChainSearch(ViterbiClassifierChain(Counting()), n_chains=2, random_state=0), 1 + 4 * 2),
        (ChainEnsemble(ClassifierChain(Counting()), n_chains=3, random_state=0), 3 * 5),
    ],
)
def test_scores_and_sets_come_from_one_decoding(kind, calls):
    X, Y = problem([2] * 5, n=90)
    if isinstance(kind, ClassifierChain):
        kind.set_params(estimator=Counting())
    chain = kind.fit(X, Y)
    for ask in (chain.rank, chain.answer):
        Counting.calls = 0
        ask(X)
        assert Counting.calls == calls


def test_a_swap_in_a_viterbi_chain_retrains_only_the_links_beside_it():
    X, Y = problem([2] * 8, n=90)
    one = ChainSearch(ViterbiClassifierChain(), n_chains=1, proposal="swap", random_state=0)
    two = ChainSearch(ViterbiClassifierChain(), n_chains=2, proposal="swap", random_state=0)
    assert one.fit(X, Y).n_links_trained_ == 8
    assert 8 < two.fit(X, Y).n_links_trained_ <= 12


@pytest.mark.parametrize("kind", [ClassifierChain, ViterbiClassifierChain])
def test_links_shared_between_orders_answer_as_if_trained_afresh(kind):
    X, Y = problem([2, 3, 2, 2], n=150)
    base = LogisticRegression(tol=1e-8, max_iter=1000)
    search = ChainSearch(kind(base), n_chains=12, payoff="log_likelihood", random_state=0)
    search.fit(X, Y)
    assert search.n_links_trained_ < 12 * 4
    shuffled = np.random.RandomState(0).permutation(len(X))
    held, rest = shuffled[:50], shuffled[50:]
    for order, payoff in zip(search.orders_, search.payoffs_, strict=True):
        alone = kind(base, order=order, targets="classes").fit(X[rest], Y[rest])
        assert payoff == pytest.approx(alone.log_joint(X[held], Y[held]).mean(), rel=1e-4)
    best = search.orders_[search.payoffs_.argmax()]
    np.testing.assert_array_equal(search.order_, best)
    refit = kind(base, order=best).fit(X, Y)
    np.testing.assert_array_equal(search.predict(X), refit.predict(X))


def test_an_ensemble_votes_by_the_paths_of_its_chains():
    X, Y = problem([2, 2, 3, 2], n=100)
    ensemble = ChainEnsemble(n_chains=7, random_state=0).fit(X, Y)
    assert len({tuple(order) for order in ensemble.order_}) > 1
    votes = np.stack([chain.predict(X) for chain in ensemble.estimators_])
    for c, size in enumerate([2, 2, 3, 2]):
        counts = np.stack([(votes[:, :, c] == k).sum(axis=0) for k in range(size)], axis=1)
        np.testing.assert_array_equal(ensemble.predict(X)[:, c], counts.argmax(axis=1))
    mixture = np.mean([np.exp(chain.log_joint(X, Y)) for chain in ensemble.estimators_], axis=0)
    np.testing.assert_allclose(ensemble.log_joint(X, Y), np.log(mixture))
