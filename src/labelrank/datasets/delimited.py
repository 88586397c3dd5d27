"""Text of cells with separators between them (CSV, TSV): what separates them is found and said."""

import csv
import io
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, count, islice
from typing import IO, Any, NamedTuple

from labelrank.datasets import encodings
from labelrank.datasets.opening import ROW, Source, byte_order_mark
from labelrank.datasets.options import Options
from labelrank.errors import FormatError, InputError

_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "pipes", " ": "spaces"}
_SPELLED = {
    "tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " ",
}  # fmt: skip
_FOUND = ",;\t|"
_HEAD, _HEAD_ROWS = 1 << 16, 200
_NUMBER = re.compile(r"\s*[-+]?\d[\d.,]*\s*")
_PIECE = 1 << 16
_OWN = {"csv": ",", "tsv": "\t"}
USUAL = frozenset({"text", "texts", "document", "label", "labels", "tag", "tags", "topics"})
_WIDE = ("utf-16", "utf16", "utf_16", "utf-32", "utf32", "utf_32")

Rows = Iterable[tuple[int, list[str]]]


class Delimited(NamedTuple):
    """Rows with the numbers of their lines, what separates their cells, and what to say of it."""

    rows: Any
    separator: str
    remarks: list[str]


def text_of(source: Source, encoding: str | None) -> tuple[str, list[str]]:
    """The text of a file, and a remark where its encoding had to be guessed."""
    if encoding is None:
        encoding = encodings.found(source.content, source.name)
        if encoding is not None:
            return source.text(encoding), [f"The text is not UTF-8; it was read as {encoding}."]
    return source.text(encoding), []


def read(source: Source, format: str, encoding: str | None, separator: str | None) -> Delimited:
    """All rows of a file."""
    source.check_lines(ROW)
    text, remarks = text_of(source, encoding)
    said, text = _said(text)
    mark = _mark(separator) or said or found_separator(_head(text), _OWN[format], source)
    remarks += _told(mark, format, separator)
    before = int(said is not None)
    if format == "csv" or mark != "\t":
        rows = _all(text, mark, True, source, before)
    else:
        try:
            rows = _all(text, mark, '"' in text, source, before)
            _check_widths(rows, source)
        except FormatError:
            rows = _all(text, mark, False, source, before)
    n_titles = titles([row for _, row in rows[:_HEAD_ROWS]])
    return Delimited(rows[n_titles:], mark, remarks + told_titles(n_titles))


def titles(rows: Sequence[Sequence[Any]]) -> int:
    """How many rows stand above the header: at most one cell of theirs is filled.

    All rows from the header on are of one length, and the header names three columns or more.

    >>> titles([["Sales in 2024"], ["id", "text", "labels"], ["1", "ships", "sea"]])
    1
    """
    filled = [sum(cell not in ("", None) for cell in row) for row in rows]
    first = next((k for k, n in enumerate(filled) if n > 1), 0)
    if not first or len(rows) < first + 2 or filled[first] < 3:
        return 0
    names = rows[first]
    is_header = all(isinstance(name, str) and not _NUMBER.fullmatch(name) for name in names if name)
    return first if is_header and all(len(row) == len(names) for row in rows[first:]) else 0


def told_titles(n_titles: int) -> list[str]:
    """A remark on rows above the header."""
    are = "row above the header is" if n_titles == 1 else "rows above the header are"
    return [f"{n_titles} {are} left out."] if n_titles else []


def is_header(line: str, wanted: Iterable[str], source: Source) -> bool:
    """Whether a line names these columns or, where none are wanted, one of a usual name."""
    mark = found_separator(line, ",", source)
    found = {cell.strip() for row in csv.reader([line], delimiter=mark) for cell in row}
    wanted = set(wanted)
    if wanted:
        return wanted <= found
    return len(found) > 1 and bool(USUAL & {name.lower() for name in found})


def stream(
    numbered: Iterator[tuple[int, str]], source: Source, format: str, encoding: str | None,
    separator: str | None,
) -> Delimited:  # fmt: skip
    """The rows of lines as they come."""
    first = next((pair for pair in numbered if pair[1].strip()), None)
    if first is None:
        return Delimited(iter(()), _OWN[format], [])
    said, _ = _said(first[1] + "\n")
    start = [] if said else [first]
    head = first[1] if source.path == "-" else _start_of(source, encoding)
    mark = _mark(separator) or said or found_separator(head, _OWN[format], source)
    is_quoted = mark != "\t" or '"' in head
    text = (line + "\n" for _, line in chain(start, numbered))
    before = first[0] - 1 + bool(said)
    rows = _split(text, mark, is_quoted, source, before)
    n_titles = 0 if source.path == "-" else titles(_first_rows(head, mark, source))
    return Delimited(islice(rows, n_titles, None), mark, _told(mark, format, separator))


