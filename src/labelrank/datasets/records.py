"""Records with texts, a table or numbers, and labels: JSON, CSV, TSV, Parquet, workbooks, text."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.choice import Choice, Known, choose, may_be_labels
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.features import features_of, matrix_of
from labelrank.datasets.frames import STREAMED, Frame, batches_of, check_batch_size, read_frame
from labelrank.datasets.gaps import Gaps
from labelrank.datasets.joining import join_rows
from labelrank.datasets.labelling import labels_of
from labelrank.datasets.opening import Limits, Source, check_choice, check_options
from labelrank.datasets.options import Options
from labelrank.datasets.saving import write as write
from labelrank.datasets.stated import preferences_of
from labelrank.errors import FormatError, InputError

UNBOUNDED = Limits(bytes=1 << 62, expansion=1 << 62, text_expansion=1 << 62)


def _chosen(options: Mapping[str, Any], format: str) -> Options:
    check_options(options, [field.name for field in fields(Options)], format)
    if options.get("decimal") is not None:
        check_choice("decimal", options["decimal"], (".", ","))
    return Options(**options)


def read(source: Source, format: str, **options: Any) -> Dataset:
    """Read records, by `Options`."""
    chosen = _chosen(options, format)
    known = Known(chosen.reading).of_another_file()
    frame = read_frame(source, format, chosen)
    if not len(frame.numbers):
        raise FormatError(f"{source.name}: no record in it")
    source.limits.check("rows", len(frame.numbers), source.name)
    data, choice = _to_data(frame, chosen, known, Gaps(), is_whole=True)
    if choice.split is None:
        return data
    parts = frame.columns[choice.split]
    lowered = np.array([str(part).strip().lower() for part in parts])
    train, test = np.isin(lowered, ["train", "training"]), lowered == "test"
    if train.any() and test.any():
        return data.with_split({"train": train, "test": test})
    return data


def stream(
    source: Source, format: str, batch_size: int, options: Mapping[str, Any]
) -> Iterator[Dataset]:
    """Batches of records; see `labelrank.datasets.formats.stream`."""
    check_batch_size(batch_size)
    if format and format not in STREAMED:
        raise InputError(f"the {format} format cannot be streamed; use {', '.join(STREAMED)}")
    return _batches(source, format, batch_size, _chosen(options, format))


def _batches(source: Source, format: str, size: int, chosen: Options) -> Iterator[Dataset]:
    """Batches that are all read as the first one is."""
    met: list[str] = []
    known = Known(chosen.reading).of_another_file()
    is_table = bool(known) and not known.is_text
    gaps = Gaps(one_by_one=source.eager or size == 1)
    for frame in batches_of(source, format, size, chosen, known.used, is_table):
        data, choice = _to_data(frame, chosen, known, gaps)
        known = known.after(data.reading or {})
        if chosen.label_names is None and (data.reading or {})["layout"] != "columns":
            data = _renumbered(data, met, source)
        yield data


def _renumbered(data: Dataset, met: list[str], source: Source) -> Dataset:
    """The batch with the columns of all labels met so far, new ones last."""
    known = set(met)
    met.extend(name for name in data.label_names if name not in known)
    source.limits.check("labels", len(met), source.name)
    column = {name: k for k, name in enumerate(met)}
    place = np.array([column[name] for name in data.label_names], np.int32)
    parts = (data.Y.data, place[data.Y.indices], data.Y.indptr)
    Y = sp.csr_array(parts, shape=(data.n_instances, len(met)))
    Y.sort_indices()
    return replace(data, Y=Y, label_names=list(met))


def _to_data(
    frame: Frame, options: Options, known: Known, gaps: Gaps, *, is_whole: bool = False
) -> tuple[Dataset, Choice]:
    """Data set of the records, with how they were read; rows are joined of whole files alone."""
    frame.flatten(partial(may_be_labels, options=options, known=known))
    gaps.fill(frame, known)
    choice = choose(frame, options, known)
    joined = is_whole and join_rows(frame, choice, options, known)
    decimal = options.decimal or _usual_decimal(frame, known)
    labels = labels_of(frame, choice, options, known, decimal)
    found = features_of(frame, choice, options, known, decimal)
    X = None if found.table is None else matrix_of(found.table, decimal)
    ids = None
    if choice.ids is not None:
        ids = ["" if cell is None else str(cell) for cell in frame.columns[choice.ids]]
    data = Dataset(
        frame.source.stem, X, labels.Y, found.texts, labels.names,
        None if X is None else list(found.table or {}), ids, labels.classes, table=found.table,
        reading={"id_column": choice.ids, "joined": joined or bool(known.joined),
                 **labels.reading, **found.reading},
        remarks=[*frame.remarks, *labels.remarks, *found.remarks], columns=frame.columns,
        prefer=preferences_of(frame, choice.prefer, labels),
    )  # fmt: skip
    return data, choice


def _usual_decimal(frame: Frame, known: Known) -> str | None:
    """The decimal mark where numbers leave it open: where commas separate nothing, as before."""
    if frame.separator == ";":
        return ","
    return known.decimal if frame.separator != "," else None
