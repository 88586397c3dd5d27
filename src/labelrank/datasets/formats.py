"""The one door to data files: which format a file has, and who reads or writes it.

Other packages add readers by entry points of the group `labelrank.readers`: a module or object
with `read(source, **options)`, which returns a Dataset, and perhaps `endings` and `about`.
"""

import importlib
import inspect
import io
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from labelrank import extensions
from labelrank.datasets.alike import in_order
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import COMPRESSED, AnyPath, Limits, Source, check_options
from labelrank.datasets.spelling import merged
from labelrank.errors import FormatError, InputError, MissingError

GROUP = "labelrank.readers"


class Format(NamedTuple):
    """A file format: the module that reads and writes it, and the endings that name it."""

    module: str
    about: str
    endings: tuple[str, ...] = ()
    writable: bool = True
    suffix: str = ""


KNOWN = {
    "mulan": Format("mulan", "Mulan: ARFF whose labels are named by an XML file beside it"),
    "meka": Format("mulan", "MEKA: ARFF with '-C n' in its name: n first, -n last columns"),
    "arff": Format("mulan", "ARFF, labels by XML, '-C', or n_labels=...", (".arff",)),
    "libsvm": Format("libsvm", "multi-label LIBSVM text: 'l1,l2 index:value ...'",
                     (".svm", ".libsvm", ".svmlight")),
    "extreme": Format("libsvm", "extreme classification text: 'n d k' header, then as LIBSVM "
                      "from index 0", suffix="_extreme"),
    "reuters": Format("reuters", "Reuters-21578 SGML: a folder, a tar archive or one .sgm file",
                      (".sgm", ".tar", ".tgz"), False),
    "jsonl": Format("records", "JSON lines with text and labels (list, or label to grade)",
                    (".jsonl", ".ndjson")),
    "json": Format("records", "a JSON array of objects with text and labels", (".json",), False),
    "csv": Format("records", "cells between commas, semicolons, tabs or pipes: texts, numbers, "
                  "categories, dates and labels", (".csv",)),
    "tsv": Format("records", "tab-separated, as csv", (".tsv", ".tab")),
    "parquet": Format("records", "Parquet, columns as csv; lists of numbers are vectors",
                      (".parquet", ".pq")),
    "xlsx": Format("records", "a sheet of an Excel workbook, columns as csv", (".xlsx", ".xlsm"),
                   False),
    "ods": Format("records", "a sheet of an OpenDocument workbook, columns as csv", (".ods",),
                  False),
    "text": Format("records", "plain text, one document per line, no labels",
                   (".txt", ".text"), False),
    "npz": Format("archives", "numpy archive of X, Y and names", (".npz",), suffix="_npz"),
    "npy": Format("archives", "numpy matrix of features such as embeddings; labels in a file of "
                  "their own", (".npy",), False, "_npy"),
    "mat": Format("matlab", "MATLAB 5 with features and labels (label distributions)",
                  (".mat",), False, "_mat"),
    "rankings": Format("libsvm", "label ranking CSV: 'n,d,q', then d features and q ranks",
                       (), False, "_rankings"),
}  # fmt: skip
_FIRST = ("source", "format")
FORMATS = {name: one.about for name, one in KNOWN.items()}
_BY_ENDING = {ending: name for name, one in KNOWN.items() for ending in one.endings}


def known() -> dict[str, Format]:
    """All formats by name, those of other packages included: they are imported for it."""
    return dict(extensions.loadable(GROUP, _added)) | KNOWN


def _added(entry_point: Any, reader: Any) -> tuple[str, Format]:
    if not callable(getattr(reader, "read", None)):
        raise MissingError(
            f"{extensions.package_of(entry_point)} offers the reader {entry_point.name!r}, but "
            f"{entry_point.value} has no function read(source, **options)"
        )
    endings = tuple(ending.lower() for ending in getattr(reader, "endings", ()))
    about = str(getattr(reader, "about", f"read by {entry_point.value}"))
    return entry_point.name, Format(entry_point.value, about, endings, writable=False)


