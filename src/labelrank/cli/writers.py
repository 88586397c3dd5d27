"""Answers into a file whose suffix says how, batch by batch: csv, tsv, jsonl, parquet, xlsx.

The file appears whole at the end or not at all, and memory holds one batch. Cells of csv and tsv
are written as they are: of those that a spreadsheet would take for formulas the writer tells.
"""

import csv
import io
import json
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Protocol

from labelrank.cli.answers import Batch, Layout, as_json_cell
from labelrank.errors import InputError

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".xlsx")
_LINES, _BINARY = (".jsonl", ".ndjson"), (".parquet", ".xlsx")
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_ROWS_PER_PART = 20_000


def suffix_of(path: Path) -> str:
    """The suffix that decides, or an InputError where it decides nothing."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file, such as {path / 'answers.csv'}")
    suffixes = [one.lower() for one in path.suffixes]
    is_packed = bool(suffixes) and suffixes[-1] in _COMPRESSED
    suffix = "".join((suffixes[:-1] if is_packed else suffixes)[-1:])
    if suffix in SUFFIXES and not (is_packed and suffix in _BINARY):
        return suffix
    raise InputError(
        f"got -o {path}, whose end names no format; end it in one of {', '.join(SUFFIXES)}"
    )


class Sink(Protocol):
    """A table that is written row by row."""

    def write(self, rows: Iterable[list[Any]]) -> None:
        """Add rows."""

    def close(self) -> None:
        """Complete the file."""

    def abandon(self) -> None:
        """Let go of everything, without completing the file."""


@contextmanager
def opened(
    path: Path, *, long: bool, probabilities: bool, mark: str
) -> Iterator[Callable[[Batch], None]]:
    """A function that adds a batch to the file; `mark` joins the labels of a cell."""
    from labelrank.datasets.opening import open_to_write

    suffix = suffix_of(path)
    with open_to_write(path) as file:
        if suffix in _LINES:
            yield lambda batch: file.writelines(line.encode() for line in lines(batch, long))
            return
        mark_used = None if suffix == ".parquet" else mark
        table = _Table(file, path, suffix, {"long": long, "probabilities": probabilities,
                                            "mark": mark_used})  # fmt: skip
        try:
            yield table.add if suffix == ".parquet" else lambda batch: table.add(_rounded(batch))
            table.close()
        except BaseException:
            table.abandon()
            raise


def lines(batch: Batch, long: bool) -> Iterator[str]:
    """The batch as JSON lines: one per document, or per document and label."""
    batch = _rounded(batch)
    for record in batch.long() if long else batch.records():
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _rounded(batch: Batch) -> Batch:
    """The batch with scores and probabilities of six digits, for text that people read."""
    rankings = [
        [
            place._replace(score=_six(place.score), probability=place.probability and
                           _six(place.probability))
            for place in ranked
        ]
        for ranked in batch.rankings
    ]  # fmt: skip
    return replace(batch, rankings=rankings)


def _six(number: float) -> float:
    return float(f"{number:.6g}")


class _Table:
    """Batches as rows of a sink, whose columns are those of the first batch."""

    def __init__(self, file: Any, path: Path, suffix: str, options: dict[str, Any]) -> None:
        self._file, self._path, self._suffix, self._options = file, path, suffix, options
        self._layout: Layout | None = None
        self._sink: Sink | None = None

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch."""
        if self._layout is None or self._sink is None:
            self._layout = Layout(batch, **self._options)
            self._sink = self._opened(self._layout)
            self._tell_renamed(self._layout)
        self._sink.write(self._layout.rows(batch))

    def close(self) -> None:
        """Complete the file; without any batch it has a heading alone."""
        if self._sink is None:
            self.add(Batch([], {}, []))
        if self._sink is not None:
            self._sink.close()
        left_out = self._layout.left_out if self._layout is not None else ()
        if left_out:
            warnings.warn(
                f"{self._path}: column(s) {', '.join(left_out)} are left out, for they were met "
                "only after the heading was written",
                stacklevel=2,
            )

    def abandon(self) -> None:
        """Let go of the sink."""
        if self._sink is not None:
            self._sink.abandon()

    def _opened(self, layout: Layout) -> Sink:
        if self._suffix == ".parquet":
            return _Parquet(self._file, layout.names, layout.kept, self._path)
        if self._suffix == ".xlsx":
            return _Sheet(self._file, layout.names, self._path)
        return _Delimited(self._file, layout.names, self._path, self._suffix)

    def _tell_renamed(self, layout: Layout) -> None:
        if layout.answers and layout.answers[0].startswith("predicted_"):
            warnings.warn(
                f"{self._path}: the input has columns named like the answers, which are in "
                f"{', '.join(layout.answers)}",
                stacklevel=2,
            )


