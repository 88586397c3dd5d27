"""Workbooks: what cells hold, and those that would unpack to more than a machine has."""

import io
import zipfile
from datetime import date, datetime

import layouts as made
import pytest

from labelrank.datasets import Limits, formats
from labelrank.errors import FormatError

ROWS = [
    {"note": "a < b", "size": 1, "share": 0.25, "day": date(2024, 2, 29), "labels": "x"},
    {"note": "tab\tand _x0041_", "size": None, "share": 2.0, "day": None, "labels": "x|y"},
]


def read(folder, name, content, **options):
    (folder / name).write_bytes(content)
    return formats.read(folder / name, **options)


@pytest.mark.parametrize("ending", ["xlsx", "ods"])
def test_cells_are_texts_numbers_and_dates(tmp_path, ending):
    data = read(tmp_path, f"a.{ending}", getattr(made, ending)(ROWS))
    if ending == "ods":
        assert data.columns["note"][0] == "a < b"
    else:  # signs that XML cannot hold are written by their number
        assert data.columns["note"] == ["a < b", "tab\tand A"]
    assert data.columns["size"] == [1, None]
    assert data.columns["share"] == [0.25, 2.0]
    assert data.columns["day"] == [datetime(2024, 2, 29), None]
    assert data.label_names == ["x", "y"]


def sheet(cells):
    return f'<worksheet xmlns="{made.MAIN}"><sheetData>{cells}</sheetData></worksheet>'


def test_formulas_errors_booleans_and_rich_texts(tmp_path):
    content = made.xlsx(ROWS, sheet=sheet(
        '<row r="2"><c r="B2" t="inlineStr"><is><r><t>no</t></r><r><t>te</t></r>'
        '<rPh sb="0" eb="1"><t>x</t></rPh></is></c><c r="C2" t="str"><v>labels</v></c></row>'
        '<row r="4"><c r="B4" t="str"><f>A1&amp;"b"</f><v>ab</v></c><c r="C4" t="e"><v>#N/A</v>'
        '</c></row><row r="5"><c r="B5" t="inlineStr"><is><t>c</t></is></c>'
        '<c r="C5" t="b"><v>1</v></c></row>'
    ))  # fmt: skip
    data = read(tmp_path, "a.xlsx", content, label_column=["labels"])
    assert data.columns == {"note": ["ab", "c"], "labels": [None, True]}


def test_the_sheet_is_told_where_there_are_several(tmp_path):
    content = made.xlsx(ROWS, sheets=("One", "Two"))
    assert "The sheet 'One' was read, of 2." in read(tmp_path, "a.xlsx", content).remarks
    assert read(tmp_path, "a.xlsx", content, sheet="Two").n_instances == 2


def bomb(name, content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("content.xml", b"")
        with archive.open(name, "w") as file:
            for _ in range(80):
                file.write(content)
    return packed.getvalue()


WIDE = sheet("".join(f'<row r="{k}"><c r="XFD{k}"><v>1</v></c></row>' for k in range(1, 9001)))
CELL = '<t:table-cell o:value-type="float" o:value="1"/>'
LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><worksheet>&b;</worksheet>'
HOSTILE = {
    "many cells": (made.xlsx(ROWS, sheet=WIDE), "147456000 cells, but the limit"),
    "a column that no sheet has": (
        made.xlsx(ROWS, sheet=sheet('<row r="1"><c r="ZZZ1"><v>1</v></c></row>')), "16384 columns",
    ),
    "a million repeated rows": (
        made.ods(ROWS, f'<t:table-row t:number-rows-repeated="999999999">{CELL}</t:table-row>'),
        "rows, but the limit",
    ),
    "a million repeated cells": (
        made.ods(ROWS, "<t:table-row>" + CELL.replace(" o:value=", ' t:number-columns-repeated='
                 '"999999999" o:value=') + "</t:table-row>"), "16384 columns",
    ),
    "a zip bomb": (bomb("xl/workbook.xml", bytes(1 << 20)), "83886080 bytes, but the limit"),
    "entities": (made.xlsx(ROWS, sheet=LAUGHS), "no workbook, or damaged"),
    "text for a number": (
        made.xlsx(ROWS, sheet=sheet('<row r="1"><c r="A1" t="s"><v>99</v></c></row>')), "damaged",
    ),
    "rows out of order": (
        made.xlsx(ROWS, sheet=sheet('<row r="2"><c r="A2"><v>1</v></c></row><row r="1"><c r="A1">'
                                    "<v>1</v></c></row>")), "out of order",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_workbooks_are_refused(tmp_path, name):
    content, message = HOSTILE[name]
    kind = "ods" if "repeated" in name else "xlsx"
    with pytest.raises(FormatError, match=message):
        read(tmp_path, f"a.{kind}", content, limits=Limits(rows=10_000, bytes=1 << 26), format=kind)


def test_a_file_twice_in_a_workbook_is_refused(tmp_path):
    packed = io.BytesIO(made.xlsx(ROWS))
    with zipfile.ZipFile(packed, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(FormatError, match="occurs twice"):
        read(tmp_path, "a.xlsx", packed.getvalue())
