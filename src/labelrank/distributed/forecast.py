"""What learning from pieces will take, before it is begun: memory, bytes over the network, time.

A few rows are read and learned here, and the clock is watched; the rest is counted. Times hold
within a factor of about three, bytes within two: caches, disks and networks are not asked.
"""

import math
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from sklearn.base import clone

from labelrank.datasets.parts import Parts
from labelrank.distributed import blocks
from labelrank.distributed.engine import Here
from labelrank.distributed.ways import Load, Size, way_of
from labelrank.errors import FormatError
from labelrank.text import TextVectorizer

_ROWS = 2000
# What a worker takes before it has any data.
_PROGRAM = 0.35


class Forecast(NamedTuple):
    """What is expected of a problem: seconds of reading and of learning a row, all in one process.

    `load` counts the rest; learning that draws its rows takes as long for many as for few.
    """

    size: Size
    reading: float
    learning: float
    load_of: Callable[[Size], Load]

    @property
    def load(self) -> Load:
        return self.load_of(self.size)

    @property
    def seconds(self) -> float:
        """Of the work; the network is as fast as it is."""
        load, rows = self.load, self.size.rows
        learned = rows if load.grows else min(rows, _ROWS)
        return rows * self.reading / self.size.workers + learned * self.learning / load.side_by_side

    def at(self, rows: int, workers: int) -> "Forecast":
        """The same problem with other rows, in parts of the same size, on other workers."""
        parts = max(1, self.size.parts * rows // self.size.rows)
        return self._replace(size=self.size._replace(rows=rows, workers=workers, parts=parts))

    def told(self) -> dict[str, Any]:
        """For people and programs."""
        gib = 2**30
        return {
            "rows": self.size.rows, "features": self.size.features, "labels": self.size.labels,
            "workers": self.size.workers, "side by side": self.load.side_by_side,
            "GiB in each worker": round(_PROGRAM + self.load.worker_bytes / gib, 2),
            "GiB over the network": round(self.load.sent_bytes / gib, 2),
            "seconds": round(self.seconds, 1),
        }  # fmt: skip


def forecast(
    learner: Any, vectorizer: TextVectorizer | None, parts: Parts, engine: Here, n_workers: int
) -> Forecast:
    """Learn some rows of the largest file, and count what all will take."""
    way = way_of(learner)
    part = max(parts, key=lambda part: os.path.getsize(part.path))
    batch = next(part.batches(_ROWS))
    if batch.n_labels == 0:
        raise FormatError(f"{part.path}: no labels in the first {_ROWS} rows; name their column")
    names = sorted(map(str, batch.label_names))

    def read() -> Any:
        raw = blocks.raw_of(batch, vectorizer, part.path)
        common = blocks.settled(vectorizer, names, blocks.met_in(raw))
        return blocks.note(engine, clone(learner), [blocks.block_of(raw, common)])

    first, reading = _timed(read)
    learn = partial(_learned, way.learn, learner, first, engine)
    learn()  # the first time compiles kernels
    _, learning = _timed(learn)
    n, d = first.whole.n_rows, first.whole.n_features
    rows = parts.n_rows or _guessed(batch, parts)
    texts = vectorizer is not None and vectorizer.representation != "hashing"
    # New terms come ever more rarely: with the square root of the rows (Heaps).
    features = int(d * math.sqrt(max(rows / n, 1))) if texts else d
    if texts and vectorizer is not None and vectorizer.max_terms is not None:
        features = min(features, vectorizer.max_terms)
    values = (n * d - first.whole.counts.n_zeros) / n
    size = Size(rows, values, features, len(names), len(parts), n_workers)
    return Forecast(size, reading / n, learning / n, way.load)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    return work(), time.perf_counter() - began


def _learned(learn: Callable[..., Any], learner: Any, rows: Any, engine: Here) -> Any:
    fresh = clone(learner)
    fresh.note(rows.whole)
    return learn(fresh, rows, engine)


def _guessed(batch: Any, parts: Parts) -> int:
    """Rows of files of lines, by their size and that of the first texts."""
    n_bytes = sum(len(text.encode()) for text in batch.texts or ()) + batch.Y.nnz * 8
    return max(batch.n_instances, int(parts.n_bytes * batch.n_instances / max(n_bytes, 1)))
