"""Y: which labels are relevant to an instance, how much, and which are unknown.

One convention for all learners and criteria (n instances, K labels):
`Y[i, k] = 0` irrelevant; `> 0` relevant, a larger grade is preferred; NaN unknown: the label
takes part in no preference, no update and no criterion of that instance. A 0/1 indicator is
the case in which the relevant labels are tied.

Inside the library Y is always canonical CSR of float64: no stored zeros, sorted columns,
NaN stored.
"""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from labelrank.errors import InputError

_LISTS_HINT = "convert label lists with RelevanceBinarizer first"


def check_relevance(
    Y: Any, *, n_rows: int | None = None, n_labels: int | None = None
) -> sp.csr_array:
    """Canonical CSR of a dense or sparse relevance matrix, or an InputError that says why not."""
    csr = sp.csr_array(Y, copy=True) if sp.issparse(Y) else _from_dense(Y)
    csr = csr.astype(np.float64, copy=False)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    if csr.shape[1] == 0:
        raise InputError("got a relevance matrix without labels; give at least one label column")
    if (csr.data < 0).any():
        raise InputError(
            f"got negative relevance ({np.nanmin(csr.data):g}); use 0 for irrelevant, "
            "larger for more relevant, NaN for unknown"
        )
    if np.isinf(csr.data).any():
        raise InputError("got infinite relevance; use finite grades, NaN for unknown")
    if n_rows is not None and csr.shape[0] != n_rows:
        raise InputError(
            f"X has {n_rows} rows but Y has {csr.shape[0]}; give one row of Y per row of X"
        )
    if n_labels is not None and csr.shape[1] != n_labels:
        raise InputError(
            f"Y has {csr.shape[1]} label columns but {n_labels} are expected; "
            "use the same labels in the same order"
        )
    return csr


def _from_dense(Y: Any) -> sp.csr_array:
    try:
        dense = np.asarray(Y)
    except ValueError as error:
        raise InputError(f"got Y with rows of unequal length; {_LISTS_HINT}") from error
    if dense.dtype.kind not in "biuf":
        raise InputError(f"got Y of type {dense.dtype}; give numbers >= 0, or {_LISTS_HINT}")
    if dense.ndim != 2:
        raise InputError(
            f"got Y with {dense.ndim} dimension(s); give a matrix (instances x labels)"
        )
    return sp.csr_array(dense)


def is_class_vector(Y: Any) -> bool:
    """True for scikit-learn's multi-class targets: one class an instance."""
    if sp.issparse(Y):
        return False
    shape = getattr(Y, "shape", None)
    if shape is not None:
        return len(shape) == 1
    try:
        return np.asarray(Y).ndim == 1
    except ValueError:
        return False


def from_classes(y: Any, classes: npt.NDArray[Any]) -> sp.csr_array:
    """One relevant label an instance: the column of its class in sorted `classes`."""
    y = np.asarray(y)
    columns = np.searchsorted(classes, y)
    columns = np.minimum(columns, len(classes) - 1)
    unseen = np.unique(y[classes[columns] != y])
    if len(unseen):
        raise InputError(f"got unknown classes {unseen[:5].tolist()}; declare them by `classes`")
    n = len(y)
    return sp.csr_array((np.ones(n), columns, np.arange(n + 1)), shape=(n, len(classes)))


def cardinality(Y: sp.csr_array) -> float:
    """Mean number of relevant labels of an instance."""
    return float((Y.data > 0).sum() / max(Y.shape[0], 1))


