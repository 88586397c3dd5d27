"""A spreadsheet file (.xlsx) written row by row, in bounded memory: one sheet of texts and numbers.

Texts stay texts, whatever they begin with: a program that opens the file runs no formula.
"""

import math
import re
import zipfile
from collections.abc import Iterable
from datetime import date, datetime
from typing import IO, Any
from xml.sax.saxutils import escape

from labelrank.errors import InputError

MOST_ROWS = 2**20
LONGEST = 32_767
_SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_KIND}.styles+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_KIND}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
    f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_SPREADSHEET}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="answers" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="r2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
    # Formats of cells: as they are, a date, a date with its time.
    "xl/styles.xml": f'<styleSheet xmlns="{_SPREADSHEET}"><fonts count="1"><font/></fonts>'
    '<fills count="1"><fill><patternFill patternType="none"/></fill></fills>'
    '<borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/>'
    '<xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs>'
    "</styleSheet>",
}
# What XML cannot hold, and what would be taken for such a sign written out.
_STRANGE = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


class Workbook:
    """Rows of cells into one sheet; `close` completes the file."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.name, self.n_rows, self.n_cut = name, 0, 0
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        for path, content in _PARTS.items():
            self._zip.writestr(path, _HEAD + content)
        self._sheet = self._zip.open("xl/worksheets/sheet1.xml", "w", force_zip64=True)
        self._write(f'{_HEAD}<worksheet xmlns="{_SPREADSHEET}"><sheetData>')

    def write(self, rows: Iterable[Iterable[Any]]) -> None:
        """Add rows; numbers stay numbers, None is an empty cell."""
        for row in rows:
            self.n_rows += 1
            if self.n_rows > MOST_ROWS:
                raise InputError(
                    f"{self.name}: got more rows than a spreadsheet holds ({MOST_ROWS:,} with the "
                    "heading); write .csv or .parquet"
                )
            self._write(f"<row>{''.join(map(self._cell, row))}</row>")

    def close(self) -> None:
        """Write the end of the sheet and the list of the parts."""
        self._write("</sheetData></worksheet>")
        self._sheet.close()
        self._zip.close()

    def abandon(self) -> None:
        """Let go of the file without completing it."""
        self._sheet.close()
        self._zip.close()

    def _write(self, text: str) -> None:
        self._sheet.write(text.encode())

    def _cell(self, cell: Any) -> str:
        if cell is None:
            return "<c/>"
        if isinstance(cell, bool):
            return f'<c t="b"><v>{cell:d}</v></c>'
        if isinstance(cell, int | float) and math.isfinite(cell) and abs(cell) < 1e15:
            return f"<c><v>{cell!r}</v></c>"
        if isinstance(cell, date) and (days := _days(cell)) is not None:
            return f'<c s="{1 if days == int(days) else 2}"><v>{days!r}</v></c>'
        text = str(cell)
        if len(text) > LONGEST:
            self.n_cut += 1
            text = text[:LONGEST]
        if not text.isprintable() or "_x" in text:
            text = _STRANGE.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
        return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'


def _days(day: date) -> float | None:
    """Days since the end of 1899, as spreadsheets count; None where they cannot."""
    moment = day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)
    if moment.tzinfo is not None or moment < datetime(1900, 3, 1):
        return None
    passed = moment - datetime(1899, 12, 30)
    return passed.days + passed.seconds / 86_400 if passed.seconds else passed.days
