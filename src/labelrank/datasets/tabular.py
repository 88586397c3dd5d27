"""A table of attributes becomes features and targets.

Nominal features: two values that say no and yes (0/1, f/t, no/yes, ...) are 0 and 1 in that
meaning, all others their position ("ordinal"), or one column a value ("onehot", where a missing
value is none of them). Missing numbers stay NaN.

Targets: relevance if each is a number >= 0 or such a pair, else classes by position.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.arff import Table
from labelrank.datasets.arff_parsing import Attribute
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import Limits
from labelrank.errors import FormatError, InputError, LabelrankError
from labelrank.relevance import check_relevance

_YES_OF = {"0": "1", "f": "t", "false": "true", "n": "y", "no": "yes", "off": "on"}
_MOST_CLASSES = 1000


def to_dataset(
    table: Table,
    targets_at: Sequence[int],
    *,
    name: str,
    where: str,
    limits: Limits,
    nominal: str = "ordinal",
    targets: str = "auto",
) -> Dataset:
    """Features from all other columns, targets from the columns `targets_at`, in that order."""
    _check_choice("nominal", nominal, ("ordinal", "onehot"))
    _check_choice("targets", targets, ("auto", "relevance", "classes"))
    limits.check("labels", len(targets_at), where)
    chosen = set(targets_at)
    if chosen & set(table.texts):
        raise FormatError(f"{where}: a target is a string attribute; declare its nominal values")
    features = [k for k in range(len(table.attributes)) if k not in chosen | set(table.texts)]
    X, names = _features(table, features, nominal, limits, where)
    Y, classes = _targets(table, list(targets_at), targets, limits, where)
    return Dataset(
        name=name,
        X=X if features or not table.texts else None,
        Y=Y,
        texts=_joined(table),
        label_names=[table.attributes[k].name for k in targets_at],
        feature_names=names,
        target_classes=classes,
    )


def _check_choice(what: str, got: str, allowed: tuple[str, ...]) -> None:
    if got not in allowed:
        raise InputError(f"got {what}={got!r}; use {' or '.join(map(repr, allowed))}")


def _joined(table: Table) -> list[str] | None:
    if not table.texts:
        return None
    return ["\n".join(part for part in parts if part) for parts in zip(*table.texts.values())]


def says_no_first(values: Sequence[str]) -> bool | None:
    """True for (no, yes), False for (yes, no), None for anything else."""
    lowered = [value.lower() for value in values]
    if len(lowered) == 1 and lowered[0] in ("0", "1"):
        return lowered[0] == "0"
    if len(lowered) != 2:
        return None
    if _YES_OF.get(lowered[0]) == lowered[1]:
        return True
    return False if _YES_OF.get(lowered[1]) == lowered[0] else None


def _take(table: Table, columns: list[int], limits: Limits, where: str) -> Any:
    """The columns with 0 for no and 1 for yes."""
    taken = table.values[:, columns]
    kinds = [table.attributes[k] for k in columns]
    turned = [k for k, a in enumerate(kinds) if a.values and says_no_first(a.values) is False]
    if not turned:
        return taken
    if not sp.issparse(taken):
        taken[:, turned] = 1 - taken[:, turned]
        return taken
    return _complement(taken, np.array(turned), limits, where)


def _complement(matrix: Any, columns: Any, limits: Limits, where: str) -> Any:
    """1 - value in the columns, where a value left out is 0."""
    n = matrix.shape[0]
    limits.check("cells", n * len(columns), where)
    ones = _ones(n, columns, matrix.shape[1])
    negated = matrix.copy()
    negated.data[np.isin(matrix.indices, columns)] *= -1
    return _clean(negated + ones)


def _ones(n: int, columns: Any, width: int) -> Any:
    indptr = np.arange(n + 1) * len(columns)
    parts = (np.ones(n * len(columns)), np.tile(columns, n), indptr)
    return sp.csr_array(parts, shape=(n, width))


def _clean(matrix: Any) -> Any:
    matrix = sp.csr_array(matrix)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _features(
    table: Table, columns: list[int], nominal: str, limits: Limits, where: str
) -> tuple[Any, list[str]]:
    taken = _take(table, columns, limits, where)
    kinds = [table.attributes[k] for k in columns]
    if nominal == "ordinal" or not any(_expands(a) for a in kinds):
        return taken, [a.name for a in kinds]
    widths = [len(a.values) if _expands(a) else 1 for a in kinds]
    limits.check("features", sum(widths), where)
    names = [
        name
        for a in kinds
        for name in ([f"{a.name}={v}" for v in a.values] if _expands(a) else [a.name])
    ]
    spread = _spread_sparse if sp.issparse(taken) else _spread_dense
    dense = 0 if sp.issparse(taken) else sum(widths)
    limits.check("cells", taken.shape[0] * max(dense, sum(map(_expands, kinds))), where)
    return spread(taken, kinds, widths), names


def _expands(attribute: Attribute) -> bool:
    return len(attribute.values) > 1 and says_no_first(attribute.values) is None


def _spread_dense(taken: Any, kinds: list[Attribute], widths: list[int]) -> Any:
    blocks = [
        taken[:, k : k + 1] == np.arange(width) if _expands(a) else taken[:, k : k + 1]
        for k, (a, width) in enumerate(zip(kinds, widths))
    ]
    if sum(widths) <= 4 * len(widths):
        return np.hstack(blocks).astype(np.float64)
    return sp.csr_array(sp.hstack([sp.csr_array(b.astype(np.float64)) for b in blocks]))


def _spread_sparse(taken: Any, kinds: list[Attribute], widths: list[int]) -> Any:
    """A value left out is the first one, so that its column is 1 wherever no other is stored."""
    starts = np.concatenate([[0], np.cumsum(widths)])
    expands = np.array([_expands(a) for a in kinds])
    spread = expands[taken.indices]
    known = spread & ~np.isnan(taken.data)
    rows = np.repeat(np.arange(taken.shape[0]), np.diff(taken.indptr))
    offset = np.where(known, np.nan_to_num(taken.data), 0).astype(np.int64)
    first = starts[:-1][taken.indices]
    data = np.where(spread, known.astype(float), taken.data)
    shape = (taken.shape[0], int(starts[-1]))
    stored = sp.csr_array((data, (rows, first + offset)), shape=shape)
    replaced = sp.csr_array((np.ones(spread.sum()), (rows[spread], first[spread])), shape=shape)
    return _clean(stored + _ones(shape[0], starts[:-1][expands], shape[1]) - replaced)


def _targets(
    table: Table, columns: list[int], targets: str, limits: Limits, where: str
) -> tuple[Any, list[list[str]] | None]:
    kinds = [table.attributes[k] for k in columns]
    taken = _take(table, columns, limits, where)
    pairs = all(says_no_first(a.values) is not None for a in kinds if a.kind == "nominal")
    stored = taken.data if sp.issparse(taken) else taken
    relevance = pairs and not (stored < 0).any()
    if not pairs or not relevance or targets == "classes":
        limits.check("cells", taken.shape[0] * len(columns), where)
    if targets == "relevance" or (targets == "auto" and relevance):
        return _relevance(table, taken, columns, where), None
    dense = table.values[:, columns]
    return _classes(dense.toarray() if sp.issparse(dense) else dense, kinds, where)


def _relevance(table: Table, taken: Any, columns: list[int], where: str) -> Any:
    """Grades: numbers as they are, nominal values by the number they spell."""
    for k, column in enumerate(columns):
        attribute = table.attributes[column]
        if attribute.kind != "nominal" or says_no_first(attribute.values) is not None:
            continue
        taken = taken.toarray() if sp.issparse(taken) else taken
        taken[:, k] = _spelled(taken[:, k], attribute, where)
    try:
        return check_relevance(taken) if columns else sp.csr_array((taken.shape[0], 0))
    except LabelrankError as error:
        raise FormatError(f"{where}: {error}") from error


def _spelled(codes: Any, attribute: Attribute, where: str) -> Any:
    try:
        grades = np.array([float(value) for value in attribute.values] + [np.nan])
    except ValueError as error:
        raise FormatError(
            f"{where}: target {attribute.name!r} has values that are no grades; "
            "use targets='classes'"
        ) from error
    return grades[np.where(np.isnan(codes), -1, codes).astype(int)]


def _classes(dense: Any, kinds: list[Attribute], where: str) -> tuple[Any, list[list[str]]]:
    coded, names = np.array(dense, np.float64), []
    for k, attribute in enumerate(kinds):
        if attribute.kind == "nominal":
            names.append(list(attribute.values))
            continue
        distinct = np.unique(coded[:, k][~np.isnan(coded[:, k])])
        if len(distinct) > _MOST_CLASSES:
            raise FormatError(
                f"{where}: target {attribute.name!r} has {len(distinct)} values, too many classes; "
                "use targets='relevance', or leave it out"
            )
        known = ~np.isnan(coded[:, k])
        coded[known, k] = np.searchsorted(distinct, coded[known, k])
        names.append([f"{value:g}" for value in distinct])
    return coded if np.isnan(coded).any() else coded.astype(np.int64), names
