"""ARFF with targets: named by an XML file (Mulan) or by the relation name (MEKA)."""

import os
import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import scipy.sparse as sp
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from labelrank.datasets.arff import Table, read_table, write_table
from labelrank.datasets.arff_parsing import Attribute
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import COMPRESSED, Limits, Source, open_to_write
from labelrank.datasets.tabular import to_dataset
from labelrank.errors import FormatError, InputError

_COUNT = re.compile(r"(?:^|[\s:])-[Cc]\s*(-?\d{1,9})(?!\d)")
_SPLIT = re.compile(r"-split-(number|percentage)\s+(\d{1,9}(?:\.\d{1,9})?)")
_NAMESPACE = "http://mulan.sourceforge.net/labels"


def read(
    source: Source,
    format: str = "arff",
    *,
    encoding: str | None = None,
    xml: str | os.PathLike[str] | None = None,
    n_labels: int | None = None,
    labels_at: str = "last",
    nominal: str = "ordinal",
    targets: str = "auto",
) -> Dataset:
    """Read an ARFF file whose targets are told by XML, by `n_labels` or by MEKA's `-C`.

    Parameters
    ----------
    source : Source
    format : {"arff", "mulan"}
        "mulan" insists on an XML file.
    encoding : str or None
    xml : path of the XML file; None looks beside the ARFF file for its name, also without
        parts such as "-train"
    n_labels : number of targets, where neither XML nor `-C` says it
    labels_at : {"last", "first"}
        Where those `n_labels` attributes stand.
    nominal : {"ordinal", "onehot"}
    targets : {"auto", "relevance", "classes"}
        See `labelrank.datasets.tabular`.
    """
    if labels_at not in ("last", "first"):
        raise InputError(f"got labels_at={labels_at!r}; use 'last' or 'first'")
    table = read_table(source, encoding)
    beside = xml or (None if n_labels is not None else _beside(source))
    if beside is not None:
        at = _columns(table, label_parents(beside, source.limits), source, str(beside))
    elif n_labels is not None:
        at = _span(n_labels if labels_at == "first" else -n_labels, table, source)
    elif format == "mulan":
        raise FormatError(f"{source.name}: no XML file with the labels beside it; give xml=...")
    else:
        at = _span(_signed_count(table, source), table, source)
    data = to_dataset(
        table, at, name=source.stem, where=source.name, limits=source.limits,
        nominal=nominal, targets=targets,
    )  # fmt: skip
    return _with_split(data, table.relation) if beside is None else data


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


def label_parents(path: str | os.PathLike[str], limits: Limits | None = None) -> dict[str, str]:
    """Labels of a Mulan XML file in order, each with its parent ("" at the top).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labelrank.datasets.mulan import label_parents
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.xml"
    ...     _ = path.write_text('<labels><label name="a"><label name="b"/></label></labels>')
    ...     label_parents(path)
    {'a': '', 'b': 'a'}
    """
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


def write(dataset: Dataset, path: str | os.PathLike[str], format: str = "mulan") -> None:
    """Write ARFF (features first, labels last; sparse if X is) and the XML beside it."""
    if str(path) == "-":
        raise InputError("Mulan data are two files; give a path, or write the meka format")
    table, _ = table_of(dataset, labels_first=False)
    target = Source(path)
    with open_to_write(Path(path).parent / f"{target.stem}.xml") as file:
        file.write(
            f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="{_NAMESPACE}">\n'.encode()
        )
        for label in table.attributes[len(table.attributes) - dataset.n_labels :]:
            file.write(f"<label name={quoteattr(label.name)}></label>\n".encode())
        file.write(b"</labels>\n")
    write_table(table, path)


def table_of(dataset: Dataset, *, labels_first: bool) -> tuple[Table, int]:
    """Attributes and numbers of a data set; texts become one string attribute."""
    features = _feature_attributes(dataset)
    labels = _unique([a.name for a in _label_attributes(dataset)], set())
    names = _unique([a.name for a in features], set(labels))
    renamed = [Attribute(n, a.kind, a.values) for n, a in zip(names, features)]
    targets = [Attribute(n, a.kind, a.values) for n, a in zip(labels, _label_attributes(dataset))]
    X = dataset.X if dataset.X is not None else np.zeros((dataset.n_instances, 0))
    if dataset.texts is not None:
        column = np.zeros((dataset.n_instances, 1))
        X = sp.csr_array(sp.hstack([column, X])) if sp.issparse(X) else np.hstack([column, X])
    Y = dataset.Y
    parts = [Y, X] if labels_first else [X, Y]
    sparse = sp.issparse(X)
    stacked = sp.csr_array(sp.hstack(parts)) if sparse else np.hstack(list(map(_dense, parts)))
    at = len(targets) if labels_first else 0
    texts = {} if dataset.texts is None else {at: dataset.texts}
    order = [*targets, *renamed] if labels_first else [*renamed, *targets]
    return Table(dataset.name, order, stacked, texts), len(targets)


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def _feature_attributes(dataset: Dataset) -> list[Attribute]:
    text = [Attribute("text", "string")] if dataset.texts is not None else []
    return text + [Attribute(name) for name in dataset.names_of_features()]


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


def _unique(names: list[str], taken: set[str]) -> list[str]:
    """The names, those met before with a number added: ARFF allows each name once."""
    result = []
    for name in names:
        fresh, k = name, 2
        while fresh in taken:
            fresh, k = f"{name}_{k}", k + 1
        taken.add(fresh)
        result.append(fresh)
    return result


def read_meka(
    source: Source,
    *,
    encoding: str | None = None,
    nominal: str = "ordinal",
    targets: str = "auto",
) -> Dataset:
    """Read a MEKA file; `-C n` in its relation name says where the targets are.

    `-C n`: the first n attributes, `-C -n`: the last n. `-split-number n` and
    `-split-percentage p` say how many instances are for training. Parameters as for `read`."""
    table = read_table(source, encoding)
    data = to_dataset(
        table, _span(_signed_count(table, source), table, source), name=source.stem,
        where=source.name, limits=source.limits, nominal=nominal, targets=targets,
    )  # fmt: skip
    return _with_split(data, table.relation)


def _signed_count(table: Table, source: Source) -> int:
    """The number after `-C` in the relation name."""
    match = _COUNT.search(table.relation)
    if match is None:
        raise FormatError(
            f"{source.name}: nothing says which attributes are labels; give xml=..., n_labels=..., "
            "or write '-C n' in the relation name"
        )
    return int(match[1])


def _span(count: int, table: Table, source: Source) -> list[int]:
    """The first `count` attributes, or the last `-count`."""
    width = len(table.attributes)
    if not 1 <= abs(count) <= width:
        raise FormatError(
            f"{source.name}: got {abs(count)} labels, but the file declares {width} attributes"
        )
    return list(range(count)) if count > 0 else list(range(width + count, width))


def _with_split(data: Dataset, relation: str) -> Dataset:
    """The data set with `train` and `test` where the relation name states a split."""
    match = _SPLIT.search(relation)
    if match is None:
        return data
    n, given = data.n_instances, float(match[2])
    first = round(n * given / 100) if match[1] == "percentage" else int(given)
    rows = np.arange(n)
    return data.with_split({"train": rows[:first], "test": rows[first:]})


def write_meka(dataset: Dataset, path: str | os.PathLike[str], format: str) -> None:
    """Write ARFF with the labels first and `-C n` in the relation name."""
    table, count = table_of(dataset, labels_first=True)
    table.relation = f"{dataset.name}: -C {count}"
    write_table(table, path)
