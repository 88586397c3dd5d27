"""The one door to data files: which format a file has, and who reads or writes it."""

import importlib
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import COMPRESSED, Limits, Source
from labelrank.errors import FormatError, InputError, MissingError


class Format(NamedTuple):
    """One file format: what reads and writes it, and the endings that name it.

    `module` holds functions `read` and `write`, each with `suffix` behind its name.
    """

    module: str
    about: str
    endings: tuple[str, ...] = ()
    writable: bool = True
    suffix: str = ""


KNOWN = {
    "mulan": Format("mulan", "Mulan: ARFF whose labels are named by an XML file beside it"),
    "meka": Format("mulan", "MEKA: ARFF with '-C n' in the relation name: n first, -n last columns",
                   suffix="_meka"),
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
    "npz": Format("npz", "numpy archive of X, Y and names", (".npz",)),
    "mat": Format("mat", "MATLAB 5 with features and labels (label distributions)",
                  (".mat",), False),
    "rankings": Format("rankings", "label ranking CSV: 'n,d,q', then d features and q ranks",
                       (), False),
}  # fmt: skip
FORMATS = {name: one.about for name, one in KNOWN.items()}
_BY_ENDING = {ending: name for name, one in KNOWN.items() for ending in one.endings}


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Dataset:
    """Read a data file of any known format.

    Parameters
    ----------
    path : path of a file (or a folder of Reuters-21578), "-" for standard input
        May be compressed by gzip, bzip2, xz or zstd.
    format : one of `FORMATS`; told by content and extension if None
    limits : Limits, default `Limits()`
    **options : those of the format's own `read` (see the modules of `labelrank.datasets`):
        `encoding` for text formats; `xml`, `n_labels`, `labels_at`, `nominal`, `targets` for
        ARFF; `n_features`, `n_labels`, `zero_based` for LIBSVM; `split`, `topics` for Reuters;
        `text_column`, `label_column`, `id_column`, `split_column`, `label_delimiter`, `graded`,
        `ordered`, `label_names`, `header`, `columns` for records.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labelrank.datasets import formats
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "news.jsonl"
    ...     _ = path.write_text('{"text": "wheat up", "labels": ["grain", "wheat"]}')
    ...     data = formats.read(path)
    >>> data.texts, data.label_names
    (['wheat up'], ['grain', 'wheat'])
    """
    source = Source(path, limits)
    chosen = _known(format) if format else sniff(source)
    if chosen != "reuters" and os.path.isdir(source.path):
        raise FormatError(f"{source.name} is a folder; give the path of a data file")
    return _guarded(_function("read", chosen), source, chosen, options)


def _guarded(reader: Any, source: Source, chosen: str, options: dict[str, Any]) -> Dataset:
    """Call the reader; refuse an option that it does not have."""
    parameters = inspect.signature(reader).parameters
    accepted = {name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    unknown = [name for name in options if name not in accepted]
    if unknown:
        raise InputError(
            f"got option {unknown[0]!r} for the {chosen} format; "
            f"it has {', '.join(sorted(accepted)) or 'no options'}"
        )
    if "format" in parameters:
        return reader(source, chosen, **options)
    return reader(source, **options)


def _function(verb: str, name: str) -> Any:
    module = importlib.import_module(f"labelrank.datasets.{KNOWN[name].module}")
    return getattr(module, verb + KNOWN[name].suffix)


def _known(name: str) -> str:
    if name not in FORMATS:
        raise MissingError(f"format {name!r} is not known; use one of {', '.join(FORMATS)}")
    return name


def write(dataset: Dataset, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a data set; the file appears whole or not at all, compressed as its name ends.

    Parameters
    ----------
    dataset : Dataset
    path : path of the file; "-" is standard output
    format : a format of `FORMATS` that can be written; told by the extension if None

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from labelrank.datasets import formats
    >>> from labelrank.datasets.dataset import Dataset
    >>> from labelrank.relevance import check_relevance
    >>> tiny = Dataset("tiny", np.eye(2), check_relevance([[1], [0]]), label_names=["a"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     formats.write(tiny, Path(folder) / "tiny.arff.xz")
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['tiny.arff.xz', 'tiny.xml']
    """
    chosen = _known(format) if format else _by_ending(Source(path))
    if chosen is None:
        raise InputError(
            f"{path}: the extension names no format; end it in .arff, .jsonl, .csv, .tsv, "
            ".parquet, .svm or .npz, or give format=..."
        )
    if not KNOWN[chosen].writable:
        raise InputError(f"the {chosen} format is read only; write jsonl, npz or arff instead")
    _function("write", chosen)(dataset, path, chosen)


def stream(
    path: str | os.PathLike[str],
    batch_size: int = 1000,
    *,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Iterator[Dataset]:
    """Read a line-oriented file (jsonl, csv, tsv, text) in batches, in bounded memory.

    Without `label_names=...` the labels are numbered as they are met: each batch has the
    columns of all earlier ones, and new labels come after them.

    Parameters
    ----------
    path, format, limits, **options : as for `read`
    batch_size : int
        Rows of each batch but the last.

    Yields
    ------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labelrank.datasets import formats
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "news.txt"
    ...     _ = path.write_text("one\\ntwo\\nthree\\n")
    ...     [batch.texts for batch in formats.stream(path, 2)]
    [['one', 'two'], ['three']]
    """
    from labelrank.datasets import record_stream

    source = Source(path, limits or record_stream.UNBOUNDED)
    chosen = _known(format) if format else _by_ending(source) or "jsonl"
    return record_stream.stream(source, chosen, batch_size, options)


def _by_ending(source: Source) -> str | None:
    endings = [ending for ending in source.endings if ending not in COMPRESSED]
    return _BY_ENDING.get(endings[-1]) if endings else None


_BINARY = {b"PK\x03\x04": "npz", b"PK\x05\x06": "npz", b"PAR1": "parquet", b"MATLAB ": "mat"}
_PAIRS = re.compile(r"(\d+(,\d+)*[ \t]+)?\d+:\S+([ \t]+\d+:\S+)*")


def sniff(source: Source) -> str:
    """Name of the format of a file: by its first bytes, then its extension, then its first line."""
    if source.path != "-" and os.path.isdir(source.path):
        if any(Path(source.path).glob("*.sgm")):
            return "reuters"
        raise FormatError(f"{source.name} is a folder without .sgm files; give a data file")
    if not source.content:
        raise FormatError(f"{source.name}: the file is empty")
    by_bytes = _by_bytes(source.content)
    ending = _by_ending(source)
    by_line = None if by_bytes else _by_line(source, ending)
    found = by_bytes or by_line or ending
    if found is None:
        raise FormatError(
            f"{source.name}: the format is not known by content or extension; give format=... "
            f"({', '.join(FORMATS)})"
        )
    return found


def _by_bytes(content: bytes) -> str | None:
    for magic, name in _BINARY.items():
        if content.startswith(magic):
            return name
    return "reuters" if content[257:262] == b"ustar" else None


def _by_line(source: Source, ending: str | None) -> str | None:
    """Format told by the first lines; only where the extension leaves it open."""
    if ending not in (None, "text", "csv", "arff"):
        return None
    first = next((line for line in source.head() if line.strip() and not line.startswith("%")), "")
    return _by_first_line(first.strip(), ending)


def _by_first_line(first: str, ending: str | None) -> str | None:
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
