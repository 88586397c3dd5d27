"""Named sets: how each is built from its files."""

import json
from dataclasses import replace
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from labelrank.datasets import archives, libsvm, matlab, mulan, reuters
from labelrank.datasets.dataset import PARTS, Dataset, join
from labelrank.datasets.opening import Source, check_choice
from labelrank.datasets.registry import Content, Folders
from labelrank.errors import FormatError
from labelrank.relevance import RelevanceBinarizer, check_relevance

EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
# Whether each column is nominal.
_BRIDGE_COLUMNS = {
    "river": True, "location": False, "erected": True, "purpose": True, "length": True,
    "lanes": False, "clear-g": True, "t-or-d": True, "material": True, "span": True,
    "rel-l": True, "type": True,
}  # fmt: skip


def _records(source: Source, **more: type) -> list[dict[str, Any]]:
    """JSON lines with id, text and labels, and with `more` fields of the given types."""
    lines = source.lines()
    source.limits.check("rows", len(lines), source.name)
    fields = {"text": str, "labels": list, **more}
    records = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{source.name}, line {number}: not JSON ({error})") from error
        if not _is_record(record, fields):
            wanted = ", ".join(("id", *fields))
            raise FormatError(f"{source.name}, line {number}: an object with {wanted} is wanted")
        records.append(record)
    source.limits.check("labels", len({tag for r in records for tag in r["labels"]}), source.name)
    return records


def _is_record(record: Any, fields: dict[str, type]) -> bool:
    if not isinstance(record, dict) or "id" not in record:
        return False
    if not all(isinstance(record.get(field), kind) for field, kind in fields.items()):
        return False
    lists = [record[field] for field, kind in fields.items() if kind is list]
    return all(isinstance(entry, str) for entries in lists for entry in entries)


def _texts(folders: Folders, records: list[dict[str, Any]], labels: str = "labels") -> Dataset:
    binarizer = RelevanceBinarizer()
    Y = binarizer.fit_transform([record[labels] for record in records])
    texts, ids = [r["text"] for r in records], [str(r["id"]) for r in records]
    names = binarizer.classes_.tolist()
    return Dataset(folders.name, None, Y, texts=texts, label_names=names, ids=ids)


def _by_field(dataset: Dataset, records: list[dict[str, Any]]) -> Dataset:
    """Split by the part named in each record."""
    names = {"dev": "validation", "valid": "validation", "val": "validation"}
    part = np.array([names.get(record["split"], record["split"]) for record in records])
    return dataset.with_split({name: part == name for name in PARTS if (part == name).any()})


def _frequent(dataset: Dataset, min_count: int) -> Dataset:
    if min_count <= 1:
        return dataset
    return dataset.with_labels(np.bincount(dataset.Y.indices) >= min_count)


def debtags_sample(folders: Folders) -> Dataset:
    """The set inside the package; train and test by a hash of the package name."""
    bundled = files("labelrank.datasets") / "bundled" / "debtags-sample.jsonl.xz"
    with as_file(bundled) as path:
        records = _records(Source(path, folders.limits), split=str)
    return _by_field(_texts(folders, records), records)


def debtags(folders: Folders, *, min_count: int = 1) -> Dataset:
    """All tagged packages; `min_count` leaves out tags of fewer packages."""
    return _frequent(_texts(folders, _records(folders.source(folders.files[0]))), min_count)


def eurlex_titles(folders: Folders, *, test_from: str = "2016", min_count: int = 1) -> Dataset:
    """Titles with EuroVoc descriptors; acts dated `test_from` or later are the test part."""
    records = _records(folders.source(folders.files[0]), date=str)
    lines = folders.source(folders.files[1]).lines()
    english = dict(line.split("\t", 1) for line in lines if "\t" in line)
    for record in records:  # ids newer than the list of descriptors stand for themselves
        record["labels"] = [english.get(label, label) for label in record["labels"]]
    dataset = _frequent(_texts(folders, records), min_count)
    test = np.array([record["date"] >= test_from for record in records])
    return dataset.with_split({"train": ~test, "test": test})


def pubmed_mesh(folders: Folders, *, labels: str = "headings") -> Dataset:
    """Abstracts; `labels` are MeSH "headings" or the "roots" (top categories) they belong to."""
    fields = {"headings": "labels", "roots": "roots"}
    check_choice("labels", labels, fields)
    records = _records(folders.source(folders.files[0]), split=str, roots=list)
    return _by_field(_texts(folders, records, fields[labels]), records)


