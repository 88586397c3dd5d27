"""Kernel features against the kernel itself."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from labelrank import KernelRanker, Rocchio, persistence
from labelrank.errors import InputError
from labelrank.learners.features.nystroem import NystroemFeatures


def rows(density=1.0, n=40, d=6, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) * (random.random((n, d)) < density)


@pytest.mark.parametrize("density", [1.0, 0.05])
def test_with_all_instances_as_landmarks_products_are_the_kernel(density):
    X = rows(density)
    made = NystroemFeatures(gamma=0.3, random_state=0).fit_transform(sp.csr_array(X))
    np.testing.assert_allclose(made @ made.T, rbf_kernel(X, gamma=0.3), atol=1e-3)


def test_features_of_new_instances_meet_the_kernel_at_the_landmarks():
    X, new = rows(), rows(seed=1)
    features = NystroemFeatures(15, gamma=0.1, random_state=0).fit(X)
    landmarks = features.landmarks_.toarray()
    products = features.transform(new) @ features.transform(landmarks).T
    np.testing.assert_allclose(products, rbf_kernel(new, landmarks, gamma=0.1), atol=1e-3)


def test_the_default_width_follows_the_variance():
    X = rows()
    one, wide = (NystroemFeatures(random_state=0).fit(part) for part in (X, 10 * X + 3))
    assert one.gamma_ == pytest.approx(1 / X.var(axis=0).sum())
    np.testing.assert_allclose(np.abs(one.transform(X)), np.abs(wide.transform(10 * X + 3)),
                               atol=1e-2)  # fmt: skip


def test_a_circle_is_learned_that_no_line_parts():
    random = np.random.default_rng(0)
    X, new = random.uniform(-1, 1, (2, 500, 2))
    truth = [((x**2).sum(axis=1) < 0.5)[:, None] for x in (X, new)]
    learner = KernelRanker(n_components=100, random_state=0).fit(X, truth[0].astype(int))
    assert (learner.predict(new) == truth[1]).mean() > 0.95


def test_the_set_of_a_learner_without_threshold_is_cut_as_asked(tmp_path):
    X = rows()
    learner = KernelRanker(Rocchio(), threshold="cardinality", random_state=0)
    learner.fit(X, (X[:, :4] > 0.3).astype(int))
    sizes = learner.predict(X).sum(axis=1)
    assert set(sizes.tolist()) == {round(learner.cardinality_)}
    again = persistence.load(persistence.save(learner, tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(X), learner.predict(X))


def test_an_estimator_that_ranks_no_labels_is_refused():
    with pytest.raises(InputError, match="give a learner of labelrank"):
        KernelRanker("logistic").fit(rows(), np.eye(40, 3))


def test_numbers_whose_squares_overflow_are_refused():
    with pytest.raises(InputError, match="squares overflow"):
        NystroemFeatures().fit([[1e200], [0.0]])
