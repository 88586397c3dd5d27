"""ARFF with targets: named by an XML file (Mulan) or by the relation name (MEKA)."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import scipy.sparse as sp
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from labelrank.datasets import alike
from labelrank.datasets.arff import Table, read_table, to_dataset, write_table
from labelrank.datasets.arff_parsing import Attribute
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import (
    COMPRESSED,
    AnyPath,
    Limits,
    Source,
    check_choice,
    open_to_write,
)
from labelrank.errors import FormatError, InputError

_COUNT = re.compile(r"(?:^|[\s:])-[Cc]\s*(-?\d{1,9})(?!\d)")
_SPLIT = re.compile(r"-split-(number|percentage)\s+(\d{1,9}(?:\.\d{1,9})?)")
_NAMESPACE = "http://mulan.sourceforge.net/labels"


def read(
    source: Source, format: str = "arff", *, encoding: str | None = None,
    xml: AnyPath | None = None, n_labels: int | None = None, labels_at: str = "last",
    nominal: str = "ordinal", targets: str = "auto", reading: dict[str, Any] | None = None,
) -> Dataset:  # fmt: skip
    """Read ARFF whose targets are told by XML, by `n_labels`, or by `-C n` in its relation name."""
    check_choice("labels_at", labels_at, ("last", "first"))
    table = read_table(source, encoding)
    known = n_labels is not None or format == "meka"
    beside = xml or (None if known else _beside(source))
    if beside is not None:
        at = _columns(table, label_parents(beside, source.limits), source, str(beside))
    elif n_labels is not None:
        at = _span(n_labels if labels_at == "first" else -n_labels, table, source)
    elif format == "mulan":
        raise FormatError(f"{source.name}: no XML file with the labels beside it; give xml=...")
    else:
        match = _COUNT.search(table.relation)
        if match is None:
            raise FormatError(
                f"{source.name}: nothing says which attributes are labels; give xml=..., "
                "n_labels=..., or write '-C n' in the relation name"
            )
        at = _span(int(match[1]), table, source)
    features = [k for k in range(len(table.attributes)) if k not in {*at, *table.texts}]
    alike.recode(table, features, reading, source.name)
    data = to_dataset(table, at, source, nominal, targets)
    if data.texts is None:
        data = replace(data, reading=alike.reading_of(table, features))
    split = None if beside is not None else _SPLIT.search(table.relation)
    if split is None:
        return data
    n, given = data.n_instances, float(split[2])
    first = round(n * given / 100) if split[1] == "percentage" else int(given)
    return data.with_split({"train": np.arange(n) < first, "test": np.arange(n) >= first})


def _beside(source: Source) -> Path | None:
    """XML of the same name; of `a-b-train-sparse.arff` also `a-b-train.xml`, `a-b.xml`, `a.xml`."""
    if source.path == "-":
        return None
    folder, stem = Path(source.path).parent, source.stem
    while stem:
        for ending in ("", *COMPRESSED):
            candidate = folder / f"{stem}.xml{ending}"
            if candidate.is_file():
                return candidate
        cut = max(stem.rfind("-"), stem.rfind("_"))
        stem = stem[:cut] if cut > 0 else ""
    return None


def label_parents(path: AnyPath, limits: Limits | None = None) -> dict[str, str]:
    """Labels of a Mulan XML file in order, each with its parent ("" at the top)."""
    source = Source(path, limits)
    try:
        root = fromstring(source.content, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError, RecursionError) as error:
        raise FormatError(
            f"{source.name}: not a plain XML file of labels ({str(error)[:200]})"
        ) from error
    parents: dict[str, str] = {}
    waiting = [(child, "") for child in reversed(root)]
    while waiting:
        element, parent = waiting.pop()
        if str(element.tag).rpartition("}")[2] != "label":
            continue
        name = element.get("name")
        if name is None or name in parents:
            raise FormatError(
                f"{source.name}: got {'a label without a name' if name is None else name!r}"
                f"{'' if name is None else ' twice'}; name each label once"
            )
        parents[name] = parent
        waiting.extend((child, name) for child in reversed(element))
    if not parents:
        raise FormatError(f"{source.name}: no <label name=...> in it; is it a Mulan XML file?")
    return parents


def _columns(table: Table, labels: dict[str, str], source: Source, xml: str) -> list[int]:
    at: dict[str, list[int]] = {}
    for column, attribute in enumerate(table.attributes):
        at.setdefault(attribute.name, []).append(column)
    missing = [label for label in labels if label not in at]
    if missing:
        raise FormatError(
            f"{source.name}: label {missing[0]!r} of {xml} is not an attribute; give its own XML"
        )
    twice = [label for label in labels if len(at[label]) > 1]
    if twice:
        raise FormatError(f"{source.name}: attribute {twice[0]!r} is declared twice; rename one")
    return [at[label][0] for label in labels]


def write(dataset: Dataset, path: AnyPath, format: str) -> None:
    """Write ARFF, sparse if X is; MEKA puts the labels first, Mulan last with the XML beside."""
    if format == "meka":
        table = _table_of(dataset, labels_first=True)
        table.relation = f"{dataset.name}: -C {dataset.n_labels}"
        write_table(table, path)
        return
    if str(path) == "-":
        raise InputError("Mulan data are two files; give a path, or write the meka format")
    table = _table_of(dataset, labels_first=False)
    with open_to_write(Path(path).parent / f"{Source(path).stem}.xml") as file:
        file.write(
            f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="{_NAMESPACE}">\n'.encode()
        )
        for label in table.attributes[len(table.attributes) - dataset.n_labels :]:
            file.write(f"<label name={quoteattr(label.name)}></label>\n".encode())
        file.write(b"</labels>\n")
    write_table(table, path)


def _table_of(dataset: Dataset, *, labels_first: bool) -> Table:
    """Attributes and numbers of a data set; texts become one string attribute."""
    taken: set[str] = set()
    targets = _unique(_label_attributes(dataset), taken)
    features = [Attribute("text", "string")] if dataset.texts is not None else []
    features = _unique([*features, *map(Attribute, dataset.names_of_features())], taken)
    X = dataset.X if dataset.X is not None else np.zeros((dataset.n_instances, 0))
    if dataset.texts is not None:
        column = np.zeros((dataset.n_instances, 1))
        X = sp.csr_array(sp.hstack([column, X])) if sp.issparse(X) else np.hstack([column, X])
    parts = [dataset.Y, X] if labels_first else [X, dataset.Y]
    if sp.issparse(X):
        stacked = sp.csr_array(sp.hstack(parts))
    else:
        stacked = np.hstack([one.toarray() if sp.issparse(one) else one for one in parts])
    at = len(targets) if labels_first else 0
    texts = {} if dataset.texts is None else {at: dataset.texts}
    order = [*targets, *features] if labels_first else [*features, *targets]
    return Table(dataset.name, order, stacked, texts)


def _label_attributes(dataset: Dataset) -> list[Attribute]:
    names = dataset.label_names or [f"label{k}" for k in range(dataset.n_labels)]
    if dataset.target_classes is not None:
        classes = zip(names, dataset.target_classes)
        return [Attribute(name, "nominal", tuple(values)) for name, values in classes]
    stored = dataset.Y.data if sp.issparse(dataset.Y) else np.asarray(dataset.Y)
    known = stored[~np.isnan(stored)]
    if ((known == 0) | (known == 1)).all():
        return [Attribute(name, "nominal", ("0", "1")) for name in names]
    return [Attribute(name) for name in names]


def _unique(attributes: list[Attribute], taken: set[str]) -> list[Attribute]:
    """The attributes, a name taken before with a number added: ARFF allows each name once."""
    renamed = []
    for one in attributes:
        name, k = one.name, 2
        while name in taken:
            name, k = f"{one.name}_{k}", k + 1
        taken.add(name)
        renamed.append(replace(one, name=name))
    return renamed


def _span(count: int, table: Table, source: Source) -> list[int]:
    """The first `count` attributes, or the last `-count`."""
    width = len(table.attributes)
    if not 1 <= abs(count) <= width:
        raise FormatError(
            f"{source.name}: got {abs(count)} labels, but the file declares {width} attributes"
        )
    return list(range(count)) if count > 0 else list(range(width + count, width))
