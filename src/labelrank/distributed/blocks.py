"""Parts of a data set to blocks of rows: features and relevance, made where the blocks will stay.

Each part is read once. What it has met (terms, in how many documents, and labels) is merged two by
two; the terms, their weights and the labels of the whole come of that, and every block gets them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.dataset import Dataset
from labelrank.datasets.parts import Part
from labelrank.distributed.engine import Engine, Report, reduced
from labelrank.errors import FormatError, InputError
from labelrank.learned import LearnedRows
from labelrank.learners.base import Seen
from labelrank.text import Counted, TermCounts, TextVectorizer


class Raw(NamedTuple):
    """A part as it was read: counts of its own terms (or features), its own labels.

    `learned` are the hashes of some rows and how often they are met, see `labelrank.learned`.
    """

    counts: sp.csr_array
    terms: list[str] | None
    Y: sp.csr_array
    names: list[str]
    learned: list[list[int]]


class Met(NamedTuple):
    """What parts have met."""

    terms: TermCounts
    names: frozenset[str]
    learned: LearnedRows


class Common(NamedTuple):
    """What all blocks share: the vectoriser (None where features are numbers) and the labels."""

    vectorizer: TextVectorizer | None
    names: list[str]
    learned: LearnedRows


class Block(NamedTuple):
    """Rows as a learner takes them."""

    X: sp.csr_array
    Y: sp.csr_array


class Blocks(NamedTuple):
    """Handles of the blocks that have rows, in their order; what is noted of each, and of all."""

    handles: list[Any]
    seen: list[Seen]
    whole: Seen


def read(part: Part, vectorizer: TextVectorizer | None, unlabelled: str) -> Raw:
    """Read a part, and count its terms; rows without labels are left out if they are to "skip"."""
    dataset = part.read()
    if unlabelled == "skip" and dataset.n_labels and dataset.target_classes is None:
        dataset = dataset.subset(np.diff(dataset.Y.indptr) > 0)
    return raw_of(dataset, vectorizer, part.path)


def raw_of(dataset: Dataset, vectorizer: TextVectorizer | None, path: str) -> Raw:
    """The rows of a part, their terms counted."""
    if dataset.target_classes is not None:
        raise FormatError(
            f"{path}: has targets of several classes, which are learned on one machine; "
            "read it by datasets.load"
        )
    if dataset.texts is None and dataset.table is not None:
        columns = ", ".join(map(repr, list(dataset.table)[:5]))
        raise FormatError(
            f"{path}: columns {columns} are a table, which is learned on one machine; name "
            "the column of texts by text_column=..., or read it by datasets.load"
        )
    if any(dataset.prefer or ()):
        raise FormatError(
            f"{path}: states preferences between labels, which are learned on one machine; "
            "read it by datasets.load"
        )
    Y, names = sp.csr_array(dataset.Y), [str(name) for name in dataset.label_names]
    learned = [found.tolist() for found in LearnedRows.of(dataset.documents)]
    if dataset.texts is None:
        return Raw(sp.csr_array(dataset.X), None, Y, names, learned)
    counted = _of_texts(vectorizer, path).count(dataset.texts)
    return Raw(*counted, Y, names, learned)


def _of_texts(vectorizer: TextVectorizer | None, path: str) -> TextVectorizer:
    if vectorizer is None:
        raise InputError(
            f"{path} has texts, but the vectoriser makes no terms of them; use a "
            "TextVectorizer, or an encoder on one machine"
        )
    return vectorizer


def met_in(raw: Raw) -> Met:
    """What a part has met."""
    learned = LearnedRows(*(np.array(found, np.uint32) for found in raw.learned))
    return Met(Counted(raw.counts, raw.terms).frequencies(), frozenset(raw.names), learned)


def merged(one: Met, other: Met) -> Met:
    """What both have met."""
    learned = one.learned + other.learned
    return Met(one.terms + other.terms, one.names | other.names, learned)


def settled(vectorizer: TextVectorizer | None, fixed: list[str] | None, met: Met) -> Common:
    """The terms and labels of all parts; `fixed` are the labels where columns declare them."""
    names = sorted(met.names) if fixed is None else fixed
    if not names:
        raise InputError("the parts have no labels; name their column by label_column=...")
    if vectorizer is None:
        return Common(None, names, met.learned)
    return Common(vectorizer.fit_counts(met.terms), names, met.learned)


def block_of(raw: Raw, common: Common) -> Block:
    """The rows with the features and labels of the whole."""
    X = raw.counts
    if common.vectorizer is not None:
        X = common.vectorizer.weigh(Counted(X, raw.terms))
    column = {name: k for k, name in enumerate(common.names)}
    place = np.array([column[name] for name in raw.names], np.int32)
    indices = place[raw.Y.indices] if len(place) else raw.Y.indices
    shape = raw.Y.shape[0], len(common.names)
    Y = sp.csr_array((raw.Y.data.astype(np.float64), indices, raw.Y.indptr), shape=shape)
    Y.sort_indices()
    return Block(X, Y)


def owned(block: Block) -> Block:
    """The block in arrays that may be written: kernels know of no others, and results of other
    workers may come without."""
    parts = (block.X, block.Y)
    if all(array.flags.writeable for one in parts for array in (one.data, one.indices, one.indptr)):
        return block
    return Block(*(one.copy() for one in parts))


def noted(learner: Any, block: Block) -> Seen:
    """What a learner notes of a block, once it has checked it."""
    seen: Seen = learner.look_at_piece(*owned(block))
    return seen


def make(
    engine: Engine, parts: Sequence[Part], vectorizer: TextVectorizer | None,
    names: list[str] | None, unlabelled: str, report: Report,
) -> tuple[list[Any], Common]:  # fmt: skip
    """Handles of the blocks of all parts, and what they share."""
    raws = [engine.keep(read, part, vectorizer, unlabelled) for part in parts]
    engine.watch(raws, report)
    met = reduced(engine, merged, [engine.call(met_in, raw) for raw in raws])
    common = engine.call(settled, vectorizer, names, met)
    return [engine.keep(block_of, raw, common) for raw in raws], engine.get(common)


def note(engine: Engine, learner: Any, handles: Sequence[Any]) -> Blocks:
    """The blocks that have rows, with what the learner notes of them."""
    seen = [engine.get(one) for one in [engine.call(noted, learner, each) for each in handles]]
    there = [k for k, one in enumerate(seen) if one.n_rows]
    if not there:
        raise InputError("no part has a row with a label; give labelled data")
    whole = seen[there[0]]
    for k in there[1:]:
        whole = whole.merged(seen[k])
    return Blocks([handles[k] for k in there], [seen[k] for k in there], whole)
