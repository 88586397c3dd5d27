"""Y: which labels are relevant to an instance, how much, and which are unknown.

`Y[i, k]` is 0 for irrelevant; > 0 for relevant, a larger grade is preferred; NaN for unknown: the
label takes part in nothing. Inside, Y is canonical CSR of float64: sorted, no zeros, NaN stored.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from labelrank._estimators import BaseEstimator, TransformerMixin
from labelrank.declared import array, check_parameters, choice, flag, stored, value
from labelrank.errors import InputError
from labelrank.rows import check_sparse, of_lengths

_LISTS_HINT = "convert label lists with RelevanceBinarizer first"


@dataclass(frozen=True)
class Checked:
    """Relevance that `check_relevance` has made: criteria take it without another check."""

    matrix: sp.csr_array

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_labels = self.matrix.shape
        return n_rows, n_labels


def check_relevance(Y: Any, n_rows: int | None = None, n_labels: int | None = None) -> sp.csr_array:
    """Canonical CSR of a dense or sparse relevance matrix, or an InputError that says why not."""
    if isinstance(Y, Checked):
        return Y.matrix
    if sp.issparse(Y):
        check_sparse(Y)
    csr = sp.csr_array((Y if sp.issparse(Y) else _from_dense(Y)).astype(np.float64))
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
        dense = np.asarray(without_mask(Y, "Y"))
    except ValueError as error:
        raise InputError(f"got Y with rows of unequal length; {_LISTS_HINT}") from error
    dense = numbers_of(dense)
    if dense.dtype.kind not in "biuf":
        raise InputError(f"got Y of type {dense.dtype}; give numbers >= 0, or {_LISTS_HINT}")
    if dense.ndim != 2:
        raise InputError(
            f"got Y with {dense.ndim} dimension(s); give a matrix (instances x labels)"
        )
    strange = dense.dtype == np.float16 or not dense.dtype.isnative  # to scipy
    return sp.csr_array(dense.astype(np.float64) if strange else dense)


def numbers_of(dense: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of objects as floats, NaN where one is missing; as it is if one is no number."""
    if dense.dtype.kind != "O":
        return dense
    known = ~missing(dense)
    if not all(isinstance(value, Number | np.bool_) for value in dense[known]):
        return dense
    numbers = np.full(dense.shape, np.nan)
    numbers[known] = dense[known].astype(np.float64)
    return numbers


