"""Classification by compression: which label's documents help most to shorten this one."""

import bz2
import lzma
import zlib
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags

from labelrank._types import Array
from labelrank._zstd import zstd
from labelrank.declared import anything, choice, cut, number, stored, threads
from labelrank.errors import InputError
from labelrank.learners.base import IncrementalRanker
from labelrank.relevance import listed, relevant_part
from labelrank.resources import run_jobs

Primed = Callable[[bytes], int]

_NO_TEXT = np.zeros(0, np.uint8)


def _primed_zlib(text: bytes, level: int) -> Primed:
    """Bytes that a document adds: the state after the label's text is copied, not made anew."""
    state = zlib.compressobj(level)
    before = len(state.compress(text))
    whole = before + len(state.copy().flush())

    def added(document: bytes) -> int:
        copy = state.copy()
        return before + len(copy.compress(document)) + len(copy.flush()) - whole

    return added


def _primed_zstd(text: bytes, level: int) -> Primed:
    """Bytes of a document, the label's text being the dictionary (ignored below eight bytes)."""
    dictionary = zstd.ZstdDict(text, is_raw=True).as_digested_dict if len(text) >= 8 else None
    flags = zstd.CompressionParameter
    options: Any = {
        flags.compression_level: level,
        flags.content_size_flag: 0,
        flags.dict_id_flag: 0,
    }
    compressor, alone = zstd.ZstdCompressor(options=options, zstd_dict=dictionary), Lock()

    def size(document: bytes) -> int:
        with alone:
            compressor.set_pledged_input_size(len(document))
            return len(compressor.compress(document, compressor.FLUSH_FRAME))

    return size


def _recompressed(compress: Callable[[bytes, int], bytes], text: bytes, level: int) -> Primed:
    """Compress everything again for each document: these formats cannot be primed."""
    whole = len(compress(text, level))
    return lambda document: len(compress(text + document, level)) - whole


def _lzma(text: bytes, level: int) -> bytes:
    return lzma.compress(text, preset=level)


class Compressor(NamedTuple):
    """How to prime it, its usual level, the range of levels, and how much text it can use."""

    primed: Callable[[bytes, int], Primed]
    level: int
    levels: tuple[int, int]
    reach: Callable[[int], int] | None = None


def _bz2_reach(level: int) -> int:
    """Four fifths of a block of level x 100,000 bytes: the document must be in the same block."""
    return level * 80_000


COMPRESSORS = {
    "zstd": Compressor(_primed_zstd, 3, (-131_072, 22)),
    "zlib": Compressor(_primed_zlib, 9, (-1, 9)),
    "bz2": Compressor(partial(_recompressed, bz2.compress), 9, (1, 9), _bz2_reach),
    "lzma": Compressor(partial(_recompressed, _lzma), 1, (0, 9), lambda level: 1_000_000),
}


