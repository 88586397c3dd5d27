"""The header of an ARFF file, and its quoting: names, types, nominal values."""

import re
from dataclasses import dataclass

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NAME = re.compile(rf"\s*({_QUOTED}|[^\s{{}}'\"][^\s{{}}]*|[{{}}][^\s]*)\s*", re.DOTALL)
_VALUE = re.compile(rf"\s*(?:({_QUOTED})\s*|([^,]*))(?:,|$)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
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
    written = re.match(_QUOTED, rest[0].strip()) if rest else None
    if written:
        return Attribute(name, "date", date_format=unquote(written[0]))
    bare = rest[0].strip() if rest else ""
    given = {"date_format": bare} if bare and not bare.startswith("%") else {}
    return Attribute(name, "date", **given)  # type: ignore[arg-type]


_NOMINAL = re.compile(rf"\{{((?:{_QUOTED}|[^'\"}}])*)\}}", re.DOTALL)


def _nominal_values(declared: str) -> tuple[str, ...]:
    match = _NOMINAL.match(declared)
    if match is None:
        raise ValueError("a list of nominal values that does not end in '}'")
    values = ["?" if value is None else value for value in split_values(match[1])]
    if len(set(values)) != len(values):
        raise ValueError("a nominal value declared twice")
    return () if values == [""] else tuple(values)
