"""Workbooks: the cells of one sheet of .xlsx or .ods, read as a stream within the limits.

Both are zip archives of XML. Sizes are checked before anything is unpacked, the number of cells
before rows are made. Nothing in a workbook is evaluated: a formula has the value saved with it.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from posixpath import join, normpath
from typing import IO, Any, NamedTuple
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from labelrank.datasets.opening import Source
from labelrank.errors import FormatError, LabelrankError, meant

_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, ParseError, DefusedXmlException, EOFError, OSError),
    *(ValueError, KeyError, IndexError, OverflowError, NotImplementedError, RuntimeError),
)
_DATES = frozenset({*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)})
_NO_DATE = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_MOST_COLUMNS = 16_384
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_WHOLE = re.compile(r"-?\d{1,15}")


class Sheet(NamedTuple):
    """Rows of cells, all of one length, with their numbers, and what to say of them."""

    rows: list[tuple[int, list[Any]]]
    remarks: list[str]


def read(source: Source, format: str, wanted: str | None) -> Sheet:
    """One sheet of a workbook, by its name or the first that has two rows."""
    reader = _xlsx if format == "xlsx" else _ods
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            _check_sizes(archive, source)
            name, names, cells = reader(archive, source, wanted)
            rows = _rows(cells, source)
            others = iter(names[1:] if wanted is None else ())
            while len(rows) < 2 and (name := next(others, "")):
                rows = _rows(reader(archive, source, name)[2], source)
    except LabelrankError:
        raise
    except _DAMAGED as error:
        raise FormatError(
            f"{source.name}: no workbook, or damaged ({str(error)[:100]}); save it again"
        ) from error
    if len(rows) < 2:
        raise FormatError(
            f"{source.name}: no record in the sheet {wanted or names[0]!r}; "
            "give a header and at least one row"
        )
    remarks = [f"The sheet {name!r} was read, of {len(names)}."] if len(names) > 1 else []
    return Sheet(rows, remarks)


def _check_sizes(archive: zipfile.ZipFile, source: Source) -> None:
    """Refuse an archive that would unpack to more than the limits, or that names a file twice."""
    infos = archive.infolist()
    size = sum(info.file_size for info in infos)
    source.limits.check("bytes", size, source.name)
    if size > source.limits.bytes_from(len(source.content)):
        raise FormatError(
            f"{source.name}: {size} bytes once decompressed, too many for its size; "
            "raise Limits(expansion=...) if the file is to be trusted"
        )
    if len({info.filename for info in infos}) < len(infos):
        raise ValueError("a file in it occurs twice")


def _rows(cells: Iterator[tuple[int, int, Any]], source: Source) -> list[tuple[int, list[Any]]]:
    """Rows from (row, column, value) in order; the widest gives their length."""
    found: list[tuple[int, dict[int, Any]]] = []
    width = 0
    for row, column, value in cells:
        if column >= _MOST_COLUMNS:
            raise FormatError(f"{source.name}, row {row}: more than {_MOST_COLUMNS} columns")
        if not found or found[-1][0] != row:
            if found and found[-1][0] > row:
                raise ValueError("rows out of order")
            found.append((row, {}))
            source.limits.check("rows", len(found), source.name)
        found[-1][1][column] = value
        width = max(width, column + 1)
    source.limits.check("features", width, source.name)
    source.limits.check("cells", width * len(found), source.name)
    return [(row, [values.get(k) for k in range(width)]) for row, values in found]


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _attribute(element: Any, name: str) -> str | None:
    """The attribute of this name, whatever its namespace."""
    found = (v for key, v in element.attrib.items() if key.rpartition("}")[2] == name)
    return next(found, None)


@contextmanager
def _opened(archive: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    with archive.open(name) as file:
        yield file


def _elements(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[str, Any]]:
    """Start and end of each element of a file of the archive."""
    with _opened(archive, name) as file:
        yield from iterparse(file, events=("start", "end"), forbid_dtd=True)


def _chosen(names: list[str], wanted: str | None, source: Source) -> str:
    if not names:
        raise ValueError("no sheet in it")
    if wanted is not None and wanted not in names:
        raise FormatError(
            f"{source.name}: no sheet {wanted!r}; {meant(wanted, names)}"
            f"it has {', '.join(map(repr, names[:8]))}"
        )
    return names[0] if wanted is None else wanted


def _xlsx(
    archive: zipfile.ZipFile, source: Source, wanted: str | None
) -> tuple[str, list[str], Iterator[tuple[int, int, Any]]]:
    paths, is_1904 = _sheets(archive)
    name = _chosen(list(paths), wanted, source)
    there = set(archive.namelist())
    texts = _shared(archive) if "xl/sharedStrings.xml" in there else []
    dates = _date_styles(archive) if "xl/styles.xml" in there else frozenset()
    start = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30)
    return name, list(paths), _cells_of_xlsx(archive, paths[name], texts, dates, start)


def _sheets(archive: zipfile.ZipFile) -> tuple[dict[str, str], bool]:
    """The files of the sheets by name, and whether days count from 1904."""
    targets, names, is_1904 = {}, {}, False
    for event, element in _elements(archive, "xl/_rels/workbook.xml.rels"):
        if event == "end" and _tag(element) == "Relationship":
            target = element.attrib["Target"]
            path = target.lstrip("/") if target.startswith("/") else join("xl", target)
            targets[element.attrib["Id"]] = normpath(path)
    for event, element in _elements(archive, "xl/workbook.xml"):
        if event == "end" and _tag(element) == "workbookPr":
            is_1904 = element.attrib.get("date1904") in ("1", "true")
        elif event == "end" and _tag(element) == "sheet":
            path = targets.get(_attribute_of_relation(element), "")
            if "worksheets" in path or path in archive.namelist():
                names[element.attrib["name"]] = path
    return names, is_1904


def _attribute_of_relation(element: Any) -> str:
    found = (v for key, v in element.attrib.items() if key.startswith("{") and key.endswith("}id"))
    return next(found, "")


def _shared(archive: zipfile.ZipFile) -> list[str]:
    """The texts that cells share, by number; readings of Asian characters (rPh) are left out."""
    texts: list[str] = []
    pieces: list[str] = []
    root, is_reading = None, False
    for event, element in _elements(archive, "xl/sharedStrings.xml"):
        tag = _tag(element)
        root = element if root is None else root
        if tag == "rPh":
            is_reading = event == "start"
        elif event == "end" and tag == "t" and not is_reading:
            pieces.append(element.text or "")
        elif event == "end" and tag == "si":
            texts.append(_unescaped("".join(pieces)))
            pieces.clear()
            root.clear()
    return texts


def _date_styles(archive: zipfile.ZipFile) -> frozenset[int]:
    """The numbers of the styles that show a number as a date."""
    dates, styles, in_cells = set(_DATES), [], False
    for event, element in _elements(archive, "xl/styles.xml"):
        tag = _tag(element)
        if tag == "cellXfs":
            in_cells = event == "start"
        elif event == "start":
            continue
        elif tag == "numFmt":
            code = _NO_DATE.sub("", element.attrib.get("formatCode", "")).lower()
            number = int(element.attrib["numFmtId"])
            if set(code) & set("dmy") and "general" not in code:
                dates.add(number)
            else:
                dates.discard(number)
        elif tag == "xf" and in_cells:
            styles.append(int(element.attrib.get("numFmtId", 0)))
    return frozenset(k for k, number in enumerate(styles) if number in dates)


def _cells_of_xlsx(
    archive: zipfile.ZipFile, path: str, texts: list[str], dates: frozenset[int], start: datetime
) -> Iterator[tuple[int, int, Any]]:
    """(row, column, value) of the cells that have a value."""
    row, column, parent, is_reading = 0, -1, None, False
    pieces: list[str] = []
    for event, element in _elements(archive, path):
        tag = _tag(element)
        if event == "start":
            if tag == "sheetData":
                parent = element
            elif tag == "row":
                row, column = int(element.attrib.get("r", row + 1)), -1
            elif tag == "c":
                column = _column(element.attrib.get("r"), column + 1)
                pieces.clear()
            is_reading = is_reading or tag == "rPh"
        elif tag == "rPh":
            is_reading = False
        elif tag in ("v", "t") and not is_reading:
            pieces.append(element.text or "")
        elif tag == "c":
            value = _value("".join(pieces), element.attrib, texts, dates, start)
            element.clear()
            if value is not None:
                yield row, column, value
        elif tag == "row" and parent is not None:
            parent.clear()


def _column(reference: str | None, following: int) -> int:
    """The number of the column in a reference such as BC12."""
    if reference is None:
        return following
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise ValueError(f"a cell called {reference[:20]!r}")
    column = 0
    for letter in match[1]:
        column = 26 * column + ord(letter) - 64
    return column - 1


def _value(
    text: str, attributes: Any, texts: list[str], dates: frozenset[int], start: datetime
) -> Any:
    """The value of a cell; None where it is empty or an error."""
    kind = attributes.get("t", "n")
    if kind == "s":
        return texts[int(text)] or None if text else None
    if kind in ("str", "inlineStr"):
        return _unescaped(text) or None
    if kind == "e" or not text:
        return None
    if kind == "b":
        return text.strip() in ("1", "true")
    if kind == "d":
        return datetime.fromisoformat(text)
    if int(attributes.get("s", 0)) in dates:
        days = float(text)
        return start + timedelta(seconds=round(days * 86400)) if 0 <= days < 2_958_466 else days
    return int(text) if _WHOLE.fullmatch(text) else float(text)


def _unescaped(text: str) -> str:
    """The text with the signs that XML cannot hold, which are written as _x000D_."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _ods(
    archive: zipfile.ZipFile, source: Source, wanted: str | None
) -> tuple[str, list[str], Iterator[tuple[int, int, Any]]]:
    names = []
    for event, element in _elements(archive, "content.xml"):
        if event == "start" and _tag(element) == "table":
            names.append(_attribute(element, "name") or "")
        elif event == "end" and _tag(element) == "table-row":
            element.clear()
    name = _chosen(names, wanted, source)
    return name, names, _cells_of_ods(archive, name)


