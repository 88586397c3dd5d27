"""Stored results are keyed by the code that made them: an edited sentence keeps them."""

import importlib
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import catalog
from labelrank.datasets import Dataset
from labelrank.evaluation import compare, store

LEARNER = '''"""A learner of somebody."""

import numpy as np
from sklearn.base import BaseEstimator

from labelrank.learners.rocchio import Rocchio


class Mine(BaseEstimator):
    """Gives every label the same score."""

    def fit(self, X, Y):
        self.n_labels_ = Y.shape[1]
        return self

    def decision_function(self, X):
        return np.zeros((X.shape[0], self.n_labels_)) + 1.0  # above the threshold

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)
'''
ROCCHIO = "labelrank.learners.rocchio"


@pytest.fixture
def edit(monkeypatch):
    """Edit what the digest sees of a module of the package."""
    read = store._source

    def change(module, append):
        def source(name):
            return read(name) + (append if name == module else "")

        monkeypatch.setattr(store, "_source", source)
        store.code.cache_clear()

    yield change
    store.code.cache_clear()


@pytest.mark.parametrize(
    ("module", "append", "changes"),
    [
        (ROCCHIO, "\n\n# a remark\n", False),
        (ROCCHIO, '\n\ndef more():\n    """Say more."""\n', True),
        (ROCCHIO, "\n\nTWO = 1 + 1\n", True),
        ("labelrank.learners.base", "\n\nTWO = 1 + 1\n", True),
        ("labelrank.kernels.linear", "\n\nTWO = 1 + 1\n", True),
        ("labelrank.learners.boosting", "\n\nTWO = 1 + 1\n", False),
    ],
)
def test_the_code_of_a_learner_is_its_module_and_what_that_imports(edit, module, append, changes):
    before = store.code(ROCCHIO)
    edit(module, append)
    assert (store.code(ROCCHIO) != before) == changes


def test_docstrings_do_not_count_and_operators_do(edit):
    function = '\n\ndef more(a, b):\n    """{}"""\n    return a {} b\n'
    digests = []
    for words, sign in (("The sum.", "+"), ("Both of them together.", "+"), ("The sum.", "-")):
        edit(ROCCHIO, function.format(words, sign))
        digests.append(store.code(ROCCHIO))
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("name", ["labelrank.learners.margins.prosvm", ROCCHIO])
def test_an_experiment_is_made_by_every_learner_of_the_catalog(edit, name):
    assert "MMP" in catalog.names()
    before = store.code("labelrank.experiments.chains")
    edit(name, "\n\nTWO = 1 + 1\n")
    assert store.code("labelrank.experiments.chains") != before


def test_an_experiment_is_not_made_by_the_others(edit):
    before = store.code("labelrank.experiments.chains")
    edit("labelrank.experiments.plm", "\n\nTWO = 1 + 1\n")
    assert store.code("labelrank.experiments.chains") == before


def test_cells_are_kept_after_an_edited_sentence_and_measured_after_an_edited_operator(
    tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Y = sp.csr_array(np.tile([[1.0, 0.0], [0.0, 1.0]], (10, 1)))
    data = Dataset("made", np.arange(20.0)[:, None], Y, label_names=["a", "b"])
    counts = []
    for old, new in (
        ("", ""),
        ("the same score", "one score"),
        ("# above the threshold", "# high"),
        ("+ 1.0", "- 1.0"),
    ):
        (tmp_path / "mine.py").write_text(LEARNER.replace(old, new) if old else LEARNER)
        sys.modules.pop("mine", None)
        importlib.invalidate_caches()
        store.code.cache_clear()
        learner = importlib.import_module("mine").Mine()
        compare(data, {"mine": learner}, cv=2, out=tmp_path / "out")
        counts.append(len((tmp_path / "out" / "cells.jsonl").read_text().splitlines()))
    sys.modules.pop("mine")
    assert counts == [2, 2, 2, 4]
