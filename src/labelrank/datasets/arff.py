"""ARFF files, dense and sparse: a table of attributes and numbers, in and out.

Nominal values are numbers by their position in the declaration, missing values NaN, dates
seconds since 1970 (UTC). A value that a sparse row leaves out is 0, the first nominal value
or the empty string.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.arff_parsing import Attribute, Rows, parse_attribute, quote, unquote
from labelrank.datasets.opening import Source, open_to_write
from labelrank.errors import FormatError


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


def write_table(table: Table, path: str | os.PathLike[str]) -> None:
    """Write an ARFF file, sparse if the values are; compressed as the name ends."""
    with open_to_write(path) as file:
        file.write(f"@relation {quote(table.relation)}\n\n".encode())
        for attribute in table.attributes:
            file.write(f"@attribute {quote(attribute.name)} {_declared(attribute)}\n".encode())
        file.write(b"\n@data\n")
        lines = _sparse_lines(table) if sp.issparse(table.values) else _dense_lines(table)
        file.writelines(line.encode() for line in lines)


def _declared(attribute: Attribute) -> str:
    if attribute.kind == "nominal":
        return "{" + ",".join(map(quote, attribute.values)) + "}"
    if attribute.kind == "date":
        return f"date {quote(attribute.date_format)}"
    return attribute.kind


def _written(table: Table) -> list[Any]:
    return [[quote(value) for value in a.values] for a in table.attributes]


def _cell(value: float, names: Sequence[str]) -> str:
    if np.isnan(value):
        return "?"
    return names[int(value)] if names else number(value)


def number(value: float) -> str:
    """Shortest text that reads back as the same number."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _dense_lines(table: Table) -> Iterable[str]:
    names = _written(table)
    for row, values in enumerate(np.asarray(table.values, np.float64).tolist()):
        cells = [_cell(value, names[column]) for column, value in enumerate(values)]
        for column, texts in table.texts.items():
            cells[column] = quote(texts[row])
        yield ",".join(cells) + "\n"


def _sparse_lines(table: Table) -> Iterable[str]:
    names, matrix = _written(table), table.values
    for row in range(matrix.shape[0]):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        entries = zip(matrix.indices[span].tolist(), matrix.data[span].tolist())
        cells = {column: _cell(value, names[column]) for column, value in entries}
        cells.update({c: quote(texts[row]) for c, texts in table.texts.items() if texts[row]})
        yield "{" + ",".join(f"{column} {cells[column]}" for column in sorted(cells)) + "}\n"
