"""Pairwise perceptrons written for reading: one weight vector per pair, arcs listed one by one."""

import numpy as np

from labelrank import PairwisePerceptron, preferences


class Reference:
    """Fig. 3 of the paper in exact integers or float64; Θ is the last label."""

    def __init__(self, n_features, n_labels, *, calibrated, ordered, margin=None, kernel=None):
        self.width = n_labels + calibrated
        self.margin = margin
        self.kernel = kernel or (lambda x, z: x @ z)
        self.preferences = PairwisePerceptron(calibrated=calibrated, ordered=ordered).preferences
        self.errors = {(u, v): [] for u in range(self.width) for v in range(u + 1, self.width)}
        self.trained = self.mistakes = 0

    def arcs(self, grades):
        listed = preferences.arcs(grades[None], self.preferences)
        return zip(listed.better.tolist(), listed.worse.tolist(), strict=True)

    def margin_of(self, x, u, v):
        """x·w of the pair u < v, its weights being twice the signed sum of its mistakes."""
        return sum(2 * sign * self.kernel(x, z) for sign, z in self.errors[u, v])

    def learn(self, X, Y, order):
        for i in order:
            for better, worse in self.arcs(Y[i]):
                u, v, y = min(better, worse), max(better, worse), 1 if better < worse else -1
                margin = self.margin_of(X[i], u, v)
                wrong = (1 if margin >= 0 else -1) != y
                if self.margin is not None:
                    wrong = y * margin <= self.margin
                self.trained += 1
                if wrong:
                    self.mistakes += 1
                    self.errors[u, v].append((y, X[i]))

    def margins(self, X):
        found = np.zeros((len(X), self.width, self.width))
        for u, v in self.errors:
            found[:, u, v] = [self.margin_of(x, u, v) for x in X]
        return found - found.transpose(0, 2, 1)

    def weights(self, u, v):
        return sum((2 * sign * z for sign, z in self.errors[u, v]), np.zeros(1))

    def votes(self, X):
        return votes_of(self.margins(X))


def votes_of(margins):
    """Won duels: a margin of 0 is decided for the smaller index."""
    width = margins.shape[1]
    above = np.triu(np.ones((width, width), bool), 1)
    return ((margins > 0) | ((margins == 0) & above)).sum(axis=2)


def sets_of(votes):
    """For each instance the labels with more votes than Θ, best first, smaller index on ties."""
    return [
        [k for k in np.argsort(-row[:-1], kind="stable").tolist() if row[k] > row[-1]]
        for row in votes
    ]


def random_problem(seed, n=25, d=6, n_labels=5, graded=False, unknown=False, density=0.6):
    """Small whole numbers, so that every sum is exact."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, d)) * (rng.random((n, d)) < density)
    Y = (rng.random((n, n_labels)) < 0.35) * rng.integers(1, 4 if graded else 2, (n, n_labels))
    Y = Y.astype(float)
    if unknown:
        Y[rng.random(Y.shape) < 0.1] = np.nan
    return X.astype(float), Y


class PairWeights:
    """Calibrated weights W[u, v] = -W[v, u] for many labels: one pass, a row of duels at a time."""

    def __init__(self, X, Y):
        width = Y.shape[1] + 1
        self.W, self.mistakes = np.zeros((width, width, X.shape[1])), 0
        label = np.arange(width)
        for x, y in zip(X, Y, strict=True):
            grade = np.append(np.where(y > 0, 2, 0), 1)
            for u in np.flatnonzero(grade):
                margin = self.W[u] @ x
                wrong = (grade < grade[u]) & ((margin < 0) | ((margin == 0) & (label < u)))
                self.W[u, wrong] += 2 * x
                self.W[wrong, u] -= 2 * x
                self.mistakes += wrong.sum()

    def margins(self, X):
        return np.einsum("uvd,nd->nuv", self.W, X)