def _first_rows(head: str, mark: str, source: Source) -> list[list[str]]:
    """The first rows, as far as they can be read."""
    _set_limit(source)
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows += islice(filter(None, csv.reader(io.StringIO(head), delimiter=mark)), _HEAD_ROWS)
    return rows


def _start_of(source: Source, encoding: str | None) -> str:
    """The first lines of a file."""
    found, size = [], 0
    for _, line in lines(source, encoding):
        found.append(line)
        size += len(line)
        if size > _HEAD or len(found) > _HEAD_ROWS:
            break
    return "\n".join(found) + "\n"


def _said(text: str) -> tuple[str | None, str]:
    """The separator that a first line `sep=;` names, as spreadsheets write it, and the rest."""
    line, _, rest = text.partition("\n")
    line = line.rstrip("\r")
    if len(line) == 5 and line.lower().startswith("sep="):
        return line[4], rest
    return None, text


def _mark(separator: str | None) -> str | None:
    if separator is None:
        return None
    mark = _SPELLED.get(separator.lower(), separator)
    if len(mark) != 1 or mark in '"\r\n\0':
        named = ", ".join(repr(name) for name in ("tab", ";", "|"))
        raise InputError(f"got separator {separator!r}; give one character, such as {named}")
    return mark


def _told(mark: str, format: str, separator: str | None) -> list[str]:
    if separator is not None or mark == _OWN[format]:
        return []
    return [f"Cells are separated by {_NAMES.get(mark, repr(mark))}."]


def _head(text: str) -> str:
    """The first rows, the last one whole."""
    return text if len(text) <= _HEAD else text[: text.rfind("\n", 0, _HEAD) + 1] or text[:_HEAD]


def found_separator(head: str, own: str, source: Source) -> str:
    """The separator that cuts most of the first rows as it cuts the header.

    Where several do so alike, it is the one that makes more columns, then the format's own.
    """
    _set_limit(source)

    def merit(mark: str) -> tuple[int, int, bool]:
        try:
            lines = csv.reader(io.StringIO(head, newline=""), delimiter=mark)
            rows = list(islice(filter(None, lines), _HEAD_ROWS))
        except csv.Error:
            return 0, 0, mark == own
        widths = [len(row) for row in rows[titles(rows) :]]
        if not widths or widths[0] < 2:
            return 0, 0, mark == own
        return widths.count(widths[0]), widths[0], mark == own

    return max(_FOUND, key=merit)


def _set_limit(source: Source) -> None:
    csv.field_size_limit(min(source.limits.line, (1 << 31) - 1))


def _all(
    text: str, mark: str, is_quoted: bool, source: Source, before: int
) -> list[tuple[int, list[str]]]:
    return list(_split(io.StringIO(text, newline=""), mark, is_quoted, source, before))


