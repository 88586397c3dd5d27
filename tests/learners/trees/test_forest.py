"""A forest against trees grown slowly, and what holds of it on data whose answer is known."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import ForestRanker, persistence
from labelrank.errors import InputError, ModelFileError
from labelrank.kernels.forest import MORE, SLACK
from labelrank.kernels.random import uniform
from labelrank.learners.trees import forest


class SlowTree:
    """One tree by nested tuples: (feature, threshold, left, right), or the shares of a leaf."""

    def __init__(self, X, Y, n_cuts, min_leaf, seed):
        self.X, self.Y, self.n_cuts, self.min_leaf = X.astype(np.float32), Y, n_cuts, min_leaf
        self.seed, self.clock, self.features = seed, 0, list(range(X.shape[1]))
        self.is_sparse = np.count_nonzero(X) < forest.SPARSE * X.size
        self.prior = shares(Y, np.zeros(Y.shape[1]))
        self.root = self.grow(np.arange(len(X)))

    def grow(self, rows):
        Y = self.Y[rows]
        known, relevant = (~np.isnan(Y)).sum(axis=0), (Y > 0).sum(axis=0)
        mixed = ((relevant > 0) & (relevant < known)).any()
        cut = self.best(rows) if mixed and len(rows) >= 2 * self.min_leaf else None
        if cut is None:
            return shares(Y, self.prior)
        j, threshold = cut
        left = self.X[rows, j] <= threshold
        return (j, threshold, self.grow(rows[left]), self.grow(rows[~left]))

    def candidate(self, visited, rows):
        drawn = uniform(self.seed, self.clock, 0)
        if self.is_sparse:
            row = self.X[rows[int(drawn * len(rows))]]
            stored = np.flatnonzero(row)
            if not len(stored):
                return None
            return stored[int(uniform(self.seed, self.clock, 2) * len(stored))]
        place = visited + int(drawn * (len(self.features) - visited))
        f = self.features
        f[visited], f[place] = f[place], f[visited]
        return f[visited]

    def best(self, rows):
        found, worth, visited = None, -1.0, 0
        limit = self.n_cuts + MORE if self.is_sparse else len(self.features)
        while visited < limit and (visited < self.n_cuts or worth < 0):
            j = self.candidate(visited, rows)
            clock, self.clock, visited = self.clock, self.clock + 1, visited + 1
            if j is None:
                continue
            x = self.X[rows, j]
            low, high = x.min(), x.max()
            if low == high:
                continue
            drawn = float(low) + uniform(self.seed, clock, 1) * (float(high) - float(low))
            threshold = np.float32(drawn)
            threshold = low if threshold >= high else threshold
            left = x <= threshold
            if min(left.sum(), (~left).sum()) < self.min_leaf:
                continue
            total = sum(self.worth(rows[side]) for side in (left, ~left))
            if total > worth + SLACK:
                found, worth = (j, threshold), total
        return found

    def worth(self, rows):
        Y = self.Y[rows]
        known, relevant = (~np.isnan(Y)).sum(axis=0), (Y > 0).sum(axis=0)
        return (relevant[relevant > 0] ** 2 / known[relevant > 0]).sum()

    def answer(self, x):
        node = self.root
        while isinstance(node, tuple):
            node = node[2] if np.float32(x[node[0]]) <= node[1] else node[3]
        return node


def shares(Y, otherwise):
    known, relevant = (~np.isnan(Y)).sum(axis=0), (Y > 0).sum(axis=0)
    return np.where(known > 0, relevant / np.maximum(known, 1), otherwise)


def problem(density, unknown=0.1, n=60, d=8, K=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < density)
    Y = (X[:, :K] + 0.3 * random.normal(size=(n, K)) > 0.2).astype(float)
    Y[random.random(Y.shape) < unknown] = np.nan
    return X, Y


@pytest.mark.parametrize("density", [1.0, 0.5, 0.06])
@pytest.mark.parametrize("min_leaf", [1, 4])
def test_scores_are_those_of_trees_grown_slowly(density, min_leaf):
    X, Y = problem(density)
    given = {"n_estimators": 7, "min_samples_leaf": min_leaf, "random_state": 5}
    learner = ForestRanker(**given, max_features=0.4).fit(X, Y)
    seeds = np.random.RandomState(5).randint(2**31 - 1, size=7)
    trees = [SlowTree(X, Y, 3, min_leaf, int(seed)) for seed in seeds]
    new = problem(density, seed=1)[0]
    expected = [(trees[0].prior + sum(tree.answer(x) for tree in trees)) / 8 for x in new]
    np.testing.assert_allclose(learner.decision_function(new), expected, atol=1e-6)


def test_a_forest_learns_what_no_line_can():
    random = np.random.default_rng(0)
    X, new = random.uniform(-1, 1, (2, 400, 2))
    truth = [np.column_stack([x[:, 0] * x[:, 1] > 0, (x**2).sum(axis=1) < 0.5]) for x in (X, new)]
    learner = ForestRanker(random_state=0).fit(X, truth[0].astype(int))
    assert (learner.predict(new) == truth[1]).mean() > 0.93


def test_unscaled_columns_do_no_harm():
    X, Y = problem(1.0, unknown=0)
    scores = ForestRanker(random_state=0).fit(X, Y).decision_function(X)
    wide = ForestRanker(random_state=0).fit(X * 2.0**20, Y).decision_function(X * 2.0**20)
    np.testing.assert_allclose(wide, scores, atol=1e-6)


def test_a_label_known_nowhere_in_a_leaf_gets_the_prior():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    Y = np.array([[1, 1.0], [1, 0.0], [0, np.nan], [0, np.nan]])
    scores = ForestRanker(n_estimators=3, random_state=0).fit(X, Y).decision_function([[1.0]])
    np.testing.assert_allclose(scores, [[0.5 / 4, 0.5]])


def test_equal_instances_of_other_labels_share_a_leaf():
    learner = ForestRanker(random_state=0).fit(np.ones((4, 3)), [[1, 0], [1, 0], [1, 0], [0, 1]])
    np.testing.assert_allclose(learner.decision_function(np.ones((1, 3))), [[0.75, 0.25]])


def test_instances_without_any_value_are_learned():
    X = sp.csr_array((6, 50))
    learner = ForestRanker(n_estimators=4, random_state=0).fit(X, np.eye(6, 3))
    np.testing.assert_allclose(learner.decision_function(X)[0], [1 / 6] * 3)


def test_neighbouring_numbers_are_told_apart():
    low = np.float32(1.0)
    X = np.array([[low], [np.nextafter(low, np.float32(2.0))]], np.float32)
    learner = ForestRanker(n_estimators=20, random_state=0).fit(X, np.eye(2))
    assert learner.rank(X, top=1).tolist() == [[0], [1]]


def test_thousands_of_labels_take_little():
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 5))
    Y = sp.csr_array((np.ones(500), np.arange(500) * 9, np.arange(501)), shape=(500, 5000))
    learner = ForestRanker(n_estimators=5, random_state=0).fit(X, Y)
    assert learner.rank(X, top=1)[:, 0].tolist() == (np.arange(500) * 9).tolist()
    assert len(learner._leaf_labels) <= 5 * 500


@pytest.mark.parametrize("wrong", ["log2", 0.0, 1.5, 3, None])
def test_a_wrong_share_of_features_is_refused(wrong):
    with pytest.raises(InputError, match=r"got max_features=.*; use 'sqrt' or a share"):
        ForestRanker(max_features=wrong).fit([[0.0], [1.0]], [[1], [0]])


def test_numbers_beyond_the_range_of_features_are_refused():
    with pytest.raises(InputError, match="scale the features"):
        ForestRanker().fit([[1e300], [0.0]], [[1], [0]])
    learner = ForestRanker(random_state=0).fit([[1.0], [0.0]], [[1], [0]])
    assert learner.predict([[1e14]]).tolist() == [[1]]


def test_a_forest_too_large_for_the_memory_is_refused_before_it_is_grown(monkeypatch):
    monkeypatch.setattr("labelrank.resources.available_bytes", lambda: 1 << 20)
    X, Y = problem(1.0, n=3000)
    with pytest.raises(InputError, match=r"100 trees of 3000 instances need .* raise min_samples"):
        ForestRanker().fit(X, Y)


BROKEN = {
    "a child before its node": ("other", lambda a, inner, leaf: a.put(inner[0], 0)),
    "a child that is itself": ("other", lambda a, inner, leaf: a.put(inner[0], inner[0])),
    "a child in another tree": ("other", lambda a, inner, leaf: a.put(inner[0], len(a) - 1)),
    "a feature that there is not": ("feature", lambda a, inner, leaf: a.put(inner[0], 8)),
    "a feature of -2": ("feature", lambda a, inner, leaf: a.put(inner[0], -2)),
    "a leaf that there is not": ("other", lambda a, inner, leaf: a.put(leaf[0], 10**6)),
    "a last node with a child": ("feature", lambda a, inner, leaf: a.put(len(a) - 1, 0)),
    "roots not from 0": ("roots", lambda a, inner, leaf: a.put(0, 1)),
    "roots that fall": ("roots", lambda a, inner, leaf: a.put(1, 0)),
    "a root beyond the nodes": ("roots", lambda a, inner, leaf: a.put(2, 10**6)),
    "a threshold that is no number": ("threshold", lambda a, inner, leaf: a.put(0, np.nan)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_tree_is_refused(tmp_path, name, monkeypatch):
    X, Y = problem(1.0)
    learner = ForestRanker(n_estimators=3, random_state=0).fit(X, Y)
    part, break_it = BROKEN[name]
    feature = learner.trees_.feature
    with monkeypatch.context() as unchecked:
        unchecked.setattr("labelrank.persistence.checks.check", lambda *a, **k: None)
        break_it(getattr(learner.trees_, part), np.flatnonzero(feature >= 0),
                 np.flatnonzero(feature < 0))  # fmt: skip
        path = persistence.save(learner, tmp_path / "model")
    with pytest.raises(ModelFileError):
        persistence.load(path)
