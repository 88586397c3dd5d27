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
from labelrank.datasets.opening import Source, check_choice
from labelrank.errors import FormatError, LabelrankError
from labelrank.relevance import check_relevance
from labelrank.rows import of_lengths

_YES_OF = {"0": "1", "f": "t", "false": "true", "n": "y", "no": "yes", "off": "on"}
_MOST_CLASSES = 1000


def to_dataset(
    table: Table, targets_at: Sequence[int], source: Source, nominal: str, targets: str
) -> Dataset:
    """Features from all other columns, targets from the columns `targets_at`, in that order."""
    check_choice("nominal", nominal, ("ordinal", "onehot"))
    check_choice("targets", targets, ("auto", "relevance", "classes"))
    source.limits.check("labels", len(targets_at), source.name)
    chosen = set(targets_at)
    if chosen & set(table.texts):
        raise FormatError(
            f"{source.name}: a target is a string attribute; declare its nominal values"
        )
    features = [k for k in range(len(table.attributes)) if k not in chosen | set(table.texts)]
    X, names = _features(table, features, nominal, source)
    Y, classes = _targets(table, list(targets_at), targets, source)
    cells = zip(*table.texts.values())
    texts = ["\n".join(filter(None, row)) for row in cells] if table.texts else None
    return Dataset(
        source.stem, X if features or not table.texts else None, Y, texts,
        label_names=[table.attributes[k].name for k in targets_at], feature_names=names,
        target_classes=classes,
    )  # fmt: skip


def _says_no_first(values: Sequence[str]) -> bool | None:
    """True for (no, yes), False for (yes, no), None for anything else."""
    lowered = [value.lower() for value in values]
    if len(lowered) == 1 and lowered[0] in ("0", "1"):
        return lowered[0] == "0"
    if len(lowered) != 2:
        return None
    if _YES_OF.get(lowered[0]) == lowered[1]:
        return True
    return False if _YES_OF.get(lowered[1]) == lowered[0] else None


def _take(table: Table, columns: list[int], source: Source) -> Any:
    """The columns with 0 for no and 1 for yes."""
    taken = table.values[:, columns]
    kinds = [table.attributes[k] for k in columns]
    turned = [k for k, a in enumerate(kinds) if a.values and _says_no_first(a.values) is False]
    if not turned:
        return taken
    if not sp.issparse(taken):
        taken[:, turned] = 1 - taken[:, turned]
        return taken
    # 1 - value, where a value left out is 0
    n = taken.shape[0]
    source.limits.check("cells", n * len(turned), source.name)
    negated = taken.copy()
    negated.data[np.isin(taken.indices, turned)] *= -1
    return _clean(negated + _ones(n, turned, taken.shape[1]))


def _ones(n: int, columns: Any, width: int) -> Any:
    lengths = np.full(n, len(columns))
    return of_lengths(lengths, np.tile(columns, n), np.ones(n * len(columns)), width)


def _clean(matrix: Any) -> Any:
    matrix = sp.csr_array(matrix)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _features(
    table: Table, columns: list[int], nominal: str, source: Source
) -> tuple[Any, list[str]]:
    taken = _take(table, columns, source)
    kinds = [table.attributes[k] for k in columns]
    if nominal == "ordinal" or not any(_expands(a) for a in kinds):
        return taken, [a.name for a in kinds]
    widths = [len(a.values) if _expands(a) else 1 for a in kinds]
    source.limits.check("features", sum(widths), source.name)
    names: list[str] = []
    for a in kinds:
        names.extend([f"{a.name}={value}" for value in a.values] if _expands(a) else [a.name])
    spread, implied = _spread_dense, sum(widths)
    if sp.issparse(taken):
        spread, implied = _spread_sparse, sum(map(_expands, kinds))
    source.limits.check("cells", taken.shape[0] * implied, source.name)
    return spread(taken, kinds, widths), names


def _expands(attribute: Attribute) -> bool:
    return len(attribute.values) > 1 and _says_no_first(attribute.values) is None


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
    table: Table, columns: list[int], targets: str, source: Source
) -> tuple[Any, list[list[str]] | None]:
    kinds = [table.attributes[k] for k in columns]
    taken = _take(table, columns, source)
    pairs = all(_says_no_first(a.values) is not None for a in kinds if a.kind == "nominal")
    stored = taken.data if sp.issparse(taken) else taken
    relevance = pairs and not (stored < 0).any()
    if not pairs or not relevance or targets == "classes":
        source.limits.check("cells", taken.shape[0] * len(columns), source.name)
    if targets == "relevance" or (targets == "auto" and relevance):
        return _relevance(kinds, taken, source.name), None
    dense = table.values[:, columns]
    return _classes(dense.toarray() if sp.issparse(dense) else dense, kinds, source.name)


def _relevance(kinds: list[Attribute], taken: Any, where: str) -> Any:
    """Grades: numbers as they are, nominal values by the number they spell."""
    for k, attribute in enumerate(kinds):
        if attribute.kind != "nominal" or _says_no_first(attribute.values) is not None:
            continue
        taken = taken.toarray() if sp.issparse(taken) else taken
        taken[:, k] = _spelled(taken[:, k], attribute, where)
    try:
        return check_relevance(taken) if kinds else sp.csr_array((taken.shape[0], 0))
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
