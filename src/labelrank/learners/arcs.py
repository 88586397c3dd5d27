"""Single preferences for learners that can read them: one door, `learn_arcs`.

An arc a ≻ b of an instance is an example that states nothing else: a is relevant, b is not, all
other labels are unknown. Where Θ is asked it is one more label, or what has the score 0.
"""

from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.interrupts import held_back
from labelrank.learners.base import unchanged_if_refused
from labelrank.preferences import Arcs, checked_arcs


class FromArcs:
    """Gives a fitted learner `learn_arcs`; the learner implements `_learn_stated`."""

    # Whether arcs over and under the threshold are read.
    _reads_threshold = True

    def _learn_stated(self, X: sp.csr_array, arcs: Arcs) -> None:
        """Learn the arcs of checked instances, in their order."""
        raise NotImplementedError

    def learn_arcs(self, X: Any, arcs: Arcs) -> Self:
        """Learn preferences alone, in their order: row i of `arcs` is stated of instance i."""
        check_is_fitted(self)
        learner: Any = self
        with held_back(), unchanged_if_refused(self):
            learner.check_parameters()
            X = sp.csr_array(learner._check_X(X, reset=False))  # noqa: SLF001
            arcs, K = checked_arcs(arcs, X.shape[0], learner.n_labels_), learner.n_labels_
            if not self._reads_threshold and (arcs.better == K).any() | (arcs.worse == K).any():
                raise InputError(
                    f"got an arc of the threshold, but {type(self).__name__} ranks without one; "
                    "give arcs between labels, or use a CorrectedRanker"
                )
            if len(arcs.better):
                self._learn_stated(X, arcs)
        return self


def as_examples(X: sp.csr_array, arcs: Arcs, chosen: Array | None = None) -> tuple[Any, Any]:
    """An instance per arc, and relevance over the labels and Θ: better 1, worse 0, others NaN."""
    row = np.repeat(np.arange(arcs.n_rows), np.diff(arcs.ptr))
    at = np.arange(len(row)) if chosen is None else np.flatnonzero(chosen)
    Y = np.full((len(at), arcs.n_labels + 1), np.nan)
    Y[np.arange(len(at)), arcs.better[at]] = 1.0
    Y[np.arange(len(at)), arcs.worse[at]] = 0.0
    return X[row[at]], sp.csr_array(Y)


class Step(Protocol):
    """How far an arc moves its labels, by the margin it holds by and the squared length of x."""

    def __call__(self, margin: float, norm: float, *, with_threshold: bool) -> float: ...


def learn_pairs(
    X: sp.csr_array, arcs: Arcs, columns: Any, past: Any, clock: int, step: Step
) -> tuple[int, int]:
    """Learn arcs by one weight vector per label; Θ has none. Returns arcs met, and violated.

    `columns(k)` and `past(k)` give the weights of a label and their sums, as views; the sums are
    None where none are kept. W += ± by x, and U += ± by t x at time t (`label_perceptrons`).
    """
    moved = 0
    time = clock
    for i in range(arcs.n_rows):
        row = slice(X.indptr[i], X.indptr[i + 1])
        j, x = X.indices[row], X.data[row].astype(np.float32)
        norm = float(x @ x)
        for t in range(arcs.ptr[i], arcs.ptr[i + 1]):
            pair = [(int(arcs.better[t]), 1.0), (int(arcs.worse[t]), -1.0)]
            labels = [(k, sign) for k, sign in pair if k < arcs.n_labels]
            margin = sum(sign * float(columns(k)[j] @ x) for k, sign in labels)
            by = step(margin, norm, with_threshold=len(labels) < 2)
            for k, sign in labels if by else ():
                columns(k)[j] += np.float32(sign * by) * x
                if past is not None:
                    past(k)[j] += sign * by * time * x
            moved += by != 0
            time += 1
    return time - clock, moved
