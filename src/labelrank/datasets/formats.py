"""The one door to data files: which format a file has, and who reads or writes it.

Other packages add readers by entry points of the group `labelrank.readers`: a module or object
with `read(source, **options)`, which returns a Dataset, and perhaps `endings` and `about`.
"""

import importlib
import inspect
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from labelrank import extensions
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import COMPRESSED, AnyPath, Limits, Source, check_options
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
    "csv": Format("records", "comma-separated with text and labels columns, or features and "
                  "label columns", (".csv",)),
    "tsv": Format("records", "tab-separated, as csv", (".tsv", ".tab")),
    "parquet": Format("records", "Parquet, columns as csv", (".parquet", ".pq")),
    "text": Format("records", "plain text, one document per line, no labels",
                   (".txt", ".text"), False),
    "npz": Format("archives", "numpy archive of X, Y and names", (".npz",), suffix="_npz"),
    "mat": Format("archives", "MATLAB 5 with features and labels (label distributions)",
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
    path: AnyPath, *, format: str | None = None, limits: Limits | None = None, **options: Any
) -> Dataset:
    """Read a data file of any known format.

    Parameters
    ----------
    path : path of a file (or a folder of Reuters-21578), "-" for standard input
        May be compressed by gzip, bzip2, xz or zstd.
    format : name of the format; None: by content and extension
    limits : Limits, default `Limits()`
    **options
        Those of the format: `encoding` for text formats; `xml`, `n_labels`, `labels_at`,
        `nominal`, `targets` for ARFF; `n_features`, `n_labels`, `zero_based` for LIBSVM;
        `split`, `topics` for Reuters; the fields of `frames.Options` for records.
    """
    source = Source(path, limits)
    chosen = _known(format) if format else sniff(source)
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
    _function("write", chosen)(dataset, path, chosen)


def stream(
    path: AnyPath, batch_size: int = 1000, *, format: str | None = None,
    limits: Limits | None = None, **options: Any,
) -> Iterator[Dataset]:  # fmt: skip
    """Read a line-oriented file in batches; labels not named by an option are numbered as met."""
    from labelrank.datasets import records

    source = Source(path, limits or records.UNBOUNDED)
    chosen = _known(format) if format else _by_ending(source) or "jsonl"
    return records.stream(source, chosen, batch_size, options)


def _by_ending(source: Source) -> str | None:
    ending = next((e for e in reversed(source.endings) if e not in COMPRESSED), "")
    if not ending or ending in _BY_ENDING:
        return _BY_ENDING.get(ending)
    return next((name for name, one in known().items() if ending in one.endings), None)


_BINARY = {b"PK\x03\x04": "npz", b"PK\x05\x06": "npz", b"PAR1": "parquet", b"MATLAB ": "mat"}
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
    by_magic = (name for magic, name in _BINARY.items() if source.content.startswith(magic))
    by_bytes = next(by_magic, "reuters" if source.content[257:262] == b"ustar" else None)
    found = by_bytes or _by_line(source, ending) or ending
    if found is None:
        raise FormatError(
            f"{source.name}: the format is not known by content or extension; give format=... "
            f"({', '.join(FORMATS)})"
        )
    return found


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
    return "jsonl" if first.startswith("{") and ending is None else None
