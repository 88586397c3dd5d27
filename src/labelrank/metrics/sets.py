"""Criteria of a predicted label set: how far it is from the relevant one.

Any positive grade is relevant. Unknown labels (NaN in Y) count as neither right nor wrong,
whatever was predicted for them. Sparse predictions stay sparse: the work is proportional to the
relevant and predicted labels.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.metrics._common import (
    answer,
    as_dense,
    check_same_shape,
    check_weights,
    documented_like,
    mean_of_known,
    member_of,
)
from labelrank.relevance import check_relevance, relevant_part, unknown_part
from labelrank.resources import blocks
from labelrank.rows import check_sparse

_ROWS_AT_ONCE = 1 << 14


class Counts(NamedTuple):
    """Hits, predicted, relevant and known labels: of each instance, or of each label."""

    hits: Array
    predicted: Array
    relevant: Array
    known: Array


class Sets(NamedTuple):
    """Patterns of relevant and unknown labels, and which of each were predicted."""

    relevant: sp.csr_array
    unknown: sp.csr_array
    hits: sp.csr_array
    strays: sp.csr_array
    predicted: Any

    def by_instance(self) -> Counts:
        hits, relevant, unknown, strays = (
            np.diff(part.indptr) for part in (self.hits, self.relevant, self.unknown, self.strays)
        )
        chosen = self.predicted
        given = np.diff(chosen.indptr) if sp.issparse(chosen) else np.count_nonzero(chosen, axis=1)
        return Counts(hits, given - strays, relevant, self.hits.shape[1] - unknown)

    def by_label(self, weights: Array | None) -> Counts:
        total = self.hits.shape[0] if weights is None else weights.sum()
        hits, predicted, relevant, unknown, strays = (
            _label_sums(part, weights)
            for part in (self.hits, self.predicted, self.relevant, self.unknown, self.strays)
        )
        return Counts(hits, predicted - strays, relevant, total - unknown)


class Counted(NamedTuple):
    """All that ratios of counts need: counts by label are weighted; `empty` is the value of 0/0."""

    by_instance: Counts
    by_label: Counts
    weights: Array | None
    empty: float

    @classmethod
    def of(cls, Y: Any, predicted: Any, sample_weight: Any, zero_division: float) -> "Counted":
        if not (zero_division in (0, 1) or np.isnan(zero_division)):
            raise InputError(f"got zero_division={zero_division!r}; use 0, 1 or nan")
        sets = check_sets(Y, predicted)
        weights = check_weights(sample_weight, sets.relevant.shape[0])
        return cls(sets.by_instance(), sets.by_label(weights), weights, float(zero_division))

    def averaged(self, ratio: Callable[[Counts], tuple[Array, Array]], average: str) -> float:
        if average == "example":
            return mean_of_known(divide(*ratio(self.by_instance), self.empty), self.weights)
        if average == "micro":
            pooled = Counts(*(part.sum() for part in self.by_label))
            return float(divide(*ratio(pooled), self.empty))
        return mean_of_known(divide(*ratio(self.by_label), self.empty))


def check_sets(Y: Any, predicted: Any) -> Sets:
    """Check a pair of relevance and 0/1 prediction, and intersect them."""
    Y = check_relevance(Y)
    chosen = _check_predicted(predicted)
    check_same_shape(Y, chosen, "predicted")
    relevant, unknown = relevant_part(Y), unknown_part(Y)
    for part in (relevant, unknown):
        part.data = np.ones(part.nnz, np.int8)
    return Sets(relevant, unknown, _shared(relevant, chosen), _shared(unknown, chosen), chosen)


def _check_predicted(predicted: Any) -> Any:
    """A canonical pattern if sparse, else a boolean matrix."""
    if sp.issparse(predicted):
        check_sparse(predicted)
        chosen = _canonical(sp.csr_array(predicted, copy=True))
        if not (chosen.data == 1).all():
            raise InputError("got predicted values other than 0 and 1; cut the scores first")
        return chosen.astype(np.int8)
    dense = as_dense("predicted", predicted)
    if dense.ndim != 2 or dense.dtype.kind not in "biuf":
        raise InputError(
            f"got predicted of {dense.ndim} dimension(s) and type {dense.dtype}; "
            "give a 0/1 matrix (instances x labels)"
        )
    members = dense.astype(bool, copy=False)
    if dense.dtype.kind != "b" and not np.array_equal(dense, members):
        raise InputError("got predicted values other than 0 and 1; cut the scores first")
    return members


def _shared(pattern: sp.csr_array, chosen: Any) -> sp.csr_array:
    """The entries of the pattern that were chosen."""
    if sp.issparse(chosen):
        return _canonical(pattern.multiply(chosen))
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    found = pattern.copy()
    found.data = chosen[rows, pattern.indices].astype(np.int8)
    return _canonical(found)


def _canonical(matrix: Any) -> sp.csr_array:
    csr = sp.csr_array(matrix)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def _label_sums(part: Any, weights: Array | None) -> Array:
    """How often each label occurs, or the weight of the instances that have it."""
    if sp.issparse(part):
        spread = None if weights is None else np.repeat(weights, np.diff(part.indptr))
        return np.bincount(part.indices, weights=spread, minlength=part.shape[1])
    if weights is None:
        return np.count_nonzero(part, axis=0)
    # By blocks of rows, for a product makes floats of the members.
    pieces = [weights[rows] @ part[rows] for rows in blocks(len(part), _ROWS_AT_ONCE)]
    return np.sum(pieces, axis=0)


def divide(numerator: Any, denominator: Any, empty: float) -> Array:
    """The ratio, and `empty` where it would be 0/0."""
    numerator, denominator = np.asarray(numerator, float), np.asarray(denominator, float)
    result = np.full(numerator.shape, float(empty))
    return np.divide(numerator, denominator, out=result, where=denominator > 0)


@documented_like(answer)
def of_sets(
    values_of: Callable[[Counts], Array], Y: Any, predicted: Any, *, sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:  # fmt: skip
    """The family of the criteria that compare two sets, from the counts of each instance.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger relevant, NaN unknown (left out).
    predicted : 0/1 array or sparse matrix (n, K)
    """
    values = values_of(check_sets(Y, predicted).by_instance())
    return answer(values, sample_weight=sample_weight, per_instance=per_instance)


@member_of(of_sets)
def hamming_loss(counts: Counts) -> Array:
    r"""Share of the labels that are wrongly in or out of the set (smaller is better).

    .. math:: \frac{|R \mathbin{\triangle} P|}{K}

    K counts the known labels of the instance; 0 for an instance without any.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1, 0]], [[1, 1, 0, 0]])
    0.5
    """
    return divide(counts.relevant + counts.predicted - 2 * counts.hits, counts.known, 0.0)


@member_of(of_sets)
def subset_accuracy(counts: Counts) -> Array:
    r"""1 if the predicted set is exactly the relevant one, else 0 (larger is better).

    .. math:: [R = P]

    1 for an instance with neither relevant nor predicted labels.

    Examples
    --------
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    """
    return ((counts.hits == counts.relevant) & (counts.hits == counts.predicted)).astype(float)


@documented_like(of_sets)
def of_ratios(
    ratio: Callable[[Counts], tuple[Array, Array]], Y: Any, predicted: Any,
    average: str | None = "example", *, zero_division: float = 0.0, sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:  # fmt: skip
    """The family of the ratios of counts, under each average.

    Parameters
    ----------
    average : {"example", "micro", "macro", None}
        Mean over instances; one ratio of the counts of all labels; mean over labels; or the
        array (K,) of the values of the labels.
    zero_division : {0, 1, nan}
        Value of 0/0, without a warning, for an instance or label for which nothing is predicted
        (precision), nothing relevant (recall), or neither; nan leaves it out of the mean.
    per_instance : bool
        Return the n values instead of their mean (``average="example"`` only).

    Returns
    -------
    float, or array
    """
    if average not in ("example", "micro", "macro", None):
        raise InputError(f"got average={average!r}; use 'example', 'micro', 'macro' or None")
    if per_instance and average != "example":
        raise InputError(f"got per_instance with average={average!r}; it needs average='example'")
    counted = Counted.of(Y, predicted, sample_weight, zero_division)
    if per_instance or average is None:
        counts = counted.by_instance if per_instance else counted.by_label
        return divide(*ratio(counts), counted.empty)
    return counted.averaged(ratio, average)


@member_of(of_ratios)
def precision(counts: Counts) -> tuple[Array, Array]:
    r"""Share of the predicted labels that are relevant (larger is better).

    .. math:: \frac{|R \cap P|}{|P|}

    Examples
    --------
    >>> precision([[1, 0], [1, 0]], [[1, 1], [1, 0]])
    0.75
    """
    return counts.hits, counts.predicted


@member_of(of_ratios)
def recall(counts: Counts) -> tuple[Array, Array]:
    r"""Share of the relevant labels that are predicted (larger is better).

    .. math:: \frac{|R \cap P|}{|R|}

    Examples
    --------
    >>> recall([[1, 1], [1, 0]], [[0, 1], [1, 0]])
    0.75
    """
    return counts.hits, counts.relevant


@member_of(of_ratios)
def f1(counts: Counts) -> tuple[Array, Array]:
    r"""Harmonic mean of precision and recall (larger is better).

    .. math:: \frac{2\,|R \cap P|}{|R| + |P|}

    Give ``zero_division=1`` to call it right to predict nothing where nothing is relevant.
    Macro-F1 is the mean of the F1 of the labels.

    Examples
    --------
    >>> f1([[1, 1], [1, 0]], [[0, 1], [1, 0]], average="micro")
    0.8
    """
    return 2 * counts.hits, counts.relevant + counts.predicted


@member_of(of_ratios)
def jaccard(counts: Counts) -> tuple[Array, Array]:
    r"""Shared labels over all labels of the two sets (larger is better).

    .. math:: \frac{|R \cap P|}{|R \cup P|}

    Examples
    --------
    >>> jaccard([[1, 1, 0], [1, 0, 0]], [[0, 1, 0], [1, 0, 0]])
    0.75
    """
    return counts.hits, counts.relevant + counts.predicted - counts.hits


@documented_like(of_sets)
def contingency_tables(Y: Any, predicted: Any, *, sample_weight: Any = None) -> Array:
    r"""The 2 × 2 table of each label.

    .. math::

        T_k = \begin{pmatrix} \text{hits} & \text{misses} \\
            \text{false alarms} & \text{rightly left out} \end{pmatrix}

    Rows are "is relevant", "is not"; columns "is predicted", "is not" (scikit-learn's
    `multilabel_confusion_matrix` has both the other way round). Unknown labels are in no cell.

    Returns
    -------
    array (K, 2, 2), whole numbers without weights

    Examples
    --------
    >>> contingency_tables([[1], [1], [0]], [[1], [0], [0]]).tolist()
    [[[1, 1], [0, 1]]]
    """
    sets = check_sets(Y, predicted)
    counts = sets.by_label(check_weights(sample_weight, sets.relevant.shape[0]))
    misses = counts.relevant - counts.hits
    alarms = counts.predicted - counts.hits
    rest = counts.known - counts.relevant - alarms
    return np.stack([counts.hits, misses, alarms, rest], axis=1).reshape(-1, 2, 2)


@documented_like(of_sets)
def label_confusion(Y: Any, predicted: Any) -> sp.csr_array:
    """Count for labels u, v the instances in which u was missed and v wrongly given.

    An instance with several misses or false alarms counts for each of their pairs. Unknown labels
    (NaN) are neither.

    Returns
    -------
    sparse array (K, K) of whole numbers: missed in rows, wrongly given in columns

    Examples
    --------
    >>> label_confusion([[1, 0], [1, 0], [0, 1]], [[0, 1], [0, 1], [0, 1]]).toarray().tolist()
    [[0, 2], [0, 0]]
    """
    sets = check_sets(Y, predicted)
    missed = (sets.relevant - sets.hits).astype(np.int64)
    alarms = sp.csr_array(sets.predicted, dtype=np.int64) - sets.hits - sets.strays
    counts = sp.csr_array(missed.T @ alarms)
    counts.eliminate_zeros()
    return counts
