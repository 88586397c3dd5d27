"""One small table with known answers, written in many layouts."""

import csv
import io
import json
import random
import zipfile
from datetime import date, timedelta
from itertools import product
from xml.sax.saxutils import escape

import numpy as np
import polars as pl

COLOURS, SIZES = ("red", "grün", "blau"), (1.5, 2.25, 3.75, 8.5, 9.25, 7.125)
NOTES = ("ships at sea", "grain in the barn", "ships near the café", "barn and field, old")


def labels_of(colour, size, note):
    """The rule that a learner has to find."""
    found = {"warm"} if colour == "red" else {"cold"}
    found |= {"large"} if size > 5 else set()
    return sorted(found | ({"trade, sea"} if "ships" in note else set()))


def rows(cells):
    start = date(2024, 1, 30)
    return [
        {
            "id": f"r{k}", "note": note, "size": size, "colour": colour,
            "day": start + timedelta(days=7 * k), "labels": labels_of(colour, size, note),
        }
        for k, (colour, size, note) in enumerate(cells)
    ]  # fmt: skip


CELLS = list(product(COLOURS, SIZES, NOTES))
random.Random(3).shuffle(CELLS)  # so that dates tell nothing
TRAIN = rows(CELLS)
NEW = rows([
    ("red", 1.75, NOTES[1]), ("blau", 8.75, NOTES[0]), ("grün", 9.0, NOTES[3]),
    ("red", 8.0, NOTES[2]),
])  # fmt: skip
ANSWERS = [row["labels"] for row in NEW]
NAMES = ["cold", "large", "trade, sea", "warm"]


def joined(row, mark):
    return {**row, "labels": mark.join(row["labels"])}


def spread(row, yes="1", no="0", form="{}"):
    """One column per label."""
    rest = {key: value for key, value in row.items() if key != "labels"}
    return rest | {form.format(name): yes if name in row["labels"] else no for name in NAMES}


def without(row, *names):
    return {key: value for key, value in row.items() if key not in names}


def delimited(records, mark=",", encoding="utf-8", decimal=".", names=None):
    names = names or list(records[0])
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=mark, lineterminator="\n")
    writer.writerow(names)
    for record in records:
        cells = (record[name] for name in names)
        writer.writerow([
            str(cell).replace(".", decimal) if isinstance(cell, float) else cell for cell in cells
        ])  # fmt: skip
    return text.getvalue().encode(encoding)


def as_json(records, lines=False):
    spelled = [json.dumps(one, default=str, ensure_ascii=False) for one in records]
    text = "\n".join(spelled) + "\n" if lines else "[" + ",\n".join(spelled) + "]"
    return text.encode()


def parquet(records):
    packed = io.BytesIO()
    pl.DataFrame({name: [one[name] for one in records] for name in records[0]}).write_parquet(
        packed
    )
    return packed.getvalue()


def npy(matrix):
    packed = io.BytesIO()
    np.save(packed, matrix)
    return packed.getvalue()


def npz(**members):
    packed = io.BytesIO()
    np.savez_compressed(packed, **members)
    return packed.getvalue()


def zipped(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def letters(column):
    name = ""
    while column >= 0:
        name, column = chr(65 + column % 26) + name, column // 26 - 1
    return name


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def xlsx(records, sheets=("Data",), sheet=None):
    """A workbook with shared texts and dates by style, as spreadsheet programs write them."""
    names, texts = list(records[0]), {}

    def cell(value, place):
        if value is None:
            return ""
        if isinstance(value, date):
            return f'<c r="{place}" s="1"><v>{(value - date(1899, 12, 30)).days}</v></c>'
        if isinstance(value, bool):
            return f'<c r="{place}" t="b"><v>{value:d}</v></c>'
        if isinstance(value, int | float):
            return f'<c r="{place}"><v>{value!r}</v></c>'
        return f'<c r="{place}" t="s"><v>{texts.setdefault(value, len(texts))}</v></c>'

    lines = [names, *([one[name] for name in names] for one in records)]
    body = "".join(
        f'<row r="{n}">{"".join(cell(v, f"{letters(k)}{n}") for k, v in enumerate(line))}</row>'
        for n, line in enumerate(lines, 1)
    )
    body = sheet or f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>'
    shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{k}" r:id="r{k}"/>' for k, name in enumerate(sheets, 1)
    )
    relations = "".join(
        f'<Relationship Id="r{k}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        for k, _ in enumerate(sheets, 1)
    )
    return zipped(**{
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships>{relations}</Relationships>",
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><cellXfs><xf numFmtId="0"/>'
        '<xf numFmtId="14"/></cellXfs></styleSheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{shared}</sst>',
        **{f"xl/worksheets/sheet{k}.xml": body for k, _ in enumerate(sheets, 1)},
    })  # fmt: skip


def ods(records, rows=None):
    names = list(records[0])

    def cell(value):
        if value is None:
            return "<t:table-cell/>"
        if isinstance(value, date):
            return f'<t:table-cell o:value-type="date" o:date-value="{value}"/>'
        if isinstance(value, int | float):
            return f'<t:table-cell o:value-type="float" o:value="{value}"/>'
        return f'<t:table-cell o:value-type="string"><x:p>{escape(value)}</x:p></t:table-cell>'

    lines = [names, *([one[name] for name in names] for one in records)]
    empty = '<t:table-cell t:number-columns-repeated="16000"/>'
    body = rows or "".join(
        f"<t:table-row>{''.join(map(cell, line))}{empty}</t:table-row>" for line in lines
    )
    space = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<o:document-content xmlns:o="{space}:office:1.0" xmlns:t="{space}:table:1.0" '
        f'xmlns:x="{space}:text:1.0"><o:body><o:spreadsheet><t:table t:name="Data">{body}'
        f'<t:table-row t:number-rows-repeated="1000000">{empty}</t:table-row></t:table>'
        "</o:spreadsheet></o:body></o:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return zipped(**{"mimetype": kind, "content.xml": content})
