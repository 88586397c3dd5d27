"""Reuters-21578, with the official splits as section VIII of its README tells.

ModApte: train LEWISSPLIT="TRAIN", test LEWISSPLIT="TEST", both with TOPICS="YES".
ModLewis: the same with TOPICS "YES" or "NO".
"""

import html
import io
import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import Source, check_choice, decode
from labelrank.errors import FormatError, MissingError
from labelrank.relevance import from_grades

SPLITS = {"ModApte": ("YES",), "ModLewis": ("YES", "NO")}
_ATTRIBUTE = re.compile(r'([A-Z]+)="([^"]*)"')
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class Document(NamedTuple):
    """One REUTERS element."""

    id: str
    part: str
    has_topics: str
    topics: tuple[str, ...]
    text: str


def read(
    source: Source, *, encoding: str | None = None, split: str = "ModApte", topics: str = "all"
) -> Dataset:
    """Read a folder of .sgm files, a tar archive of them, or one; `topics` is "all" or "both"."""
    check_choice("split", split, SPLITS)
    check_choice("topics", topics, ("all", "both"))
    documents = [d for text in _texts(source, encoding) for d in _documents(text, source)]
    if not documents:
        raise FormatError(f"{source.name}: no <REUTERS> document in it; is it Reuters-21578?")
    parts = [
        [d for d in documents if d.part == part and d.has_topics in SPLITS[split]]
        for part in ("TRAIN", "TEST")
    ]
    train, test = ({topic for d in part for topic in d.topics} for part in parts)
    names = sorted(train & test if topics == "both" else train | test)
    return _dataset(parts, names, source)


def _texts(source: Source, encoding: str | None) -> Iterator[str]:
    if source.path != "-" and os.path.isdir(source.path):
        for path in sorted(Path(source.path).glob("*.sgm")):
            yield Source(path, source.limits).text(encoding, "latin-1")
        return
    if source.content[257:262] != b"ustar":
        yield source.text(encoding, "latin-1")
        return
    for name, content in _members(source):
        yield decode(content, name, encoding, "latin-1")


def _members(source: Source) -> Iterator[tuple[str, bytes]]:
    """The .sgm files of an archive, in order of name; nothing is unpacked to disk."""
    try:
        with tarfile.open(fileobj=io.BytesIO(source.content)) as archive:
            files = [m for m in archive.getmembers() if m.isfile() and m.name.endswith(".sgm")]
            for member in sorted(files, key=lambda m: m.name):
                if member.size > len(source.content):
                    raise FormatError(f"{source.name}: {member.name} is cut short")
                file = archive.extractfile(member)
                yield f"{source.name}:{member.name}", file.read() if file else b""
    except FormatError:
        raise
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise FormatError(f"{source.name}: damaged tar archive ({error})") from error


def _documents(text: str, source: Source) -> Iterator[Document]:
    position = text.find("<REUTERS")
    while position >= 0:
        end = text.find("</REUTERS>", position)
        if end < 0:
            line = text.count("\n", 0, position) + 1
            raise FormatError(
                f"{source.name}: the document at line {line} does not end; the file is cut short"
            )
        yield _document(text[position:end])
        position = text.find("<REUTERS", end)


def _document(element: str) -> Document:
    opening, _, body = element.partition(">")
    attributes = dict(_ATTRIBUTE.findall(opening))
    topics = _between(body, "TOPICS").replace("</D>", "<D>").split("<D>")
    parts = [_between(body, "TITLE"), _between(body, "BODY")]
    if not any(parts):
        unformatted = body.find("<TEXT")
        inside = body[body.find(">", unformatted) + 1 : body.find("</TEXT>")]
        parts = [inside] if unformatted >= 0 else []
    return Document(
        id=attributes.get("NEWID", ""),
        part=attributes.get("LEWISSPLIT", ""),
        has_topics=attributes.get("TOPICS", ""),
        topics=tuple(dict.fromkeys(t.strip() for t in topics if t.strip())),
        text="\n".join(_CONTROL.sub("", html.unescape(p)).strip() for p in parts if p),
    )


def _between(body: str, tag: str) -> str:
    start = body.find(f"<{tag}>")
    end = body.find(f"</{tag}>", start)
    return body[start + len(tag) + 2 : end] if 0 <= start <= end else ""


def _dataset(parts: list[list[Document]], names: list[str], source: Source) -> Dataset:
    used = parts[0] + parts[1]
    if not used or not names:
        raise MissingError(f"{source.name}: no document of this split has a topic")
    source.limits.check("rows", len(used), source.name)
    source.limits.check("labels", len(names), source.name)
    column = {topic: k for k, topic in enumerate(names)}
    rows = [{column[topic]: 1.0 for topic in d.topics if topic in column} for d in used]
    Y = from_grades(rows, len(names))
    data = Dataset(
        "reuters21578", None, Y, texts=[d.text for d in used],
        label_names=names, ids=[d.id for d in used],
    )  # fmt: skip
    is_train = np.arange(len(used)) < len(parts[0])
    return data.with_split({"train": is_train, "test": ~is_train})
