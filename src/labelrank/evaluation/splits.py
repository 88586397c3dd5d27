"""Folds for multi-label data."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labelrank._types import Int64
from labelrank.errors import InputError
from labelrank.kernels import folds
from labelrank.relevance import check_relevance, from_classes, is_class_vector, relevant_part


class StratifiedFolds:
    """Cross-validation in which every fold has its share of every label.

    Iterative stratification (Sechidis et al. 2011), sparse and compiled: a million instances with
    a thousand labels take seconds. Usable wherever scikit-learn takes `cv`.

    Parameters
    ----------
    n_splits : int, default 10
    random_state : int, RandomState or None
        Decides between folds that are equally good; the same seed gives the same folds.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.evaluation import StratifiedFolds
    >>> Y = np.array([[1, 0]] * 4 + [[0, 1]] * 2)
    >>> [Y[test].sum(axis=0).tolist() for _, test in StratifiedFolds(2, random_state=0).split(Y, Y)]
    [[2, 1], [2, 1]]
    """

    def __init__(self, n_splits: int = 10, *, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Int64, Int64]]:
        """Pairs (train, test) of row indices."""
        fold = self.assign(y)
        for f in range(self.n_splits):
            yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)

    def assign(self, Y: Any) -> Int64:
        """The fold of each row."""
        if is_class_vector(Y):
            relevant = from_classes(Y, np.unique(Y))
        else:
            relevant = relevant_part(check_relevance(Y))
        n = relevant.shape[0]
        if not 2 <= self.n_splits <= n:
            raise InputError(f"got {self.n_splits} folds for {n} instances; give 2 to {n} folds")
        noise = check_random_state(self.random_state).random_sample(n)
        columns = relevant.tocsc()
        fold = np.empty(n, np.int64)
        folds.assign(
            relevant.indptr.astype(np.int64), relevant.indices.astype(np.int32),
            columns.indptr.astype(np.int64), columns.indices.astype(np.int32),
            noise, self.n_splits, fold,
        )  # fmt: skip
        return fold