def _cells_of_ods(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[int, int, Any]]:
    """(row, column, value) of the cells that have a value; repeated ones are written out."""
    row, depth, table, cells = 0, 0, None, []
    for event, element in _elements(archive, "content.xml"):
        tag = _tag(element)
        if tag == "table":
            is_wanted = depth > 0 or (_attribute(element, "name") or "") == name
            if event == "start" and is_wanted:
                depth += 1
                table = table if table is not None else element
            elif event == "end" and depth:
                depth -= 1
        elif event == "start" or depth != 1:
            continue
        elif tag in ("table-cell", "covered-table-cell"):
            times = int(_attribute(element, "number-columns-repeated") or 1)
            cells.append((times, _ods_value(element)))
            element.clear()
        elif tag == "table-row":
            times = int(_attribute(element, "number-rows-repeated") or 1)
            filled = list(_written_out(cells))
            for k in range(times if filled else 0):
                yield from ((row + k + 1, column, value) for column, value in filled)
            row, cells = row + times, []
            element.clear()


def _written_out(cells: list[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    column = 0
    for times, value in cells:
        if value is not None:
            yield from ((column + k, value) for k in range(min(times, _MOST_COLUMNS + 1)))
        column += times


def _ods_value(cell: Any) -> Any:
    kind = _attribute(cell, "value-type")
    if kind in ("float", "percentage", "currency"):
        text = _attribute(cell, "value") or ""
        return int(text) if _WHOLE.fullmatch(text) else float(text)
    if kind == "boolean":
        return _attribute(cell, "boolean-value") == "true"
    if kind == "date":
        return datetime.fromisoformat(_attribute(cell, "date-value") or "")
    lines = [_text(child) for child in cell if _tag(child) == "p"]
    return "\n".join(lines) or None


def _text(element: Any) -> str:
    """The text of a paragraph, with its repeated spaces (s) and without its notes."""
    pieces = [element.text or ""]
    for child in element:
        tag = _tag(child)
        if tag == "s":
            pieces.append(" " * min(int(_attribute(child, "c") or 1), 1000))
        elif tag in ("tab", "line-break"):
            pieces.append("\t" if tag == "tab" else "\n")
        elif tag != "annotation":
            pieces.append(_text(child))
        pieces.append(child.tail or "")
    return "".join(pieces)