def read(
    path: AnyPath, *, format: str | None = None, limits: Limits | None = None,
    labels_file: AnyPath | None = None, merge_spellings: bool = False, **options: Any,
) -> Dataset:  # fmt: skip
    """Read a data file of any known format.

    Parameters
    ----------
    path : path of a file (or a folder of Reuters-21578), "-" for standard input
        May be compressed by gzip, bzip2, xz or zstd.
    format : name of the format; None: by content and extension
    limits : Limits, default `Limits()`
    labels_file : path of a file with the labels, one line per row, or None
    merge_spellings : whether labels that differ only by case or spaces are one
    **options
        `reading`, how another file was read (`Dataset.reading`), and those of the format:
        `encoding` for text formats; `xml`, `n_labels`, `labels_at`, `nominal`, `targets` for
        ARFF; `n_features`, `n_labels`, `zero_based` for LIBSVM; `split`, `topics` for Reuters;
        the fields of `options.Options` for records (CSV, TSV, JSON, Parquet, workbooks, text).
    """
    source = Source(path, limits)
    chosen = _known(format) if format else sniff(source)
    known = spellings(options)
    reading, module = options.get("reading"), KNOWN[chosen].module if chosen in KNOWN else ""
    if module not in ("records", "mulan"):
        options.pop("reading", None)
    if module != "records":
        options.pop("joined", None)
    if labels_file is not None:
        if options.get("label_column") or options.get("n_labels"):
            raise InputError("got a file of labels and label columns; give one of them")
        marks = {"delimiter": options.pop("label_delimiter", None),
                 "ordered": options.pop("ordered", False),
                 "graded": options.pop("graded", None)}  # fmt: skip
        from labelrank.datasets.labels_file import labelled

        dataset = labelled(_read(source, chosen, options), labels_file, limits, **marks)
    else:
        dataset = _read(source, chosen, options)
    dataset = in_order(dataset, reading)
    return merged(dataset, known) if merge_spellings or known else dataset


def _read(source: Source, chosen: str, options: dict[str, Any]) -> Dataset:
    """The data set, by the reader of its format."""
    if chosen != "reuters" and os.path.isdir(source.path):
        raise FormatError(f"{source.name} is a folder; give the path of a data file")
    if chosen not in KNOWN:
        return _read_by_other(chosen, source, options)
    reader = _function("read", chosen)
    if "format" in _check_options(reader, options, chosen):
        return reader(source, chosen, **options)
    return reader(source, **options)


def _check_options(reader: Any, options: dict[str, Any], format: str) -> Mapping[str, Any]:
    """The parameters of the reader, if it has all these options."""
    parameters = inspect.signature(reader).parameters
    if all(one.kind is not one.VAR_KEYWORD for one in parameters.values()):
        check_options(options, [name for name in parameters if name not in _FIRST], format)
    return parameters


def _read_by_other(name: str, source: Source, options: dict[str, Any]) -> Dataset:
    """Read by the reader that another package adds; the limits hold for its result too."""
    entry_point = extensions.entry_points(GROUP)[name]
    reader = extensions.load(entry_point)
    _added(entry_point, reader)
    _check_options(reader.read, options, name)
    dataset = reader.read(source, **options)
    if not isinstance(dataset, Dataset):
        raise FormatError(
            f"{source.name}: the reader {name!r} of {extensions.package_of(entry_point)} returned "
            f"{type(dataset).__name__}, not a Dataset; update or uninstall that package"
        )
    source.limits.check_shape(dataset, source.name)
    return dataset


def _function(verb: str, name: str) -> Any:
    module = importlib.import_module(f"labelrank.datasets.{KNOWN[name].module}")
    return getattr(module, verb + KNOWN[name].suffix)


def _known(name: str) -> str:
    names = list(dict.fromkeys([*KNOWN, *extensions.entry_points(GROUP)]))
    if name not in names:
        raise MissingError(f"format {name!r} is not known; use one of {', '.join(names)}")
    return name


def write(dataset: Dataset, path: AnyPath, *, format: str | None = None) -> None:
    """Write a data set; the file appears whole or not at all, compressed as its name ends."""
    chosen = _known(format) if format else _by_ending(Source(path))
    if chosen is None:
        raise InputError(
            f"{path}: the extension names no format; end it in .arff, .jsonl, .csv, .tsv, "
            ".parquet, .svm or .npz, or give format=..."
        )
    if chosen not in KNOWN or not KNOWN[chosen].writable:
        raise InputError(f"the {chosen} format is read only; write jsonl, npz or arff instead")
    is_table = dataset.X is None and dataset.texts is None and dataset.table is not None
    if is_table and KNOWN[chosen].module != "records":
        raise InputError(
            f"{dataset.name} has no text alone and columns that are no numbers, which the {chosen} "
            "format does not hold; write csv, jsonl or parquet"
        )
    _function("write", chosen)(dataset, path, chosen)


