"""DATA as commands take it, a name, a path or "-", with the options of reading it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from labelrank.cli.options import Folder
from labelrank.errors import InputError, MissingError

PARTS = ("train", "validation", "test", "all")

_Data = Annotated[
    str, typer.Argument(metavar="DATA", help="Name of a data set, path of a file, or - for stdin.")
]
_Part = Annotated[str | None, typer.Option(help=f"Part of DATA to use: {', '.join(PARTS)}.")]
_Format = Annotated[
    str | None, typer.Option(help="Format of DATA; by default told from name and content.")
]
_TextColumn = Annotated[str | None, typer.Option(help="Column or JSON key of the text.")]
_LabelColumn = Annotated[
    list[str] | None,
    typer.Option(help="Column or JSON key of the labels; repeat it for one column per label."),
]
_LabelDelimiter = Annotated[str | None, typer.Option(help="What separates labels in a cell.")]
_Labels = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Number of labels: the last N columns.")
]
_LabelsFirst = Annotated[bool, typer.Option("--labels-first", help="The first N columns instead.")]
_Ordered = Annotated[bool, typer.Option("--ordered", help="Labels come most relevant first.")]
_Encoding = Annotated[str | None, typer.Option(help="Encoding of DATA; by default UTF-8.")]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How data are to be read."""

    text_column: _TextColumn = None
    label_column: _LabelColumn = None
    label_delimiter: _LabelDelimiter = None
    labels: _Labels = None
    labels_first: _LabelsFirst = False
    ordered: _Ordered = False
    encoding: _Encoding = None
    folder: Folder = None

    def source(self, data: str) -> "Source":
        """These data, read in that way."""
        return Source(data=data, **vars(self))


@dataclass(frozen=True, kw_only=True)
class Source(Reading):
    """Which data, and how to read them."""

    data: _Data
    part: _Part = None
    format: _Format = None

    def read(self, usual: str) -> Any:
        """The part asked for; by default the usual one if the data has parts, else all."""
        from labelrank import datasets

        use_folder(self.folder)
        if self.part is not None and self.part not in PARTS:
            raise InputError(f"got --part {self.part}; use one of {', '.join(PARTS)}")
        whole = datasets.load(self.data, **self.options())
        wanted = self.part or usual
        chosen = whole if wanted == "all" else getattr(whole, wanted)
        if chosen is None and self.part is not None:
            raise MissingError(f"{whole.name} has no {wanted} part; use --part all")
        return whole if chosen is None else chosen

    def options(self) -> dict[str, Any]:
        """What was said of the data, as `load` takes it."""
        columns = self.label_column
        given = {
            "format": self.format,
            "text_column": self.text_column,
            "label_column": columns[0] if columns and len(columns) == 1 else columns,
            "label_delimiter": self.label_delimiter,
            "n_labels": self.labels,
            "labels_at": "first" if self.labels_first else None,
            "ordered": self.ordered or None,
            "encoding": self.encoding,
        }
        return {name: value for name, value in given.items() if value}


def use_folder(folder: Path | None) -> None:
    """Look for named data sets in this folder."""
    if folder is None:
        return
    if not folder.is_dir():
        raise MissingError(f"{folder} is not a folder; give the folder that holds the data sets")
    os.environ["LABELRANK_DATA"] = str(folder)
