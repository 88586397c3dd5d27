"""Named sets of texts: how each is built from its files."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import as_file, files
from typing import Any

import numpy as np

from labelrank.datasets.dataset import PARTS, Dataset, join
from labelrank.datasets.opening import Source
from labelrank.datasets.registry import Folders
from labelrank.errors import FormatError, InputError
from labelrank.relevance import RelevanceBinarizer, check_relevance

EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
Record = dict[str, Any]


def _records(source: Source, **more: type) -> list[Record]:
    """JSON lines with id, text and labels, and with `more` fields of the given types."""
    lines = source.lines()
    source.limits.check("rows", len(lines), source.name)
    fields = {"text": str, "labels": list, **more}
    found = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{source.name}, line {number}: not JSON ({error})") from error
        if not _is_record(record, fields):
            wanted = ", ".join(("id", *fields))
            raise FormatError(f"{source.name}, line {number}: an object with {wanted} is wanted")
        found.append(record)
    source.limits.check("labels", len({tag for r in found for tag in r["labels"]}), source.name)
    return found


def _is_record(record: Any, fields: dict[str, type]) -> bool:
    if not isinstance(record, dict) or "id" not in record:
        return False
    if not all(isinstance(record.get(field), kind) for field, kind in fields.items()):
        return False
    lists = [record[field] for field, kind in fields.items() if kind is list]
    return all(isinstance(entry, str) for entries in lists for entry in entries)


def _texts(name: str, records: Sequence[Record], labels: Iterable[Sequence[str]]) -> Dataset:
    binarizer = RelevanceBinarizer()
    Y = binarizer.fit_transform(list(labels))
    return Dataset(
        name,
        None,
        Y,
        texts=[record["text"] for record in records],
        label_names=binarizer.classes_.tolist(),
        ids=[str(record["id"]) for record in records],
    )


def _by_field(dataset: Dataset, values: Sequence[str]) -> Dataset:
    """Split by the part named in each record."""
    names = {"dev": "validation", "valid": "validation", "val": "validation"}
    part = np.array([names.get(value, value) for value in values])
    return dataset.with_split({name: part == name for name in PARTS if (part == name).any()})


def debtags_sample(folders: Folders) -> Dataset:
    """The set inside the package; train and test by a hash of the package name."""
    bundled = files("labelrank.datasets") / "bundled" / "debtags-sample.jsonl.xz"
    with as_file(bundled) as path:
        records = _records(Source(path, folders.limits), split=str)
    dataset = _texts(folders.name, records, (record["labels"] for record in records))
    return _by_field(dataset, [record["split"] for record in records])


def debtags(folders: Folders, *, min_count: int = 1) -> Dataset:
    """All tagged packages; `min_count` leaves out tags of fewer packages."""
    records = _records(folders.source(folders.files[0]))
    dataset = _texts(folders.name, records, (record["labels"] for record in records))
    if min_count <= 1:
        return dataset
    return dataset.with_labels(np.bincount(dataset.Y.indices) >= min_count)


def eurlex_titles(folders: Folders, *, test_from: str = "2016", min_count: int = 1) -> Dataset:
    """Titles with EuroVoc descriptors; acts dated `test_from` or later are the test part."""
    records = _records(folders.source(folders.files[0]), date=str)
    lines = folders.source(folders.files[1]).lines()
    english = dict(line.split("\t", 1) for line in lines if "\t" in line)
    # ids newer than the list of descriptors stand for themselves
    labels = [[english.get(label, label) for label in record["labels"]] for record in records]
    dataset = _texts(folders.name, records, labels)
    if min_count > 1:
        dataset = dataset.with_labels(np.bincount(dataset.Y.indices) >= min_count)
    test = np.array([record["date"] >= test_from for record in records])
    return dataset.with_split({"train": ~test, "test": test})


def pubmed_mesh(folders: Folders, *, labels: str = "headings") -> Dataset:
    """Abstracts; `labels` are MeSH "headings" or the "roots" (top categories) they belong to."""
    fields = {"headings": "labels", "roots": "roots"}
    if labels not in fields:
        raise InputError(f"got labels={labels!r}; use 'headings' or 'roots'")
    records = _records(folders.source(folders.files[0]), split=str, roots=list)
    dataset = _texts(folders.name, records, (record[fields[labels]] for record in records))
    return _by_field(dataset, [record["split"] for record in records])


def hallmarks(folders: Folders, *, graded: bool = False) -> Dataset:
    """Abstracts on cancer; `graded=True` grades a label by its number of sentences."""
    source = folders.source(folders.files[0])
    records = _records(source, sentences_per_label=dict)
    dataset = _texts(folders.name, records, (record["labels"] for record in records))
    if not graded:
        return dataset
    rows = np.repeat(np.arange(dataset.n_instances), np.diff(dataset.Y.indptr)).tolist()
    names = [dataset.label_names[k] for k in dataset.Y.indices]
    cells = zip(rows, names, strict=True)
    try:
        counts = [float(records[i]["sentences_per_label"][name]) for i, name in cells]
        dataset.Y.data[:] = counts
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
    found = [_emotion_lines(folders.source(file), names) for file in files]
    return join(dict(zip(PARTS, found)), folders.name)


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
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

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
    return Dataset(
        "",
        None,
        Y,
        texts=[(instance.text or "").strip() for instance in instances],
        label_names=list(EMOTIONS),
        ids=[instance.attrib["id"] for instance in instances],
    )


def reuters21578(
    folders: Folders, *, split: str = "ModApte", common_topics: bool = False
) -> Dataset:
    """News of 1987 by a published `split`, "ModApte" or "ModLewis".

    `common_topics=True` keeps the topics that occur in both parts (90 of ModApte).
    """
    from labelrank.datasets import formats

    path = folders.path(folders.files[0])
    dataset = formats.read(path, format="reuters", limits=folders.limits, split=split)
    dataset.name = folders.name
    if not common_topics or dataset.train is None or dataset.test is None:
        return dataset
    counts = [Counter(part.Y.indices.tolist()) for part in (dataset.train, dataset.test)]
    return dataset.with_labels(sorted(set(counts[0]) & set(counts[1])))
