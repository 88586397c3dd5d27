"""One SVM with a kernel per label: as scikit-learn's, label by label."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from labelrank import KernelSVM
from labelrank.errors import InputError

random = np.random.default_rng(0)
X = random.normal(size=(60, 5))
Y = (np.abs(X[:, :3]) < [0.5, 1.0, 1.5]).astype(float)
SETTINGS = [
    {"kernel": "rbf", "gamma": 0.7, "C": 3.0},
    {"kernel": "poly", "gamma": 0.5, "degree": 3, "coef0": 2.0},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: s["kernel"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_each_label_is_scored_as_by_scikit_learn(settings, form):
    relevance = Y.copy()
    relevance[:15, 1] = np.nan
    learner = KernelSVM(**settings).fit(form(X[:40]), relevance[:40])
    scores = learner.decision_function(form(X[40:]))
    for k, column in enumerate(relevance[:40].T):
        known = ~np.isnan(column)
        expected = SVC(**settings).fit(X[:40][known], column[known])
        assert np.allclose(
            scores[:, k], expected.decision_function(X[40:]), atol=2e-3
        )  # both stop at 1e-3
    assert learner.n_support_ < 40


def test_the_kernel_of_no_gamma_is_that_of_the_number_of_features():
    given = KernelSVM(gamma=0.2).fit(X, Y).decision_function(X)
    assert np.array_equal(KernelSVM().fit(X, Y).decision_function(X), given)


def test_labels_on_which_all_agree_need_no_machine():
    relevance = np.column_stack([np.ones(60), np.zeros(60), np.full(60, np.nan), Y[:, 0]])
    members = KernelSVM().fit(X, relevance).predict(X)
    assert members[:, 0].all()
    assert not members[:, 1:3].any()


def test_a_kernel_that_overflows_is_refused():
    with pytest.raises(InputError, match="overflows"):
        KernelSVM("poly", degree=40).fit(X * 1e12, Y)