def hallmarks(folders: Folders, *, graded: bool = False) -> Dataset:
    """Abstracts on cancer; `graded=True` grades a label by its number of sentences."""
    source = folders.source(folders.files[0])
    records = _records(source, sentences_per_label=dict)
    dataset = _texts(folders, records)
    if not graded:
        return dataset
    rows = np.repeat(np.arange(dataset.n_instances), np.diff(dataset.Y.indptr)).tolist()
    names = [dataset.label_names[k] for k in dataset.Y.indices]
    cells = zip(rows, names, strict=True)
    try:
        dataset.Y.data[:] = [float(records[i]["sentences_per_label"][name]) for i, name in cells]
        dataset.Y = check_relevance(dataset.Y)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"{source.name}: sentences_per_label does not grade every label ({error}); "
            "get the file again"
        ) from error
    return dataset


def goemotions(folders: Folders) -> Dataset:
    """Reddit comments with 27 emotions and neutral; the official train, dev and test parts."""
    *files, labels = folders.files
    names = folders.source(labels).lines()
    parts = (_emotion_lines(folders.source(file), names) for file in files)
    return join(dict(zip(PARTS, parts)), folders.name)


def _emotion_lines(source: Source, names: list[str]) -> Dataset:
    lines = source.lines()
    source.limits.check("rows", len(lines), source.name)
    known = {str(k): name for k, name in enumerate(names)}
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            text, indices, comment = line.split("\t")
            rows.append((text, [known[index] for index in indices.split(",")], comment))
        except (ValueError, KeyError) as error:
            raise FormatError(
                f"{source.name}, line {number}: text, label indices and id are wanted"
            ) from error
    texts, labels, ids = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
    Y = RelevanceBinarizer(classes=names).fit_transform(labels)
    return Dataset(source.stem, None, Y, texts=texts, label_names=names, ids=ids)


def affective_text(folders: Folders) -> Dataset:
    """Headlines with six emotions graded 0 to 100; trial part for training, test part."""
    parts = {}
    for part, stem in (("train", "trial"), ("test", "test")):
        wanted = (f"affectivetext_{stem}.xml", f"affectivetext_{stem}.emotions.gold")
        headlines, gold = folders.members(folders.files[0], *wanted)
        parts[part] = _headlines(headlines, gold)
    return join(parts, folders.name)


def _headlines(headlines: Source, gold: Source) -> Dataset:
    try:
        instances = fromstring(headlines.content).findall("instance")
        rows = (line.split() for line in gold.lines() if line.strip())
        grades = {row[0]: [float(grade) for grade in row[1:]] for row in rows}
        Y = np.array([grades[instance.attrib["id"]] for instance in instances])
        Y = check_relevance(Y.reshape(len(instances), len(EMOTIONS)))
    except (ParseError, DefusedXmlException, KeyError, ValueError) as error:
        raise FormatError(
            f"{headlines.name} and {gold.name} are not headlines and their scores ({error}); "
            "get the archive again"
        ) from error
    texts = [(instance.text or "").strip() for instance in instances]
    ids = [instance.attrib["id"] for instance in instances]
    return Dataset("", None, Y, texts=texts, label_names=list(EMOTIONS), ids=ids)


def reuters21578(
    folders: Folders, *, split: str = "ModApte", common_topics: bool = False
) -> Dataset:
    """News of 1987 by a published split; `common_topics` keeps those that occur in both parts."""
    topics = "both" if common_topics else "all"
    return reuters.read(folders.source(folders.files[0]), split=split, topics=topics)


def mulan_arff(folders: Folders, *, nominal: str = "ordinal") -> Dataset:
    """ARFF with XML, in one file or in train and test files."""
    *files, xml = folders.files
    labels = folders.path(xml)
    sources = (folders.source(file) for file in files)
    parts = [mulan.read(source, "mulan", xml=labels, nominal=nominal) for source in sources]
    if len(parts) == 1:
        return replace(parts[0], name=folders.name)
    return join(dict(zip(("train", "test"), parts)), folders.name)