class _Delimited:
    """Comma- or tab-separated rows, quoted where needed."""

    def __init__(self, file: IO[bytes], names: list[str], path: Path, suffix: str) -> None:
        self._path, self._n_formulas = path, 0
        self._text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        sign = "\t" if suffix == ".tsv" else ","
        # Minimal quoting leaves a lone carriage return bare, and it would end the row.
        self._write, self._write_quoted = (
            csv.writer(self._text, delimiter=sign, lineterminator="\n", quoting=quoting).writerow
            for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
        )
        self.write([list(names)])

    def write(self, rows: Iterable[list[Any]]) -> None:
        """Add rows; lists and objects become JSON, None an empty cell."""
        for row in rows:
            cells = [_as_text(cell) for cell in row]
            self._n_formulas += sum(map(_is_formula, cells))
            has_return = any("\r" in cell for cell in cells if type(cell) is str)
            (self._write_quoted if has_return else self._write)(cells)

    def close(self) -> None:
        """Hand the file back, and tell of cells that a spreadsheet would run."""
        self._text.detach()
        if self._n_formulas:
            warnings.warn(
                f"{self._path}: {self._n_formulas:,} cell(s) begin with =, +, - or @, which a "
                "spreadsheet takes for formulas; write .xlsx, where texts stay texts",
                stacklevel=2,
            )

    def abandon(self) -> None:
        """Hand the file back."""
        self._text.detach()


def _as_text(cell: Any) -> Any:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return as_json_cell(cell) if isinstance(cell, list | dict) else cell


def _is_formula(cell: Any) -> bool:
    """Whether this is a text that a spreadsheet would take for a formula, and no number."""
    if type(cell) is not str or not cell.startswith(_FORMULA):
        return False
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return True
    return False


class _Sheet:
    """The one sheet of a spreadsheet."""

    def __init__(self, file: IO[bytes], names: list[str], path: Path) -> None:
        from labelrank.cli.workbook import Workbook

        self._book = Workbook(file, str(path))
        self.write([list(names)])

    def write(self, rows: Iterable[list[Any]]) -> None:
        """Add rows; lists and objects become JSON."""
        self._book.write(
            [as_json_cell(cell) if isinstance(cell, list | dict) else cell for cell in row]
            for row in rows
        )

    def close(self) -> None:
        """Complete the file, and tell of texts too long for it."""
        self._book.close()
        if self._book.n_cut:
            warnings.warn(
                f"{self._book.name}: {self._book.n_cut:,} text(s) are cut to the 32,767 characters "
                "that a cell holds; write .csv or .parquet to keep them whole",
                stacklevel=2,
            )

    def abandon(self) -> None:
        """Let go of the file."""
        self._book.abandon()


class _Parquet:
    """Parts of some thousand rows in a folder of their own, joined at the end."""

    def __init__(self, file: IO[bytes], names: list[str], kept: list[str], path: Path) -> None:
        self._file, self._names, self._path = file, names, path
        self._kept = frozenset(kept)
        self._folder = tempfile.TemporaryDirectory()
        self._parts: list[Path] = []
        self._rows: list[list[Any]] = []

    def write(self, rows: Iterable[list[Any]]) -> None:
        """Add rows, and write them when they are many."""
        self._rows += rows
        if len(self._rows) >= _ROWS_PER_PART:
            self._write_part()

    def close(self) -> None:
        """Join the parts; a column whole in one part and broken in another is both."""
        import polars as pl

        if self._rows or not self._parts:
            self._write_part()
        try:
            whole = pl.concat(map(pl.scan_parquet, self._parts), how="vertical_relaxed")
            whole.sink_parquet(self._file)
        except pl.exceptions.PolarsError as error:
            raise InputError(
                f"{self._path}: a column holds what Parquet cannot hold in one ({error}); "
                "write .csv or .jsonl"
            ) from error
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Remove the parts."""
        self._folder.cleanup()

    def _write_part(self) -> None:
        import polars as pl

        columns = list(zip(*self._rows, strict=True)) or [()] * len(self._names)
        frame = pl.DataFrame([
            _series(name, cells, None if name in self._kept else _type_of(name))
            for name, cells in zip(self._names, columns, strict=True)
        ])  # fmt: skip
        self._parts.append(Path(self._folder.name) / f"{len(self._parts)}.parquet")
        frame.write_parquet(self._parts[-1])
        self._rows = []


def _type_of(answer: str) -> Any:
    """The type of a column of answers."""
    import polars as pl

    lists = {"labels": pl.String, "ranked": pl.String, "scores": pl.Float64,
             "probabilities": pl.Float64}  # fmt: skip
    single = {"rank": pl.Int64, "score": pl.Float64, "in_set": pl.Boolean,
              "probability": pl.Float64}  # fmt: skip
    name = answer.removeprefix("predicted_")
    return pl.List(lists[name]) if name in lists else single.get(name, pl.String)


def _series(name: str, cells: Any, kind: Any) -> Any:
    """Cells of one type, or of the type that holds them all; texts where there is none."""
    import polars as pl

    try:
        return pl.Series(name, cells, dtype=kind, strict=kind is not None)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.Series(name, [None if cell is None else str(cell) for cell in cells])