def missing(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where a value is NaN, None or the NA of pandas."""
    if values.dtype.kind != "O":
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    gaps = [
        value is None or type(value).__name__ == "NAType" or (value != value) is True
        for value in values.ravel()
    ]
    return np.array(gaps, bool).reshape(values.shape)


def without_mask(values: Any, what: str) -> Any:
    """The values, or an InputError if some are masked: nobody would ask the mask."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"got {what} with masked values; fill them in first, as NaN where unknown")
    return values


def is_class_vector(Y: Any) -> bool:
    """True for scikit-learn's multi-class targets: one class per instance."""
    if sp.issparse(Y):
        return False
    try:
        return np.asarray(Y).ndim == 1
    except ValueError:
        return False


def from_classes(y: Any, classes: npt.NDArray[Any]) -> sp.csr_array:
    """One relevant label per instance: the column of its class in sorted `classes`."""
    y = np.asarray(y)
    columns = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unseen = np.unique(y[classes[columns] != y])
    if len(unseen):
        raise InputError(f"got unknown classes {unseen[:5].tolist()}; declare them by `classes`")
    n = len(y)
    return sp.csr_array((np.ones(n), columns, np.arange(n + 1)), shape=(n, len(classes)))


def from_grades(rows: Sequence[Mapping[int, float]], n_labels: int) -> sp.csr_array:
    """Canonical CSR of rows that map label columns to grades."""
    indices = [column for row in rows for column in row]
    data = np.array([grade for row in rows for grade in row.values()], np.float64)
    Y = of_lengths([len(row) for row in rows], indices, data, n_labels)
    Y.sort_indices()
    return Y


def cardinality(Y: sp.csr_array) -> float:
    """Mean number of relevant labels of an instance."""
    return float((Y.data > 0).sum() / max(Y.shape[0], 1))


def relevant_part(Y: sp.csr_array) -> sp.csr_array:
    """The relevant labels of each instance with their grades; unknown ones left out."""
    return _part(Y, Y.data > 0)


def unknown_part(Y: sp.csr_array) -> sp.csr_array:
    """The unknown labels of each instance."""
    return _part(Y, np.isnan(Y.data))


def _part(Y: sp.csr_array, chosen: npt.NDArray[np.bool_]) -> sp.csr_array:
    total = np.concatenate(([0], np.cumsum(chosen)))
    return sp.csr_array((Y.data[chosen], Y.indices[chosen], total[Y.indptr]), shape=Y.shape)


@stored(
    "LabelCounts", 1, relevant=array("i8", "K"), known=array("i8", "K"),
    n_silent=value(int, least=0), n_zeros=value(int, least=0),
)  # fmt: skip
class LabelCounts(NamedTuple):
    """How often labels are relevant and known; how many instances have no feature at all, and how
    many features of all instances are 0."""

    relevant: npt.NDArray[np.int64]
    known: npt.NDArray[np.int64]
    n_silent: int
    n_zeros: int

    @classmethod
    def none(cls) -> "LabelCounts":
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), 0, 0)

    def add(self, Y: sp.csr_array, n_silent: int, n_zeros: int) -> "LabelCounts":
        """With the instances of Y, of which so many have no feature; labels may be new in it."""
        new = Y.shape[1] - len(self.known)
        relevant, unknown = (
            np.bincount(part.indices, minlength=Y.shape[1])
            for part in (relevant_part(Y), unknown_part(Y))
        )
        return LabelCounts(
            np.pad(self.relevant, (0, new)) + relevant,
            np.pad(self.known, (0, new)) + Y.shape[0] - unknown,
            self.n_silent + n_silent,
            self.n_zeros + n_zeros,
        )

    def merged(self, other: "LabelCounts") -> "LabelCounts":
        """With the instances of other counts of the same labels."""
        n_silent, n_zeros = self.n_silent + other.n_silent, self.n_zeros + other.n_zeros
        relevant, known = self.relevant + other.relevant, self.known + other.known
        return LabelCounts(relevant, known, n_silent, n_zeros)

    def after_loading(self) -> None:
        if (self.relevant < 0).any() or (self.relevant > self.known).any():
            raise ValueError("a label is relevant more often than it is known")

    def shares(self) -> npt.NDArray[np.float64]:
        """How often each label is relevant, from 0 to 1, by Krichevsky and Trofimov."""
        return (self.relevant + 0.5) / (self.known + 1.0)


@stored(
    "TargetInfo", 1, classes=array("", "K"), one_class=value(bool), sparse=value(bool),
    dtype=value(np.dtype),
)  # fmt: skip
@dataclass(frozen=True)
class TargetInfo:
    """What the first Y looked like: the labels, and the form in which answers are given."""

    classes: npt.NDArray[Any]
    one_class: bool
    sparse: bool
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, Y: Any, classes: Any = None) -> "TargetInfo":
        """Look at Y; `classes` declares the labels in place of it."""
        one_class = is_class_vector(Y)
        dtype = getattr(Y, "dtype", None)
        is_integer = isinstance(dtype, np.dtype) and dtype.kind in "iu"
        if one_class:
            found = _sorted_classes(Y, classes)
        elif classes is not None:
            found = np.asarray(classes)
        else:
            names = getattr(Y, "columns", None)
            is_matrix = len(getattr(Y, "shape", ())) == 2
            n_labels = (Y if is_matrix else check_relevance(Y)).shape[1]
            found = np.arange(n_labels) if names is None else np.asarray(names)
        kind = np.dtype(dtype) if is_integer else np.dtype(np.int64)
        return cls(found, one_class, bool(sp.issparse(Y)), kind)

    def read(self, Y: Any, n_rows: int) -> sp.csr_array:
        """Y as canonical CSR relevance over these labels, or an InputError that says why not."""
        if not is_class_vector(Y):
            return check_relevance(Y, n_rows=n_rows, n_labels=len(self.classes))
        Y = np.asarray(Y)
        if not self.one_class:
            raise InputError("got a class vector, but the learner was fitted on a matrix")
        if len(Y) != n_rows:
            raise InputError(f"X has {n_rows} rows but y has {len(Y)}; give one class per row")
        return from_classes(Y, self.classes)

    def widened(self, classes: Any) -> "TargetInfo":
        """With labels declared after the first piece: known ones first, new ones behind."""
        classes = np.unique(classes) if self.one_class else np.asarray(classes)
        known = len(self.classes)
        if len(classes) < known or not np.array_equal(classes[:known], self.classes):
            raise InputError(
                f"got classes {classes[:5].tolist()}..., but the first {known} must be those "
                "already known, in the same order; put new labels behind them"
            )
        return replace(self, classes=classes)


