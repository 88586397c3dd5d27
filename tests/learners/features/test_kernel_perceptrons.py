"""BR and MMP with a kernel: exact where every instance is a landmark."""

import numpy as np

from labelrank import (
    BinaryRelevancePerceptron,
    KernelRanker,
    MulticlassMultilabelPerceptron,
    metrics,
)

random = np.random.default_rng(0)
X = random.normal(size=(40, 3))
Y = np.abs(X) < [0.4, 0.8, 1.2]


def gram(A, B, gamma):
    return np.exp(-gamma * ((A[:, None, :] - B[None]) ** 2).sum(axis=2))


def test_a_kernel_perceptron_per_label_is_learned_on_features_of_all_instances():
    """The dual perceptron by hand: each mistake adds 2 y k(x, .) to the scores of its label."""
    G, test = gram(X, X, 0.7), random.normal(size=(30, 3))
    A = np.zeros((40, 3))
    for i in range(40):
        for k in range(3):
            y = 1.0 if Y[i, k] else -1.0
            if (1.0 if A[:, k] @ G[:, i] >= 0 else -1.0) != y:
                A[i, k] += 2 * y
    base = BinaryRelevancePerceptron(shuffle=False)
    learner = KernelRanker(base, n_components=40, gamma=0.7, random_state=0).fit(X, Y)
    expected = gram(test, X, 0.7) @ A
    np.testing.assert_allclose(learner.decision_function(test), expected, atol=1e-3)


def test_mmp_with_a_kernel_ranks_what_no_line_can():
    plain = MulticlassMultilabelPerceptron(epochs=20, averaging="averaged", random_state=0)
    curved = KernelRanker(plain, n_components=40, gamma=0.7, random_state=0)
    losses = [
        metrics.ranking_loss(Y, learner.fit(X, Y).decision_function(X))
        for learner in (plain, curved)
    ]
    assert losses[1] < 0.5 * losses[0]
