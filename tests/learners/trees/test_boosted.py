"""Boosted trees against Newton steps taken slowly, and what holds of them."""

import numpy as np
import pytest
from scipy.special import expit, logit

from labelrank import BoostedTrees, persistence
from labelrank.errors import InputError, ModelFileError
from labelrank.kernels.boosted_trees import LEAST_GAIN, LEAST_H
from labelrank.learners.trees.boosted import cuts_of


def slow(X, y, new, *, rounds, rate, n_leaves, min_leaf, l2, bins):
    """Scores of new rows: leaf by leaf, every cut tried on the values themselves."""
    known = ~np.isnan(y)
    cuts = [cuts_of(column, bins) for column in X.T.astype(np.float32)]
    X, y = X[known].astype(np.float32), y[known] > 0
    start = np.log((y.sum() + 0.5) / ((~y).sum() + 0.5))
    F, out = np.full(len(y), start), np.full(len(new), start)
    for _ in range(rounds):
        p = expit(F)
        g, h = p - y, p * (1 - p)
        leaves = [(np.ones(len(X), bool), np.ones(len(new), bool))]
        best = [slow_cut(X, g, h, leaves[0][0], cuts, min_leaf, l2)]
        while len(leaves) < n_leaves and max(gain for gain, *_ in best) > 0:
            m = int(np.argmax([gain for gain, *_ in best]))
            _, j, cut = best.pop(m)
            rows, asked = leaves.pop(m)
            for left in (True, False):
                sides = [(part[:, j] <= cut) == left for part in (X, new.astype(np.float32))]
                leaves.append((rows & sides[0], asked & sides[1]))
                best.append(slow_cut(X, g, h, leaves[-1][0], cuts, min_leaf, l2))
        if len(leaves) == 1:
            break
        for rows, asked in leaves:
            step = -rate * g[rows].sum() / (h[rows].sum() + l2)
            F[rows] += step
            out[asked] += step
    return out


def slow_cut(X, g, h, rows, cuts, min_leaf, l2):
    worth = lambda side: g[side].sum() ** 2 / (h[side].sum() + l2)  # noqa: E731
    best = (0.0, 0, 0.0)
    if rows.sum() < 2 * min_leaf:
        return best
    for j in range(X.shape[1]):
        for cut in cuts[j]:
            left, right = rows & (X[:, j] <= cut), rows & (X[:, j] > cut)
            few = min(left.sum(), right.sum()) < min_leaf
            if few or min(h[left].sum(), h[right].sum()) < LEAST_H:
                continue
            gain = worth(left) + worth(right) - worth(rows)
            if gain > max(best[0] + 1e-10, LEAST_GAIN):
                best = (gain, j, cut)
    return best


def problem(seed=0, n=90):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)).round(1)
    X[:, 3] *= random.random(n) < 0.3
    Y = np.column_stack([X[:, 0] * X[:, 1] > 0, X[:, 2] + 0.5 * random.normal(size=n) > 0])
    return X, Y.astype(float)


@pytest.mark.parametrize(("n_leaves", "min_leaf", "bins"), [(4, 5, 64), (31, 2, 8), (2, 20, 255)])
def test_scores_are_those_of_newton_steps_taken_slowly(n_leaves, min_leaf, bins):
    X, Y = problem()
    Y[::7, 1] = np.nan
    new = problem(1)[0]
    learner = BoostedTrees(
        8, learning_rate=0.3, max_leaves=n_leaves, min_samples_leaf=min_leaf, max_bins=bins, l2=0.5
    ).fit(X, Y)
    given = {"rounds": 8, "rate": 0.3, "n_leaves": n_leaves, "min_leaf": min_leaf, "l2": 0.5}
    expected = np.column_stack([slow(X, y, new, bins=bins, **given) for y in Y.T])
    np.testing.assert_allclose(learner.decision_function(new), expected, atol=1e-4)


def test_each_round_lowers_the_loss_on_the_training_data():
    X, Y = problem()
    losses = []
    for rounds in (1, 3, 10, 30):
        scores = BoostedTrees(rounds, min_samples_leaf=5).fit(X, Y).decision_function(X)
        losses.append(np.logaddexp(0, np.where(Y > 0, -scores, scores)).mean())
    assert losses == sorted(losses, reverse=True)


def test_a_label_that_all_or_none_have_keeps_its_log_odds():
    X, _ = problem()
    learner = BoostedTrees().fit(X, np.column_stack([np.ones(90), np.zeros(90)]))
    expected = [logit(90.5 / 91), logit(0.5 / 91)]
    np.testing.assert_allclose(learner.decision_function(X[:1])[0], expected)
    assert len(learner.trees_.roots) == 0


def test_instances_that_do_not_know_a_label_change_nothing_about_it():
    X, Y = problem()
    more = np.vstack([X, X + 0.7]), np.vstack([Y, np.full_like(Y, np.nan)])
    one, other = (BoostedTrees(5, max_bins=255).fit(*given) for given in ((X, Y), more))
    np.testing.assert_allclose(one.start_, other.start_)
    assert not np.isnan(other.decision_function(X)).any()


@pytest.mark.parametrize("n_bins", [2, 3, 8, 255])
def test_cuts_lie_between_different_values_and_leave_about_equal_shares(n_bins):
    values = np.random.default_rng(0).normal(size=4000).astype(np.float32)
    cuts = cuts_of(values, n_bins)
    shares = np.diff([0, *(np.sort(values).searchsorted(cuts)), 4000])
    assert len(cuts) == n_bins - 1
    assert shares.min() > 0.8 * 4000 / n_bins


def test_a_common_value_takes_a_bin_of_its_own():
    values = np.array([0.0] * 900 + list(range(1, 101)), np.float32)
    cuts = cuts_of(values, 20)
    assert 0 <= cuts[0] < 1
    assert len(cuts) >= 2


def test_neighbouring_numbers_have_a_cut_between_them():
    low = np.float32(1.0)
    pair = np.array([low, np.nextafter(low, np.float32(2.0))])
    assert cuts_of(pair, 64).tolist() == [1.0]


def test_trees_too_many_for_the_memory_are_refused_before_they_are_grown(monkeypatch):
    monkeypatch.setattr("labelrank.resources.available_bytes", lambda: 1 << 16)
    with pytest.raises(InputError, match=r"2 times 100 trees need .*; lower n_rounds"):
        BoostedTrees(min_samples_leaf=2).fit(*problem())


def test_a_tree_of_a_label_that_there_is_not_is_refused(tmp_path, monkeypatch):
    learner = BoostedTrees(5).fit(*problem())
    with monkeypatch.context() as unchecked:
        unchecked.setattr("labelrank.persistence.checks.check", lambda *a, **k: None)
        learner._tree_labels[0] = 2
        path = persistence.save(learner, tmp_path / "model")
    with pytest.raises(ModelFileError):
        persistence.load(path)
