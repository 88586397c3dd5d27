"""`index value` pairs of sparse rows, many rows at once; the line of the first mistake if any."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from labelrank._types import Float64, Int64
from labelrank.datasets.opening import Limits
from labelrank.errors import FormatError

Result = TypeVar("Result")
_ROWS_AT_ONCE = 50_000


def numbers_in(text: str, separator: str, expected: int) -> Float64:
    """Numbers of a text in which `separator` stands between them; ValueError if not all are."""
    if not expected:
        return np.empty(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            found = np.fromstring(text, dtype=np.float64, sep=separator)
    except (ValueError, DeprecationWarning):
        found = np.empty(0)
    if len(found) != expected:
        raise ValueError("got something that is not a number where a number is wanted")
    if np.isinf(found).any():
        raise ValueError("got an infinite number; give finite ones")
    return found


def parse_pairs(bodies: Sequence[str], inner: str, outer: str) -> tuple[Int64, Any]:
    """Pairs of each row: how many, and all as an array; ValueError names the first defect."""
    counts = np.array([body.count(inner) for body in bodies], np.int64)
    text = " ".join(outer.join(body for body in bodies if body).split())
    if outer == ",":
        text = text.replace(", ", ",").replace(" ,", ",")
        counts = np.array([body.count(",") + 1 if body else 0 for body in bodies], np.int64)
    pairs = int(counts.sum())
    letters = np.frombuffer(text.encode(), np.uint8)
    marks = letters[(letters == ord(inner)) | (letters == ord(outer))]
    regular = (marks[::2] == ord(inner)).all() and (marks[1::2] == ord(outer)).all()
    if len(marks) != (2 * pairs - 1 if pairs else 0) or not regular:
        raise ValueError(f"got something else where a list of 'index{inner}value' is wanted")
    flat = numbers_in(text.replace(inner, " ").replace(outer, " "), " ", 2 * pairs)
    return counts, flat.reshape(-1, 2)


def located(
    parse: Callable[[Sequence[Any]], Result],
    rows: Sequence[Any],
    line_numbers: Sequence[int],
    name: str,
) -> Result:
    """`parse(rows)`; if it raises ValueError, a FormatError with the line of the first bad row."""
    try:
        return parse(rows)
    except FormatError:
        raise
    except ValueError as error:
        low, high, reason = 0, len(rows), error
        while high - low > 1:
            middle = (low + high) // 2
            try:
                parse(rows[low:middle])
                low = middle
            except ValueError as inside:
                high, reason = middle, inside
        try:
            parse(rows[low:high])
        except ValueError as inside:
            reason = inside
        raise FormatError(f"{name}, line {line_numbers[low]}: {reason}") from error


def sparse_rows(
    bodies: Sequence[str],
    line_numbers: Sequence[int],
    name: str,
    limits: Limits,
    marks: tuple[str, str],
    check: Callable[[Any], None],
) -> tuple[Int64, Int64, Float64]:
    """CSR parts of all rows, a block of rows at a time; `check` sees each block of pairs first."""

    def parse(block: Sequence[str]) -> tuple[Int64, Any]:
        counts, pairs = parse_pairs(block, *marks)
        check(pairs)
        _check_order(counts, pairs[:, 0])
        return counts, pairs

    parts = []
    for start in range(0, len(bodies), _ROWS_AT_ONCE):
        span = slice(start, start + _ROWS_AT_ONCE)
        parts.append(located(parse, bodies[span], line_numbers[span], name))
        limits.check("nonzeros", sum(len(pairs) for _, pairs in parts), name)
    counts = np.concatenate([c for c, _ in parts] or [np.empty(0, np.int64)])
    pairs = np.concatenate([p for _, p in parts] or [np.empty((0, 2))])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return indptr, pairs[:, 0].astype(np.int64), np.ascontiguousarray(pairs[:, 1])


def check_indices(indices: Float64, allowed: int, what: str) -> None:
    """ValueError unless all are whole numbers in 0..allowed-1."""
    bad = ~((indices >= 0) & (indices < allowed) & (indices == np.floor(indices)))
    if bad.any():
        got = indices[np.argmax(bad)]
        raise ValueError(
            f"got {what} {got:.15g}, but whole numbers from 0 to {allowed - 1} are wanted"
        )


def _check_order(counts: Int64, indices: Float64) -> None:
    rows = np.repeat(np.arange(len(counts)), counts)
    same = rows[1:] == rows[:-1]
    if (np.diff(indices)[same] > 0).all():
        return
    order = np.lexsort((indices, rows))
    if ((np.diff(indices[order]) == 0) & same).any():
        raise ValueError("got an index twice; name each index once in a row")


def csr(parts: tuple[Any, Any, Any], n_columns: int) -> sp.csr_array:
    """Sorted CSR without stored zeros."""
    indptr, indices, data = parts
    return cleaned(sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns)))


def cleaned(matrix: Any) -> sp.csr_array:
    """The matrix itself, as sorted CSR without duplicates or stored zeros."""
    matrix = sp.csr_array(matrix)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