class RelevanceBinarizer(TransformerMixin, BaseEstimator):
    """Label lists to relevance matrices and back.

    Parameters
    ----------
    ordered : bool, default False
        Lists state a preference, most relevant first: the grades of a list of m labels are
        m, m-1, ..., 1. Otherwise every listed label gets grade 1.
    classes : sequence or None
        The labels in column order; None takes the sorted labels of the data.
    unseen : {"error", "ignore"}
        What `transform` does with labels not met in `fit`; "ignore" leaves them out and warns.
    sparse_output : bool, default True

    Attributes
    ----------
    classes_ : ndarray of the labels, one a column

    Examples
    --------
    >>> from labelrank import RelevanceBinarizer
    >>> binarizer = RelevanceBinarizer(ordered=True, sparse_output=False)
    >>> binarizer.fit_transform([["wheat", "grain"], [], ["grain"]])
    array([[1., 2.],
           [0., 0.],
           [1., 0.]])
    >>> binarizer.inverse_transform([[1.0, 2.0]])
    [['wheat', 'grain']]
    """

    def __init__(
        self,
        *,
        ordered: bool = False,
        classes: Sequence[Any] | None = None,
        unseen: str = "error",
        sparse_output: bool = True,
    ) -> None:
        self.ordered = ordered
        self.classes = classes
        self.unseen = unseen
        self.sparse_output = sparse_output

    def fit(self, lists: Iterable[Iterable[Any]], y: object = None) -> "RelevanceBinarizer":
        """Learn the labels; `y` is ignored."""
        if self.unseen not in ("error", "ignore"):
            raise InputError(f"got unseen={self.unseen!r}; use 'error' or 'ignore'")
        if self.classes is not None:
            labels = list(self.classes)
            if len(set(labels)) != len(labels):
                raise InputError("got `classes` with repeated labels; name each label once")
        else:
            found = {label for labels in _lists(lists) for label in labels}
            labels = sorted(found, key=lambda label: (type(label).__name__, label))
        if not labels:
            raise InputError("got no label at all; give at least one non-empty label list")
        self.classes_ = np.array(labels, dtype=object if _is_mixed(labels) else None)
        return self

    def transform(self, lists: Iterable[Iterable[Any]]) -> Any:
        """Relevance matrix of the lists."""
        check_is_fitted(self)
        column = {label: k for k, label in enumerate(self.classes_.tolist())}
        indptr, indices = [0], []
        data: list[int] = []
        ignored: dict[Any, None] = {}
        for labels in _lists(lists):
            known = [column[label] for label in dict.fromkeys(labels) if label in column]
            ignored.update((label, None) for label in labels if label not in column)
            indices.extend(known)
            data.extend(range(len(known), 0, -1) if self.ordered else [1] * len(known))
            indptr.append(len(indices))
        self._report(list(ignored))
        shape = (len(indptr) - 1, len(column))
        Y = sp.csr_array(
            (np.array(data, np.float64), np.array(indices, np.int64), indptr), shape=shape
        )
        Y.sort_indices()
        return Y if self.sparse_output else Y.toarray()

    def inverse_transform(self, Y: Any) -> list[list[Any]]:
        """Label lists, by falling grade (equal grades in column order); unknown labels left out."""
        check_is_fitted(self)
        csr = check_relevance(Y, n_labels=len(self.classes_))
        names = self.classes_.tolist()
        lists = []
        for i in range(csr.shape[0]):
            span = slice(csr.indptr[i], csr.indptr[i + 1])
            graded = zip(-csr.data[span], csr.indices[span], strict=True)
            lists.append([names[k] for grade, k in sorted(p for p in graded if p[0] < 0)])
        return lists

    def _report(self, unseen: list[Any]) -> None:
        if not unseen:
            return
        some = ", ".join(repr(label) for label in unseen[:5])
        if self.unseen == "error":
            raise InputError(
                f"got {len(unseen)} label(s) not met in fit ({some}); "
                "fit on them too, or use unseen='ignore'"
            )
        warnings.warn(f"{len(unseen)} unseen label(s) ignored: {some}", UserWarning, stacklevel=3)


def _lists(lists: Iterable[Iterable[Any]]) -> list[list[Any]]:
    found = []
    for labels in lists:
        if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
            raise InputError(f"got {labels!r} where a list of labels is wanted; wrap it in [ ]")
        found.append(list(labels))
    return found


def _is_mixed(labels: list[Any]) -> bool:
    return len({type(label) for label in labels}) > 1
