"""The data of a command: which, how to read them, whole or in batches."""

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from labelrank.cli.far import FarValues
from labelrank.errors import InputError, MissingError, meant

PARTS = ("train", "validation", "test", "all")
UNLABELLED = ("skip", "none")
ROLES = ("text", "number", "category", "date", "vector", "id", "ignore")

_reads = partial(Option, rich_help_panel="What is what in DATA (found where not given)")
_finds = partial(Option, rich_help_panel="Which data")

Folder = Annotated[Path | None, _finds(
    "--data", metavar="FOLDER",
    help="Where named data sets lie; by default the folder in LABELRANK_DATA.",
)]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How data are to be read."""

    text_column: Annotated[list[str], _reads(
        metavar="COLUMN", help="A column (or JSON key) of texts; may be repeated.",
    )] = field(default_factory=list)  # fmt: skip
    label_column: Annotated[list[str], _reads(
        metavar="COLUMN",
        help="The column of the labels, or one of several; a pattern such as 'tag_*' takes all "
        "that fit. May be repeated.",
    )] = field(default_factory=list)  # fmt: skip
    labels: Annotated[int | None, _reads(
        metavar="N", min=1, help="The last N columns are the labels.")] = None  # fmt: skip
    labels_first: Annotated[bool, _reads(
        "--labels-first", help="With --labels N: the first N columns.")] = False  # fmt: skip
    labels_file: Annotated[Path | None, _reads(
        metavar="FILE", help="The labels of each row, one line per row.")] = None  # fmt: skip
    label_separator: Annotated[str | None, _reads(
        "--label-separator", "--label-delimiter", metavar="TEXT",
        help="What stands between the labels of a cell, such as ';'.",
    )] = None  # fmt: skip
    id_column: Annotated[str | None, _reads(
        metavar="COLUMN", help="The column that names each row.")] = None  # fmt: skip
    column: Annotated[list[str], _reads(
        metavar="NAME=ROLE", help=f"What a column is: {', '.join(ROLES)}. May be repeated.",
    )] = field(default_factory=list)  # fmt: skip
    ordered: Annotated[bool, _reads(
        "--ordered", help="The labels of a row come most relevant first.")] = False  # fmt: skip
    graded: Annotated[bool | None, _reads(
        "--graded/--no-graded",
        help="Whether labels have grades: 'name:2' in a cell, or 1 and 2 in a column per label.",
    )] = None  # fmt: skip
    join_rows: Annotated[bool | None, _reads(
        "--join-rows/--no-join-rows",
        help="Rows that differ in their label alone are one row with all these labels; by "
        "default, where one row in ten is such a row, and identifiers or texts tell documents.",
    )] = None  # fmt: skip
    merge_spellings: Annotated[bool, _reads(
        "--merge-spellings", help="Labels that differ only by case or spaces are one.",
    )] = False  # fmt: skip
    unlabelled: Annotated[str | None, _reads(
        metavar="skip|none",
        help="Rows without labels: skip leaves them out, none takes them as having no label. By "
        "default, skip where a cell or line names the labels and is empty, none where all labels "
        "have a column and it is zero.",
    )] = None  # fmt: skip
    separator: Annotated[str | None, _reads(
        metavar="TEXT", help="What stands between cells, such as ';' or 'tab'.",
    )] = None  # fmt: skip
    decimal: Annotated[str | None, _reads(
        metavar="MARK", help="The decimal mark, where 1,234 and the like leave it open.",
    )] = None  # fmt: skip
    encoding: Annotated[str | None, _reads(
        metavar="NAME", help="Such as utf-8 or windows-1252.")] = None  # fmt: skip
    sheet: Annotated[str | None, _reads(
        metavar="NAME", help="The sheet of a workbook.")] = None  # fmt: skip
    input_format: Annotated[str | None, _reads(
        metavar="NAME", help="Such as csv, jsonl, parquet, xlsx, arff, libsvm.",
    )] = None  # fmt: skip
    folder: Folder = None

    def source(self, data: str) -> "Source":
        """These data, read in that way."""
        return Source(data=data, **vars(self))


@dataclass(frozen=True, kw_only=True)
class Source(Reading):
    """Which data, and how to read them."""

    data: Annotated[
        str,
        Argument(
            metavar="DATA",
            help="A file, - for standard input, the name of a data set, or files: their folder, or "
            "a pattern in quotes such as 'in/*.parquet'.",
        ),
    ]
    input_format: Annotated[str | None, _reads(
        "--input-format", "--format", metavar="NAME",
        help="Such as csv, jsonl, parquet, xlsx, arff, libsvm.",
    )] = None  # fmt: skip
    part: Annotated[str | None, _finds(
        metavar="PART", help=f"The part of DATA to use: {', '.join(PARTS)}.")] = None  # fmt: skip

    def read(self, usual: str, tagger: Any = None, *, learned: bool = True) -> Any:
        """The part asked for; by default the usual one if the data has parts, else all.

        It is read as the data of the tagger were, but for what the options say. Where no labels are
        `learned`, nor compared, each row stays a row.
        """
        from labelrank import datasets
        from labelrank.datasets.targets import as_labels

        use_folder(self.folder)
        if self.part is not None and self.part not in PARTS:
            near = meant(self.part, PARTS)
            raise InputError(f"got --part {self.part}; {near}use one of {', '.join(PARTS)}")
        rows = {} if learned else {"joined": False}
        whole = datasets.load(self.data, **{**self.options(tagger), **rows})
        if tagger is not None:
            whole = as_labels(whole)
        wanted = self.part or usual
        chosen = whole if wanted == "all" else getattr(whole, wanted)
        if chosen is None and self.part is not None:
            there = " or ".join(f"--part {one}" for one in [*whole.parts, "all"])
            raise MissingError(f"{whole.name} has no {wanted} part; use {there}")
        return whole if chosen is None else chosen

    def labelled(self, usual: str, tagger: Any = None) -> Any:
        """The part, without the rows that have no labels unless they are to stay."""
        from labelrank.datasets.stated import apart

        dataset, _ = apart(self.read(usual, tagger))
        return only_labelled(dataset, self.takes_unlabelled(dataset, tagger))

    def takes_unlabelled(self, dataset: Any, tagger: Any = None) -> str:
        """ "skip" or "none": as the option says, else the tagger, else the layout of the labels.

        A row whose cell or line of labels is empty was not labelled; a row of zeros was.
        """
        if self.unlabelled is not None and self.unlabelled not in UNLABELLED:
            raise InputError(f"got --unlabelled {self.unlabelled}; use {' or '.join(UNLABELLED)}")
        learned = (getattr(tagger, "reading_", None) or {}).get("unlabelled")
        reading = dataset.reading or {}
        has_labels = reading.get("label_columns") or reading.get("has_labels_file")
        are_named = has_labels and reading.get("layout") != "columns"
        return self.unlabelled or learned or ("skip" if are_named else "none")

    def options(self, tagger: Any = None) -> dict[str, Any]:
        """What was said of the data, and how the tagger reads data, as `load` takes it."""
        if self.labels_first and self.labels is None:
            raise InputError("got --labels-first without a number; add --labels N")
        given = {
            "format": self.input_format, "encoding": self.encoding, "separator": self.separator,
            "sheet": self.sheet, "decimal": self.decimal,
            "text_column": _one_or_all(self.text_column),
            "label_column": _one_or_all(self.label_column),
            "n_labels": self.labels, "labels_at": "first" if self.labels_first else None,
            "labels_file": self.labels_file and str(self.labels_file),
            "id_column": self.id_column, "label_delimiter": self.label_separator,
            "ordered": self.ordered, "merge_spellings": self.merge_spellings,
            "roles": self.roles(),
        }  # fmt: skip
        chosen = {name: value for name, value in given.items() if value}
        if self.graded is not None:
            chosen["graded"] = self.graded
        if self.join_rows is not None:
            chosen["joined"] = self.join_rows
        reading = getattr(tagger, "reading_", None)
        if reading is None:
            return chosen
        _tell_other(chosen, reading)
        if self.merge_spellings and not reading.get("spellings"):
            reading = {**reading, "spellings": list(map(str, tagger.label_names_))}
        return {"reading": reading, **chosen}

    def roles(self) -> dict[str, str]:
        """The roles of columns that were given."""
        found = {}
        for pair in self.column:
            name, _, role = (part.strip() for part in pair.rpartition("="))
            if not name or role not in ROLES:
                near = meant(role, ROLES)
                raise InputError(
                    f"got --column {pair}; {near}write NAME=ROLE, where ROLE is one of "
                    + ", ".join(ROLES)
                )
            found[name] = role
        return found

    def batches(
        self, size: int, tagger: Any = None, usual: str = "train", *, eager: bool = False,
        learned: bool = False,
    ) -> Iterator[tuple[Any, int | None]]:  # fmt: skip
        """Parts of the data with its whole size, if known; files of lines are not read whole.

        But for those whose rows are to be joined before their labels are `learned` or compared.
        Where eager, rows of standard input do not wait for those that have not come yet.
        """
        from labelrank.datasets.targets import as_labels

        far = FarValues(tagger)
        for read, total in self._batches(size, tagger, usual, eager, learned):
            part = read if tagger is None else as_labels(read)
            far.look(part)
            yield part, total
        far.tell()

    def _batches(
        self, size: int, tagger: Any, usual: str, eager: bool, learned: bool
    ) -> Iterator[tuple[Any, int | None]]:
        from labelrank.datasets import formats
        from labelrank.resources import blocks

        use_folder(self.folder)
        before = getattr(tagger, "reading_", None) or {}
        joins = before.get("joined") if self.join_rows is None else self.join_rows
        if self.is_in_parts:
            yield from self._batches_of_parts(size, tagger, learned and joins)
            return
        if self._is_streamed() and not (learned and joins):
            parts = formats.stream(
                self.data, size, eager=eager and self.data == "-", **self.options(tagger)
            )
            first = next(parts, None)
            is_whole = self.data == "-" or usual == "all"
            if first is None or is_whole or not _tells_parts(first):
                for part in chain([] if first is None else [first], parts):
                    yield part, None
                return
        whole = self.read(usual, tagger, learned=learned)
        for rows in blocks(whole.n_instances, size):
            yield whole.subset(range(rows.start, rows.stop)), whole.n_instances

    def _batches_of_parts(
        self, size: int, tagger: Any, joins: Any
    ) -> Iterator[tuple[Any, int | None]]:
        if joins:
            raise InputError(
                f"got {self.data}, whose rows are to be joined, which is done in one file alone; "
                "write one row per document"
            )
        for part in self.parts(tagger):
            for batch in part.batches(size):
                yield batch, None

    @property
    def is_in_parts(self) -> bool:
        """Whether the data are a folder of files, or a pattern of their names."""
        from labelrank.datasets import names
        from labelrank.datasets.parts import are_parts

        return self.data.lower() not in names() and are_parts(self.data)

    def parts(self, tagger: Any = None) -> Any:
        """The files of a folder or pattern, described but not read."""
        from labelrank.datasets import open_parts

        whole = {"--part": self.part, "--labels-file": self.labels_file,
                 "--merge-spellings": self.merge_spellings}  # fmt: skip
        given = [flag for flag, value in whole.items() if value]
        if given:
            raise InputError(f"got {given[0]} with data in pieces; it goes with one file alone")
        return open_parts(self.data, **self.options(tagger))

    @property
    def answered(self) -> str:
        """The part that is answered: all rows of a file in their order, of a named set its test
        part."""
        return "test" if self._is_named else "all"

    @property
    def _is_named(self) -> bool:
        from labelrank.datasets import names

        return self.data.lower() in names()

    def _is_streamed(self) -> bool:
        """Whether the data are a file or pipe of records, with the labels in it."""
        from labelrank.datasets import formats

        if self.labels_file is not None or self.part is not None or self._is_named:
            return False
        return formats.can_stream(self.data, self.input_format)

    def labelled_batches(
        self, size: int, tagger: Any, usual: str = "train"
    ) -> Iterator[tuple[Any, int | None]]:
        """Parts of the data, without the rows that have no labels unless they are to stay.

        Rows that state preferences stay.
        """
        for k, (part, total) in enumerate(self.batches(size, tagger, usual, learned=True)):
            if k == 0 and self.join_rows is None and not (part.reading or {}).get("joined"):
                _check_apart(part)
            kept = only_labelled(part, self.takes_unlabelled(part, tagger))
            if kept.n_instances:
                yield kept, total


def _check_apart(dataset: Any) -> None:
    """Refuse rows that are of the same documents, one per label, unless it is said what to do."""
    from labelrank.datasets.joining import MANY, share_alike

    share = share_alike(dataset)
    if share >= MANY:
        raise InputError(
            f"{dataset.name}: {share:.0%} of the first {dataset.n_instances:,} rows differ from "
            "another in the label alone; give --join-rows if there is one row per label, else "
            "--no-join-rows"
        )


def _tells_parts(dataset: Any) -> bool:
    """Whether a column says of each row whether it is of the training or the test part."""
    columns = dataset.columns or {}
    cells = (columns[name] for name in columns if name.strip().lower() == "split")
    told = {str(cell).strip().lower() for column in cells for cell in column}
    return not told.isdisjoint(("train", "training", "test"))


def only_labelled(dataset: Any, unlabelled: str) -> Any:
    """The data without rows that have no labels, if these are to be skipped; a model that learns
    from it remembers which."""
    import numpy as np

    if dataset.reading is not None:
        dataset = replace(dataset, reading={**dataset.reading, "unlabelled": unlabelled})
    if unlabelled != "skip" or not dataset.n_labels or dataset.target_classes is not None:
        return dataset
    has_any = np.diff(dataset.Y.indptr) > 0
    if dataset.prefer is not None:
        has_any |= np.array(list(map(bool, dataset.prefer)), bool)
    parts: Any = {name: only_labelled(part, unlabelled) for name, part in dataset.parts.items()}
    return dataset if has_any.all() else replace(dataset.subset(has_any), **parts)


def _tell_other(chosen: dict[str, Any], reading: dict[str, Any]) -> None:
    """A warning for each option that reads other data than the model has learned from."""
    for option, key in _LEARNED_AS.items():
        learned, got = _several(reading.get(key)), _several(chosen.get(option))
        if got and learned and not all(_fits(name, learned) for name in got):
            flag = option.replace("label_delimiter", "label_separator").replace("_", "-")
            names = " and ".join(map(repr, learned))
            warnings.warn(
                f"--{flag} {' '.join(got)} is used, though the model has learned with {names}",
                stacklevel=4,
            )


def _fits(name: str, learned: list[str]) -> bool:
    """Whether a name or pattern is of what was learned."""
    return name in learned or any(fnmatchcase(one, name) for one in learned)


_LEARNED_AS = {
    "text_column": "text_column", "label_column": "label_columns", "id_column": "id_column",
    "label_delimiter": "label_separator",
}  # fmt: skip


def _several(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def _one_or_all(names: list[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else names


def use_folder(folder: Path | None) -> None:
    """Look for named data sets in this folder."""
    if folder is not None and not folder.is_dir():
        raise MissingError(f"{folder} is not a folder; give the folder that holds the data sets")
    if folder is not None:
        os.environ["LABELRANK_DATA"] = str(folder)