def _split(
    text: Iterable[str], mark: str, is_quoted: bool, source: Source, before: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Rows with the number of their last line (`before` lines came first); no blank ones."""
    _set_limit(source)
    quoting: Any = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
    reader = csv.reader(text, delimiter=mark, quoting=quoting, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num + before, row
    except csv.Error as error:
        line = reader.line_num + before
        way = (
            "write a quote within a quoted cell twice"
            if '"' in str(error)
            else ("close every quote, and quote cells of several lines")
        )
        raise FormatError(f"{source.name}, line {line}: {error}; {way}") from error


def header(first: Sequence[Any], options: Options, source: Source) -> list[str]:
    """Names of the columns: given, from the first row, or "0", "1", ..."""
    names = ["" if cell is None else str(cell).strip() for cell in first]
    if options.columns is not None:
        names = list(options.columns)
    elif not options.header:
        names = [str(k) for k in range(len(first))]
    source.limits.check("features", len(names), source.name)
    names = [name or f"Unnamed: {k}" for k, name in enumerate(names)]
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise FormatError(f"{source.name}: column {twice!r} occurs twice; rename one")
    return names


def columns(
    rows: Sequence[tuple[int, list[Any]]], names: Sequence[str], source: Source, unit: str = "line"
) -> dict[str, list[Any]]:
    """Columns of rows that must be as long as the names."""
    fitted = []
    for number, row in rows:
        if len(row) != len(names):
            row = _fitted(row, names)
        if len(row) != len(names):
            raise FormatError(
                f"{source.name}, {unit} {number}: got {len(row)} values, but {len(names)} columns "
                "are wanted; quote values that contain the separator"
            )
        fitted.append(row)
    values = [list(column) for column in zip(*fitted)] or [[] for _ in names]
    return dict(zip(names, values))


def _fitted(row: list[Any], names: Sequence[str]) -> list[Any]:
    """The row without empty cells at its end that have no column, and with those that it lacks."""
    if not any(row[len(names) :]):
        row = row[: len(names)]
    missing = names[len(row) :]
    return row if any(map(_is_named, missing)) else [*row, *[""] * len(missing)]


def _is_named(name: str) -> bool:
    return bool(name) and not name.startswith("Unnamed: ")


def _check_widths(rows: Sequence[tuple[int, list[str]]], source: Source) -> None:
    if rows:
        columns(rows, rows[0][1], source)


def without_empty(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns without those that have neither a name nor a value."""
    return {
        name: cells
        for name, cells in columns.items()
        if _is_named(name) or any(cell not in ("", None) for cell in cells)
    }


def lines(
    source: Source, encoding: str | None, *, is_strict: bool | None = False
) -> Iterator[tuple[int, str]]:
    """Numbered lines, none longer than the limit; those that are not UTF-8 are refused if strict.

    JSON is, where that is None.
    Without a given encoding, text that was ASCII so far may turn out to be Western European.
    """
    with source.stream() as file:
        peeked: Any = file
        start = peeked.peek(1)
        wide = encoding or byte_order_mark(start) or encodings.wide_of(start) or ""
        if wide.lower().startswith(_WIDE):
            yield from enumerate(_wide_lines(source, file, wide), 1)
        else:
            yield from enumerate(_narrow_lines(source, file, encoding, is_strict), 1)


def _narrow_lines(
    source: Source, file: Any, codec: str | None, is_strict: bool | None
) -> Iterator[str]:
    longest, is_ascii = source.limits.line, True
    coming = iter(partial(file.readline, longest + 2), b"")
    start = file.peek(1)
    is_strict = start.lstrip().startswith(b"{") if is_strict is None else is_strict
    if b"\r" in start and b"\n" not in start:
        coming = _old_lines(file, longest)
    elif source.eager:
        coming = _at_hand(source, file)
    for number, raw in enumerate(coming, 1):
        where = f"{source.name}, line {number}"
        source.limits.check("line", len(raw.rstrip(b"\r\n")), where)
        raw = raw.removeprefix(BOM_UTF8) if number == 1 else raw
        if codec is None and is_ascii and not raw.isascii():
            is_ascii = False
            if not (is_strict or _is_utf8(raw)) and encodings.is_western(raw):
                codec = encodings.WESTERN
        yield _decoded(raw, codec or "utf-8", where)


def _old_lines(file: IO[bytes], longest: int) -> Iterator[bytes]:
    """Lines that end in a carriage return alone."""
    text = io.TextIOWrapper(file, "latin-1", newline="\r")
    return (line.encode("latin-1") for line in iter(partial(text.readline, longest + 2), ""))


def _at_hand(source: Source, file: IO[bytes]) -> Iterator[bytes]:
    """Lines as they come; the source says where the next one must be waited for."""
    pieces: list[bytes] = []
    size = 0
    more: Any = file
    while piece := more.read1(_PIECE):
        pieces.append(piece)
        size += len(piece)
        source.limits.check("line", 0 if b"\n" in piece else size, source.name)
        if b"\n" in piece:
            *whole, rest = b"".join(pieces).split(b"\n")
            pieces, size = [rest], len(rest)
            for place, line in enumerate(whole, 1):
                source.must_wait = place == len(whole)
                yield line + b"\n"
    if size:
        yield b"".join(pieces)


def _wide_lines(source: Source, file: IO[bytes], codec: str) -> Iterator[str]:
    """Lines of an encoding of two or four bytes per character."""
    try:
        text = io.TextIOWrapper(file, codec, newline="\n")
        for number in count(1):
            line = text.readline(source.limits.line + 2)
            if not line:
                return
            line = line.rstrip("\r\n")
            source.limits.check("line", len(line), f"{source.name}, line {number}")
            yield line
    except (UnicodeError, LookupError) as error:
        raise FormatError(f"{source.name}: not {codec} text; give its encoding") from error


def _decoded(raw: bytes, codec: str, where: str) -> str:
    try:
        line = raw.decode(codec).rstrip("\r\n")
    except (UnicodeError, LookupError) as error:
        raise FormatError(f"{where}: not {codec} text; give its encoding") from error
    if "\0" in line:
        raise FormatError(f"{where}: a zero byte; not a text file")
    return line


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
