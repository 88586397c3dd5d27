"""Chains of columns of classes, asked and answered as labels: one label per target and class."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logit
from sklearn.base import clone

from labelrank._types import Array, Float64
from labelrank.declared import a_learner, nested, stored
from labelrank.errors import InputError
from labelrank.learners.base import LabelRanker
from labelrank.learners.chains.base import ColumnLearner

_SMALLEST, _LIFT = 1e-15, 1e-6


@stored("TargetColumns", 1, estimator_=nested())
@dataclass(eq=False, repr=False)
class TargetColumns(LabelRanker):
    """A chain of targets of several classes, behind the interface of labels.

    The columns of Y stand in groups, one per target; in each the class that the instance has is
    relevant. The set is the path of the chain, one class per target; scores are the log odds of
    its marginal probabilities, that of the path lifted to the largest of its target.

    Parameters
    ----------
    estimator : a chain, or IndependentClassifiers
    sizes : sequence of int, the number of classes of each target

    Attributes
    ----------
    estimator_ : the fitted chain

    Examples
    --------
    >>> from labelrank import TargetColumns, ViterbiClassifierChain
    >>> X, Y = [[0.0], [1.0], [2.0]] * 4, [[1, 0, 1, 0, 0], [1, 0, 0, 1, 0], [0, 1, 0, 0, 1]] * 4
    >>> TargetColumns(ViterbiClassifierChain(), sizes=(2, 3)).fit(X, Y).predict([[0.0], [2.0]])
    array([[1, 0, 1, 0, 0],
           [0, 1, 0, 0, 1]])
    """

    estimator: Any = field(metadata=a_learner(needed=True))
    _: KW_ONLY
    sizes: Sequence[int] = ()

    _set_is_cut = False

    def _check_combinations(self) -> None:
        if not isinstance(self.estimator, ColumnLearner):
            raise InputError(
                f"got {type(self.estimator).__name__} for targets of several classes each; use a "
                "chain: IC, CC, PCC, MCC, VCC, MsCC, VsCC or ECC; or auto"
            )

    def _check_values(self, X: Any, Y: sp.csr_array) -> None:
        if sum(self.sizes) != Y.shape[1] or min(self.sizes, default=0) < 1:
            raise InputError(
                f"got sizes={tuple(self.sizes)} for {Y.shape[1]} columns; give the number of "
                "classes of each target, which sum to the columns"
            )

    @property
    def _groups(self) -> list[slice]:
        ends = np.cumsum(self.sizes).tolist()
        return [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        dense = Y.toarray()
        codes = [_class_of(dense[:, group]) for group in self._groups]
        chain = clone(self.estimator).set_params(targets="classes")
        self.estimator_ = chain.fit(X, np.column_stack(codes))

    def after_loading(self) -> None:
        if len(self.estimator_.column_classes_) != len(self.sizes):
            raise ValueError("the chain has other targets")

    def _scores(self, X: Any) -> Array:
        shares = np.zeros((X.shape[0], self.n_labels_))
        marginals = self.estimator_.predict_proba(X)
        known = zip(self._groups, self.estimator_.column_classes_, marginals, strict=True)
        for group, classes, given in known:
            shares[:, group.start + classes.astype(np.int64)] = given
        scores = np.asarray(logit(np.clip(shares, _SMALLEST, 1 - _SMALLEST)))
        rows, path = np.arange(X.shape[0]), self.estimator_.predict(X).astype(np.int64)
        for group, chosen in zip(self._groups, path.T, strict=True):
            block = scores[:, group]
            ahead = block.argmax(axis=1) != chosen
            block[rows, chosen] = np.where(ahead, block.max(axis=1) + _LIFT, block[rows, chosen])
        return scores

    def _members(self, scores: Array) -> Array:
        """The best class of each target."""
        members = np.zeros(scores.shape, bool)
        for group in self._groups:
            best = group.start + scores[:, group].argmax(axis=1)
            members[np.arange(len(scores)), best] = True
        return members

    def link(self, scores: Array) -> Array:
        """Marginal probabilities of the classes."""
        return np.asarray(expit(scores))

    def trellis(self, x: Any) -> Any:
        """That of the chain."""
        return self.estimator_.trellis(x)


def _class_of(columns: Float64) -> Float64:
    """The number of the class of each instance; NaN where it has none, or it is unknown."""
    has_one = (columns > 0).any(axis=1)
    return np.where(has_one, (columns > 0).argmax(axis=1), np.nan)