def _sorted_classes(y: Any, classes: Any) -> npt.NDArray[Any]:
    try:
        check_classification_targets(np.asarray(without_mask(y, "y")))
        found = np.unique(np.asarray(y if classes is None else classes))
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"got y that is no vector of classes, one per row: {reason}") from error
    if len(found) < 2:
        raise InputError(
            f"got {len(found)} class ({', '.join(map(repr, found))}) in y; "
            "give at least two classes, or a relevance matrix"
        )
    return found


@stored("RelevanceBinarizer", 1, classes_=array("", "K"))
@dataclass(kw_only=True, eq=False, repr=False)
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

    ordered: bool = flag(False)
    classes: Sequence[Any] | npt.NDArray[Any] | None = None
    unseen: str = choice("error", "ignore")
    sparse_output: bool = flag(True)

    def fit(self, lists: Iterable[Iterable[Any]], y: object = None) -> "RelevanceBinarizer":
        """Learn the labels; `y` is ignored."""
        check_parameters(self)
        if self.classes is not None:
            labels = list(self.classes)
            if len(set(labels)) != len(labels):
                raise InputError("got `classes` with repeated labels; name each label once")
        else:
            found = {label for labels in label_lists(lists) for label in labels}
            labels = _sorted_labels(found)
        if not labels:
            raise InputError("got no label at all; give at least one non-empty label list")
        types = {type(label) for label in labels}
        if len(types) > 1 or not isinstance(labels[0], str | Number | np.generic):
            self.classes_ = np.empty(len(labels), object)
            self.classes_[:] = labels  # a tuple stays one label
        else:
            self.classes_ = np.array(labels)
        return self

    def transform(self, lists: Iterable[Iterable[Any]]) -> Any:
        """Relevance matrix of the lists."""
        check_is_fitted(self)
        column = {label: k for k, label in enumerate(self.classes_.tolist())}
        rows: list[dict[int, float]] = []
        unseen: dict[Any, None] = {}
        for labels in label_lists(lists):
            known = [column[label] for label in dict.fromkeys(labels) if label in column]
            unseen.update((label, None) for label in labels if label not in column)
            grades = range(len(known), 0, -1) if self.ordered else [1.0] * len(known)
            rows.append(dict(zip(known, grades)))
        self._report(list(unseen))
        Y = from_grades(rows, len(column))
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


def label_lists(lists: Any) -> list[list[Any]]:
    """Lists of the lists of labels, or an InputError if they are none."""
    return [_label_list(labels) for labels in listed(lists, "a list of label lists")]


def listed(values: Any, wanted: str) -> list[Any]:
    """The values as a list, or an InputError if they are none, such as a sparse vector."""
    is_strange = sp.issparse(values) or isinstance(values, memoryview)
    if is_strange or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise InputError(f"got {type(values).__name__} where {wanted} is wanted")
    return list(values)


def _label_list(labels: Any) -> list[Any]:
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise InputError(f"got {labels!r} where a list of labels is wanted; wrap it in [ ]")
    try:
        found = list(labels)
        hash(tuple(found))
    except TypeError as error:
        raise InputError(f"got labels that cannot be told apart ({error}); give texts") from error
    return found


def _sorted_labels(found: set[Any]) -> list[Any]:
    try:
        return sorted(found, key=lambda label: (type(label).__name__, label))
    except TypeError as error:
        raise InputError(f"got labels that cannot be sorted ({error}); give texts") from error
