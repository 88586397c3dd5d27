"""ARFF as text: attributes and their quoting, and data rows as numbers.

Nominal values are numbers by position, missing ones NaN.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from labelrank._types import Float64
from labelrank.datasets.opening import Limits
from labelrank.datasets.pairs import csr, located, numbers_in, sparse_rows

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NAME = re.compile(rf"\s*({_QUOTED}|[^\s{{}}'\"][^\s{{}}]*|[{{}}][^\s]*)\s*", re.DOTALL)
_VALUE = re.compile(rf"\s*(?:({_QUOTED})\s*|([^,]*))(?:,|$)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_COMMENT = re.compile(rf"((?:{_QUOTED}|[^'\"%]|(?<!\s)%)*)\s%", re.DOTALL)
_NOMINAL = re.compile(rf"\{{((?:{_QUOTED}|[^'\"}}])*)\}}", re.DOTALL)
_SPECIAL = re.compile(r"[\s,{}%'\"\\\x00-\x1f]|^\?$|^$")
NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """One column: `kind` is numeric, nominal (with its `values`), string or date."""

    name: str
    kind: str = "numeric"
    values: tuple[str, ...] = ()
    date_format: str = "yyyy-MM-dd'T'HH:mm:ss"

    @property
    def is_identity(self) -> bool:
        """Nominal with values 0, 1, 2, ...: the number written is the code."""
        return self.kind == "nominal" and self.values == tuple(map(str, range(len(self.values))))


def unquote(token: str) -> str:
    """Value of a token as written."""
    if len(token) < 2 or token[0] not in "'\"" or token[-1] != token[0]:
        return token
    return _ESCAPE.sub(_unescape, token[1:-1]) if "\\" in token else token[1:-1]


def _unescape(match: re.Match[str]) -> str:
    letter = match[1]
    if len(letter) == 5:
        return chr(int(letter[1:], 16))
    return _ESCAPES.get(letter, letter)


def quote(value: str) -> str:
    """A token that reads back as `value`."""
    if not _SPECIAL.search(value):
        return value
    for letter, escape in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r")):
        value = value.replace(letter, escape)
    value = value.replace("\t", "\\t").replace("%", "\\%")
    return f"'{value}'"


def split_values(text: str) -> list[str | None]:
    """Values between commas; an unquoted ? is None. ValueError for a broken quotation."""
    values: list[str | None] = []
    position, text = 0, text.strip()
    while True:
        match = _VALUE.match(text, position)
        if match is None or (match[2] or "").startswith(("'", '"')):
            raise ValueError(f"a quotation that does not end: {text[position : position + 40]!r}")
        bare = None if match[2] is None else match[2].rstrip()
        values.append(unquote(match[1]) if bare is None else None if bare == "?" else bare)
        position = match.end()
        if position >= len(text):
            return values if not text.endswith(",") or match[0][-1:] != "," else [*values, ""]


def parse_attribute(line: str) -> Attribute:
    """Attribute declared by a line; ValueError if it declares none."""
    match = _NAME.match(line, len("@attribute"))
    if match is None:
        raise ValueError("an @attribute without a name")
    name, declared = unquote(match[1]), line[match.end() :].strip()
    if declared.startswith("{"):
        return Attribute(name, "nominal", _nominal_values(declared))
    words = declared.split(None, 1)
    kind = words[0].lower() if words else ""
    if kind in NUMERIC:
        return Attribute(name)
    if kind == "string":
        return Attribute(name, "string")
    if kind == "date":
        return _date(name, words[1:])
    raise ValueError(
        f"attribute {name!r} of type {kind!r}; numeric, nominal, string and date can be read"
    )


def _date(name: str, rest: list[str]) -> Attribute:
    text = rest[0].strip() if rest else ""
    quoted = re.match(_QUOTED, text)
    if quoted:
        return Attribute(name, "date", date_format=unquote(quoted[0]))
    no_format = not text or text.startswith("%")
    return Attribute(name, "date") if no_format else Attribute(name, "date", date_format=text)


def _nominal_values(declared: str) -> tuple[str, ...]:
    match = _NOMINAL.match(declared)
    if match is None:
        raise ValueError("a list of nominal values that does not end in '}'")
    values = ["?" if value is None else value for value in split_values(match[1])]
    if len(set(values)) != len(values):
        raise ValueError("a nominal value declared twice")
    return () if values == [""] else tuple(values)


_CELLS_AT_ONCE = 2_000_000
_PAIR = re.compile(rf"\s*(\d+)\s+(?:({_QUOTED})\s*|([^,\s'\"][^,]*))(?:,|$)", re.DOTALL)
_DATE_LETTERS = {
    "yyyy": "%Y", "yy": "%y", "MMM": "%b", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d",
    "EEE": "%a", "HH": "%H", "H": "%H", "hh": "%I", "h": "%I", "a": "%p", "mm": "%M", "m": "%M",
    "ss": "%S", "s": "%S", "SSS": "%f", "S": "%f", "Z": "%z", "%": "%%",
}  # fmt: skip


class Rows:
    """Numbered data lines of one file, to be turned into numbers."""

    def __init__(
        self, lines: list[str], numbers: list[int], attributes: Sequence[Attribute], name: str
    ) -> None:
        self.lines, self.numbers, self.attributes, self.name = lines, numbers, attributes, name
        self.strings = [k for k, a in enumerate(attributes) if a.kind == "string"]

    def read(self, limits: Limits) -> tuple[Any, dict[int, list[str]]]:
        """Matrix of numbers (dense, or CSR of a sparse file) and the texts of string columns."""
        if any(line.startswith("{") for line in self.lines[:1]):
            return self._sparse(limits)
        return self._dense()

    def _dense(self) -> tuple[Float64, dict[int, list[str]]]:
        width = len(self.attributes)
        step = max(1, _CELLS_AT_ONCE // max(width, 1))
        blocks: list[Float64] = []
        texts: dict[int, list[str]] = {column: [] for column in self.strings}
        for start in range(0, len(self.lines), step):
            blocks.append(self._dense_block(start, min(start + step, len(self.lines)), texts))
        return np.concatenate(blocks) if blocks else np.empty((0, width)), texts

    def _dense_block(self, start: int, stop: int, texts: dict[int, list[str]]) -> Float64:
        lines, width = self.lines[start:stop], len(self.attributes)
        if all(a.kind == "numeric" or a.is_identity for a in self.attributes):
            try:
                return _all_numeric(lines, self.attributes)
            except ValueError:
                pass
        rows = located(lambda part: [_cells(line, width) for line in part], lines,
                       self.numbers[start:stop], self.name)  # fmt: skip
        table = np.empty((len(rows), width))
        for column, (attribute, cells) in enumerate(zip(self.attributes, zip(*rows))):
            if attribute.kind == "string":
                texts[column].extend("" if cell is None else cell for cell in cells)
                table[:, column] = 0
            else:
                table[:, column] = self._coded(attribute, cells, self.numbers[start:stop])
        return table

    def _coded(
        self, attribute: Attribute, cells: Sequence[str | None], numbers: list[int]
    ) -> list[float]:
        code = _coder(attribute)

        def parse(part: Sequence[str | None]) -> list[float]:
            return [_value(code, cell, attribute) for cell in part]

        return located(parse, cells, numbers, self.name)

    def _sparse(self, limits: Limits) -> tuple[Any, dict[int, list[str]]]:
        bodies = located(lambda part: [_body(line) for line in part], self.lines, self.numbers,
                         self.name)  # fmt: skip
        width = len(self.attributes)
        bulk = all(a.kind == "numeric" or a.is_identity for a in self.attributes)
        if bulk and not any("'" in body or '"' in body for body in bodies):
            allowed = np.array([len(a.values) for a in self.attributes])
            nominal = np.array([a.kind == "nominal" for a in self.attributes], bool)
            known = [body.replace("?", "nan") for body in bodies]
            parts = sparse_rows(known, self.numbers, self.name, limits, (" ", ","),
                                lambda pairs: _check_pairs(pairs, nominal, allowed))  # fmt: skip
            return csr(parts, width), {}
        limits.check("cells", len(self.strings) * len(bodies), self.name)
        return self._sparse_by_token(bodies)

    def _sparse_by_token(self, bodies: list[str]) -> tuple[Any, dict[int, list[str]]]:
        coders = [_coder(a) for a in self.attributes]
        rows = located(lambda part: [self._entries(body, coders) for body in part], bodies,
                       self.numbers, self.name)  # fmt: skip
        texts = {column: [row.pop(column, "") for row in rows] for column in self.strings}
        indptr = np.cumsum([0, *map(len, rows)])
        indices = np.array([column for row in rows for column in row], np.int64)
        data = np.array([value for row in rows for value in row.values()], np.float64)
        return csr((indptr, indices, data), len(self.attributes)), texts

    def _entries(self, body: str, coders: Sequence[Callable[[str], float]]) -> dict[int, Any]:
        """Values of a sparse row by column; ValueError if it is broken."""
        entries: dict[int, Any] = {}
        position = 0
        while position < len(body):
            match = _PAIR.match(body, position)
            if match is None or len(match[1]) > 10 or int(match[1]) >= len(self.attributes):
                raise ValueError(
                    f"got {body[position : position + 40]!r} where 'index value' is wanted, "
                    f"index below {len(self.attributes)}"
                )
            column = int(match[1])
            if column in entries:
                raise ValueError(f"got index {column} twice; name each index once in a row")
            bare = match[3] and match[3].rstrip()
            cell = unquote(match[2]) if bare is None else None if bare == "?" else bare
            if column in self.strings:
                entries[column] = cell or ""
            else:
                entries[column] = _value(coders[column], cell, self.attributes[column])
            position = match.end()
        return entries


def _body(line: str) -> str:
    if not line.startswith("{") or not line.endswith("}"):
        raise ValueError("got something else where a sparse row '{index value, ...}' is wanted")
    return line[1:-1].strip()


def _all_numeric(lines: list[str], attributes: Sequence[Attribute]) -> Float64:
    width = len(attributes)
    if any(line.count(",") != width - 1 for line in lines):
        raise ValueError("rows of unequal length")
    text = ",".join(lines)
    table = numbers_in(text.replace("?", "nan"), ",", len(lines) * width).reshape(-1, width)
    nominal = [k for k, a in enumerate(attributes) if a.kind == "nominal"]
    codes, allowed = table[:, nominal], np.array([len(attributes[k].values) for k in nominal])
    if not (np.isnan(codes) | ((codes >= 0) & (codes < allowed) & (codes == codes // 1))).all():
        raise ValueError("a nominal value that is not declared")
    return table


def _cells(line: str, width: int) -> list[str | None]:
    if "'" in line or '"' in line or "%" in line:
        comment = _COMMENT.match(line) if "%" in line else None
        cells = split_values(comment[1] if comment else line)
    elif "," not in line and width > 1:
        cells = [None if cell == "?" else cell for cell in line.split()]
    else:
        parts = line.replace(", ", ",").split(",") if " " in line else line.split(",")
        cells = [None if part == "?" else part for part in parts]
    if len(cells) != width:
        raise ValueError(f"got {len(cells)} values, but {width} attributes are declared")
    return cells


def _coder(attribute: Attribute) -> Callable[[str], float]:
    if attribute.kind == "nominal":
        codes = {value: code for code, value in enumerate(attribute.values)}
        return lambda cell: codes[cell] if cell in codes else codes[cell.strip()]
    if attribute.kind == "date":
        pattern = _date_pattern(attribute.date_format)
        return lambda cell: _seconds(cell.strip(), pattern)
    return _number


def _number(cell: str) -> float:
    value = float(cell) if "_" not in cell else float("inf")
    if value in (float("inf"), float("-inf")):
        if cell.strip() == "?":
            return float("nan")
        raise ValueError(cell)
    return value


def _value(code: Callable[[str], float], cell: str | None, attribute: Attribute) -> float:
    try:
        return np.nan if cell is None else code(cell)
    except (ValueError, KeyError, OverflowError):
        wanted = attribute.kind
        if wanted == "nominal":
            some = ", ".join(attribute.values[:5])
            wanted = f"one of {{{some}{', ...' if len(attribute.values) > 5 else ''}}}"
        raise ValueError(
            f"got {str(cell)[:40]!r} for attribute {attribute.name!r}, but {wanted} is wanted"
        ) from None


def _seconds(cell: str, pattern: str) -> float:
    try:
        moment = datetime.strptime(cell, pattern)
    except re.error as error:  # a pattern that names the same part twice
        raise ValueError(pattern) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _date_pattern(java: str) -> str:
    """`strptime` pattern of a Java date pattern; quoted parts stand for themselves."""
    pieces = re.findall(r"'([^']*)'|((.)\3*)", java)
    return "".join(
        literal.replace("%", "%%") if not run else _DATE_LETTERS.get(run, run)
        for literal, run, _ in pieces
    )


def _check_pairs(pairs: Any, nominal: Any, allowed: Any) -> None:
    indices, values = pairs[:, 0], pairs[:, 1]
    bad = ~((indices >= 0) & (indices < len(allowed)) & (indices == np.floor(indices)))
    if bad.any():
        got = indices[np.argmax(bad)]
        raise ValueError(f"got index {got:.15g}, but {len(allowed)} attributes are declared")
    columns = indices.astype(np.int64)
    code = values[nominal[columns]]
    inside = (code >= 0) & (code < allowed[columns][nominal[columns]]) & (code == np.floor(code))
    if not (inside | np.isnan(code)).all():
        got = code[np.argmin(inside | np.isnan(code))]
        raise ValueError(f"got nominal value {got:g}, which is not declared")