def meka_arff(folders: Folders, *, nominal: str = "ordinal") -> Dataset:
    """ARFF whose relation name says which attributes are targets."""
    data = mulan.read(folders.source(folders.files[0]), "meka", nominal=nominal)
    return replace(data, name=folders.name)


def last_columns(
    folders: Folders, *, n_targets: int, targets: str, nominal: str = "ordinal"
) -> Dataset:
    """ARFF whose last attributes are targets: "classes", or grades of labels ("relevance")."""
    source = folders.source(folders.files[0])
    data = mulan.read(source, n_labels=n_targets, nominal=nominal, targets=targets)
    return replace(data, name=folders.name)


def bridges(folders: Folders, *, nominal: str = "ordinal", missing: str = "unknown") -> Dataset:
    """Pittsburgh bridges; `missing` targets stay "unknown", are a "class", or "drop" instances."""
    check_choice("missing", missing, ("unknown", "class", "drop"))
    source = folders.source(folders.files[0])
    rows = [line.split(",") for line in source.lines() if line.strip()]
    if any(len(row) != len(_BRIDGE_COLUMNS) + 1 for row in rows):
        raise FormatError(f"{source.name}: 13 columns are wanted in each line; get the file again")
    table = Content(source.name, _as_arff([row[1:] for row in rows]), folders.limits)
    data = mulan.read(table, n_labels=5, nominal=nominal, targets="classes")
    ids = [row[0] for row in rows]
    return _settled(replace(data, name=folders.name, ids=ids), missing)


def _as_arff(rows: list[list[str]]) -> bytes:
    lines = ["@relation bridges"]
    for k, (name, is_nominal) in enumerate(_BRIDGE_COLUMNS.items()):
        values = sorted({row[k] for row in rows} - {"?"})
        lines.append(
            f"@attribute {name} {'{' + ','.join(values) + '}' if is_nominal else 'numeric'}"
        )
    return "\n".join([*lines, "@data", *map(",".join, rows), ""]).encode()


def _settled(dataset: Dataset, missing: str) -> Dataset:
    """The data set with its unknown targets dealt with as asked."""
    unknown = np.isnan(dataset.Y)
    if missing == "unknown" or not unknown.any():
        return dataset
    if missing == "drop":
        kept = dataset.subset(~unknown.any(axis=1))
        return replace(kept, Y=kept.Y.astype(np.int64))
    classes = [list(names) for names in dataset.target_classes or []]
    Y = dataset.Y.copy()
    for k in np.flatnonzero(unknown.any(axis=0)):
        Y[unknown[:, k], k] = len(classes[k])
        classes[k].append("?")
    return replace(dataset, Y=Y.astype(np.int64), target_classes=classes)


def rcv1v2(folders: Folders) -> Dataset:
    """News of 1996 and 1997 as term vectors; topic codes with their parents in the hierarchy."""
    *files, topics = (folders.source(file) for file in folders.files)
    try:
        rows = [(code, parent) for _, code, parent in (s.split("\t") for s in topics.lines())]
    except ValueError as error:
        raise FormatError(f"{topics.name}: index, topic and parent are wanted in a line") from error
    codes, parents = [code for code, _ in rows], [parent or None for _, parent in rows]
    parts = {}
    for part, file in zip(("train", "test"), files):
        data = libsvm.read(file, n_features=47236, zero_based=False, label_names=codes)
        parts[part] = replace(data, label_parents=parents)
    return join(parts, folders.name)


def yahoo(folders: Folders) -> Dataset:
    """Web pages of one Yahoo directory; labels and words have no names."""
    source = folders.source(folders.files[0])
    data = archives.read_npz(source)
    if not data.parts:
        raise FormatError(f"{source.name}: not the archive wanted; get it again")
    names = [f"label {k + 1}" for k in range(data.n_labels)]
    parts = {part: replace(one, label_names=names) for part, one in data.parts.items()}
    return join(parts, folders.name)


def distribution(folders: Folders) -> Dataset:
    """Label distributions: grades are the degrees to which the labels describe an instance."""
    return replace(matlab.read_mat(folders.source(folders.files[0])), name=folders.name)


def ranking(folders: Folders) -> Dataset:
    """Rankings of labels, best rank the highest grade; loose or in the archive of all."""
    return replace(libsvm.read_rankings(folders.source(folders.files[0])), name=folders.name)