@stored("CompressionClassifier", 1, texts=anything(attribute="_texts"))
@dataclass(eq=False, repr=False)
class CompressionClassifier(IncrementalRanker):
    """Rank labels by how well their documents help to compress a new one; takes texts.

    The score of a label is the share of the document's bytes that are saved when it is compressed
    after all documents of the label, instead of alone.

    Parameters
    ----------
    compressor : {"zstd", "zlib", "bz2", "lzma"}
        zlib looks back on the last 32 KiB of a label's text, zstd on about 1 MiB at level 3,
        2 MiB at level 9, and 8 MiB from level 19. Both are primed with it once; bz2 and lzma
        cannot be, and compress it again for each document.
    level : int or None, the effort of the compressor
    max_bytes : int or None
        Keep this many bytes of a label's text, the latest; None keeps all. Of bz2 never more than
        80,000 times the level are kept, so that a document is in one block with the text; of lzma
        1,000,000.
    threshold : float or "cardinality"
        How `predict` cuts the ranking: as many labels as a text had on average, or at a gain.
    n_jobs : int or None, threads over labels

    Examples
    --------
    >>> from labelrank import CompressionClassifier
    >>> texts = ["the wheat harvest in the north", "crude oil prices rose sharply"]
    >>> learner = CompressionClassifier().fit(texts, [[1, 0], [0, 1]])
    >>> learner.predict(["oil prices rose"])
    array([[0, 1]])
    """

    compressor: str = choice(*COMPRESSORS)
    _: KW_ONLY
    level: int | None = number(None, whole=True, or_none=True)
    max_bytes: int | None = number(None, least=1, whole=True, or_none=True)
    threshold: Any = cut()
    n_jobs: int | None = threads()

    _calibrated = False
    _learns_silence = False

    def _check_combinations(self) -> None:
        least, most = COMPRESSORS[self.compressor].levels
        if not least <= self._level() <= most:
            raise InputError(
                f"got level={self.level} for {self.compressor}; give {least} to {most}, or None"
            )

    def _level(self) -> int:
        return COMPRESSORS[self.compressor].level if self.level is None else self.level

    def _check_X(self, X: Any, *, reset: bool, Y: Any = "no_validation") -> Array:
        if Y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed; got None")
        texts = as_texts(X)
        if reset:
            self.n_features_in_ = texts.shape[1]
        return texts

    def _without_features(self, X: Array) -> Array:
        return np.array([not text.strip() for text in X[:, 0]], bool)

    def _set_up(self, X: Array, Y: sp.csr_array) -> None:
        self._texts = [_NO_TEXT] * Y.shape[1]

    def _learn_more(self, X: Array, Y: sp.csr_array) -> None:
        """Put the documents behind the texts of their labels."""
        limit = COMPRESSORS[self.compressor].reach
        bounds = [self.max_bytes, None if limit is None else limit(self._level())]
        reach = min((bound for bound in bounds if bound is not None), default=None)
        columns, texts = relevant_part(Y).tocsc(), []
        for k, before in enumerate(self._texts):
            rows = np.sort(columns.indices[columns.indptr[k] : columns.indptr[k + 1]])
            text = before.tobytes() + b"".join(_encoded(text) for text in X[rows, 0])
            texts.append(np.frombuffer(text if reach is None else text[-reach:], np.uint8))
        self._texts = texts
        self._prime_all()

    def _widen(self, n_before: int) -> None:
        self._texts = [*self._texts, *[_NO_TEXT] * (self.n_labels_ - n_before)]

    def _prime_all(self) -> None:
        """One compressor for no text at all, then one per label."""
        prime, level = COMPRESSORS[self.compressor].primed, self._level()
        texts = [b"", *(text.tobytes() for text in self._texts)]
        self._compressors = run_jobs([partial(prime, text, level) for text in texts], self.n_jobs)

    def _scores(self, X: Array) -> Array:
        documents = [_encoded(text) for text in X[:, 0]]
        jobs = [partial(_sizes, one, documents) for one in self._compressors]
        sizes = np.array(run_jobs(jobs, self.n_jobs), np.float64).T
        alone, sizes = sizes[:, :1], sizes[:, 1:]
        return (alone - sizes) / np.maximum(alone, 1.0)

    def after_loading(self) -> None:
        sound = isinstance(self._texts, list) and len(self._texts) == self.n_labels_
        for text in self._texts if sound else ():
            sound &= isinstance(text, np.ndarray) and text.dtype == np.uint8 and text.ndim == 1
        if not sound:
            raise ValueError("there must be one text per label")
        self._prime_all()

    def __getstate__(self) -> dict[str, Any]:
        """Compressors are made anew from the texts: they cannot be copied to another process."""
        return {k: v for k, v in super().__getstate__().items() if k != "_compressors"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "_texts"):
            self._prime_all()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = False
        return tags


def as_texts(X: Any) -> Array:
    """Texts as a column (n × 1) of strings, so that rows can be picked as from any matrix."""
    if isinstance(X, str | bytes):
        raise InputError("got one string where a list of texts is wanted; wrap it in [ ]")
    items = X.ravel() if isinstance(X, np.ndarray) else listed(X, "a list of texts")
    texts = np.asarray(items, dtype=object)
    if texts.ndim != 1 or not all(isinstance(text, str) for text in texts):
        raise InputError("got features where texts are wanted; give a list of strings")
    return texts[:, None]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _sizes(primed: Primed, documents: Sequence[bytes]) -> list[int]:
    return [primed(document) for document in documents]


def compression_distances(
    texts: Sequence[str], compressor: str = "lzma", level: int | None = None
) -> Array:
    """How little texts help to compress each other (n × n), from about 0 (the same) to about 1.

    The normalised compression distance of Cilibrasi & Vitányi (2005), a variant of Benedetto's:

        (C(ab) - min(C(a), C(b))) / max(C(a), C(b)),   the mean of both orders,

    where C is the number of bytes after compression.

    >>> words = ["oil and coal " * 9, "coal and oil " * 9, "the cat sat on a mat " * 6]
    >>> D = compression_distances(words, "zlib")
    >>> bool(D[0, 1] < D[0, 2])
    True
    """
    if compressor not in COMPRESSORS:
        raise InputError(f"got compressor={compressor!r}; use one of {', '.join(COMPRESSORS)}")
    how = COMPRESSORS[compressor]
    effort = how.level if level is None else level

    def prime(text: bytes) -> Primed:
        return how.primed(text, effort)

    documents = [_encoded(text) for text in as_texts(texts)[:, 0]]
    alone = np.array(_sizes(prime(b""), documents), np.float64)
    added = np.array([_sizes(prime(text), documents) for text in documents], np.float64)
    joint = (alone[:, None] + added + (alone[:, None] + added).T) / 2
    distances = (joint - np.minimum.outer(alone, alone)) / np.maximum.outer(alone, alone)
    np.fill_diagonal(distances, 0.0)
    return np.maximum(distances, 0.0)


def compression_tree(texts: Sequence[str], compressor: str = "lzma") -> Array:
    """The tree of texts by average linkage, as `scipy.cluster.hierarchy` has it; draw it with
    its `dendrogram`.

    Row t merges two clusters into cluster n + t: their numbers, distance, and size.
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    return np.asarray(linkage(squareform(compression_distances(texts, compressor)), "average"))