def stream(
    path: AnyPath, batch_size: int = 1000, *, format: str | None = None,
    limits: Limits | None = None, merge_spellings: bool = False, eager: bool = False,
    **options: Any,
) -> Iterator[Dataset]:  # fmt: skip
    """Read CSV, TSV, JSON lines, text or Parquet in batches; they are all read as the first is.

    Labels not named by an option are numbered as met. Standard input may stay open: a batch is
    given as soon as its rows are there; an eager one, where its next row must be waited for.
    """
    from labelrank.datasets import records

    source = Source(path, limits or records.UNBOUNDED, eager=eager)
    chosen = _known(format) if format else _by_ending(source)
    if chosen is None:
        chosen = "" if source.path == "-" else "jsonl"
    known = spellings(options)
    batches = records.stream(source, chosen, batch_size, options)
    if not merge_spellings and not known:
        return batches
    return (merged(batch, known) for batch in batches)


def can_stream(path: AnyPath, format: str | None) -> bool:
    """Whether `stream` reads this file, by its name and first lines."""
    from labelrank.datasets.frames import STREAMED

    source = Source(path)
    name = format or _by_ending(source)
    if format is None and name in ("text", "csv") and os.path.isfile(source.path):
        name = _by_line(source, name) or name
    return name in STREAMED or (name is None and source.path == "-")


def spellings(options: Mapping[str, Any]) -> list[str]:
    """The spellings of labels in the reading of another file."""
    return list((options.get("reading") or {}).get("spellings") or [])


def format_of(path: AnyPath) -> str | None:
    """The format that the end of a name tells.

    >>> format_of("in/0001.parquet")
    'parquet'
    """
    return _by_ending(Source(path))


def _by_ending(source: Source) -> str | None:
    ending = next((e for e in reversed(source.endings) if e not in COMPRESSED), "")
    if not ending or ending in _BY_ENDING:
        return _BY_ENDING.get(ending)
    return next((name for name, one in known().items() if ending in one.endings), None)


_BINARY = {b"PAR1": "parquet", b"MATLAB ": "mat", b"\x93NUMPY": "npy"}
_ZIPPED = {"xl/workbook.xml": "xlsx", "content.xml": "ods"}
_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PAIRS = re.compile(r"(\d+(,\d+)*[ \t]+)?\d+:\S+([ \t]+\d+:\S+)*")


def sniff(source: Source) -> str:
    """Name of the format of a file: by its first bytes, then its extension, then its first line."""
    if source.path != "-" and os.path.isdir(source.path):
        if any(Path(source.path).glob("*.sgm")):
            return "reuters"
        raise FormatError(f"{source.name} is a folder without .sgm files; give a data file")
    ending = _by_ending(source)
    if ending and ending not in KNOWN:
        return ending
    if not source.content:
        raise FormatError(f"{source.name}: the file is empty")
    found = _by_bytes(source) or _by_line(source, ending) or ending
    if found is None:
        raise FormatError(
            f"{source.name}: the format is not known by content or extension; give format=... "
            f"({', '.join(FORMATS)})"
        )
    return found


def _by_bytes(source: Source) -> str | None:
    """Format of a file that is not text."""
    content = source.content
    if content.startswith(_OLD_WORKBOOK):
        raise FormatError(f"{source.name}: an old Excel workbook; save it as .xlsx or .csv")
    if content.startswith(b"PK"):
        return _zipped(content, source.name)
    by_magic = (name for magic, name in _BINARY.items() if content.startswith(magic))
    return next(by_magic, "reuters" if content[257:262] == b"ustar" else None)


def _zipped(content: bytes, where: str) -> str:
    """Format of a zip archive, by the files in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return "npz"
    found = next((format for name, format in _ZIPPED.items() if name in names), "npz")
    if found == "npz" and names and not any(name.endswith(".npy") for name in names):
        raise FormatError(
            f"{where}: a zip archive of {min(names)[:60]!r}; unpack it and give the file in it"
        )
    return found


def _by_header(source: Source, first: str) -> str | None:
    from labelrank.datasets.delimited import is_header

    if first.startswith("{"):
        return "jsonl"
    return "csv" if is_header(first, (), source) else None


def _by_line(source: Source, ending: str | None) -> str | None:
    """Format told by the first lines; only where the extension leaves it open."""
    if ending not in (None, "text", "csv", "arff"):
        return None
    lines = (line.strip() for line in source.head() if not line.startswith("%"))
    first = next(filter(None, lines), "")
    lowered = first.lower()
    if lowered.startswith("@relation"):
        return "arff"
    if re.fullmatch(r"\d+\s*,\s*\d+\s*,\s*\d+", first):
        return "rankings"
    if ending == "csv":
        return None
    if lowered.startswith(("<!doctype lewis", "<reuters")):
        return "reuters"
    if re.fullmatch(r"\d+\s+\d+\s+\d+", first):
        return "extreme"
    if _PAIRS.fullmatch(first):
        return "libsvm"
    if ending is None:
        return "json" if first.startswith("[") else _by_header(source, first)
    return None
