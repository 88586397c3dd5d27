"""Tables of attributes: ARFF files in and out, and as features and targets.

`nominal` features are positions ("ordinal"; no and yes: 0 and 1), or one column a value ("onehot").
`targets`: "relevance", "classes", or "auto": relevance if all are numbers >= 0 or no and yes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.arff_parsing import Attribute, Rows, parse_attribute, quote, unquote
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import AnyPath, Source, check_choice, open_to_write
from labelrank.datasets.pairs import cleaned
from labelrank.errors import FormatError, LabelrankError
from labelrank.relevance import check_relevance
from labelrank.rows import of_lengths

_YES_OF = {"0": "1", "f": "t", "false": "true", "n": "y", "no": "yes", "off": "on"}
_MOST_CLASSES = 1000


@dataclass
class Table:
    """An ARFF file in memory: `values` is dense or CSR (instances x attributes)."""

    relation: str
    attributes: list[Attribute]
    values: Any
    texts: dict[int, list[str]] = field(default_factory=dict)


def read_table(source: Source, encoding: str | None = None) -> Table:
    """Read an ARFF file."""
    lines = source.lines(encoding, fallback="latin-1")
    if not lines:
        raise FormatError(f"{source.name}: the file is empty")
    relation, attributes, start = _header(lines, source)
    rows = [(number, line.strip()) for number, line in enumerate(lines[start:], start + 1)]
    rows = [(number, line) for number, line in rows if line and line[0] != "%"]
    source.limits.check("rows", len(rows), source.name)
    data = Rows([line for _, line in rows], [number for number, _ in rows], attributes, source.name)
    return Table(relation, attributes, *data.read(source.limits))


def _header(lines: list[str], source: Source) -> tuple[str, list[Attribute], int]:
    relation = ""
    attributes: list[Attribute] = []
    for number, line in enumerate(lines, 1):
        line = line.strip()
        word = line.split(None, 1)[0].lower() if line else "%"
        if word.startswith("%"):
            continue
        if word == "@data":
            if not attributes:
                raise FormatError(f"{source.name}, line {number}: @data before any @attribute")
            return relation, attributes, number
        if word.startswith("@relation"):
            relation = unquote(line[len("@relation") :].strip())
        elif word.startswith("@attribute"):
            try:
                attributes.append(parse_attribute(line))
            except ValueError as error:
                raise FormatError(f"{source.name}, line {number}: {error}") from error
            source.limits.check("features", len(attributes), source.name)
        else:
            raise FormatError(
                f"{source.name}, line {number}: got {line[:40]!r} where @relation, @attribute "
                "or @data is wanted; this is not an ARFF header"
            )
    raise FormatError(f"{source.name}: no @data line; the file is cut short or not ARFF")


def write_table(table: Table, path: AnyPath) -> None:
    """Write an ARFF file, sparse if the values are; compressed as the name ends."""
    with open_to_write(path) as file:
        file.write(f"@relation {quote(table.relation)}\n\n".encode())
        for attribute in table.attributes:
            file.write(f"@attribute {quote(attribute.name)} {_declared(attribute)}\n".encode())
        file.write(b"\n@data\n")
        names = [[quote(value) for value in one.values] for one in table.attributes]
        lines = _sparse_lines if sp.issparse(table.values) else _dense_lines
        file.writelines(line.encode() for line in lines(table, names))


def _declared(attribute: Attribute) -> str:
    if attribute.kind == "nominal":
        return "{" + ",".join(map(quote, attribute.values)) + "}"
    if attribute.kind == "date":
        return f"date {quote(attribute.date_format)}"
    return attribute.kind


def _cell(value: float, names: Sequence[str]) -> str:
    if np.isnan(value):
        return "?"
    return names[int(value)] if names else number(value)


def number(value: float) -> str:
    """Shortest text that reads back as the same number."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _dense_lines(table: Table, names: list[list[str]]) -> Iterable[str]:
    for row, values in enumerate(np.asarray(table.values, np.float64).tolist()):
        cells = [_cell(value, names[column]) for column, value in enumerate(values)]
        for column, texts in table.texts.items():
            cells[column] = quote(texts[row])
        yield ",".join(cells) + "\n"


def _sparse_lines(table: Table, names: list[list[str]]) -> Iterable[str]:
    matrix = table.values
    for row in range(matrix.shape[0]):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        entries = zip(matrix.indices[span].tolist(), matrix.data[span].tolist())
        cells = {column: _cell(value, names[column]) for column, value in entries}
        cells.update({c: quote(texts[row]) for c, texts in table.texts.items() if texts[row]})
        yield "{" + ",".join(f"{column} {cells[column]}" for column in sorted(cells)) + "}\n"


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


def has_codes(attribute: Attribute) -> bool:
    """Whether numbers stand for its values in the order they are declared; no and yes are 0, 1."""
    return attribute.kind == "nominal" and _says_no_first(attribute.values) is None


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
    return cleaned(negated + _ones(n, turned, taken.shape[1]))


def _ones(n: int, columns: Any, width: int) -> Any:
    lengths = np.full(n, len(columns))
    return of_lengths(lengths, np.tile(columns, n), np.ones(n * len(columns)), width)


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
    return cleaned(stored + _ones(shape[0], starts[:-1][expands], shape[1]) - replaced)


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
