"""Documents to features: set of words, bag of words, TF-IDF, hashing, on scikit-learn's parts.

The `max_terms` terms in most *documents* are kept; scikit-learn ranks by total count, which
favours words repeated in a few long texts. Hashing learns nothing, so it suits streams.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer
from sklearn.utils import murmurhash3_32
from sklearn.utils.validation import check_is_fitted

from labelrank._estimators import BaseEstimator, TransformerMixin
from labelrank._types import Array
from labelrank.declared import anything, array, check_parameters, choice, flag, number, stored
from labelrank.errors import InputError
from labelrank.relevance import listed
from labelrank.rows import of_lengths

REPRESENTATIONS = ("tfidf", "bag", "set", "hashing")
HASHING_FEATURES = 2**18
MOST_IDF = 100.0  # 1 + the logarithm of any number of documents is less
WORDS = r"(?u)\b\w\w+\b"


@stored(
    "TextVectorizer", 1, terms_=anything(optional=True), idf_=array("f4", "terms", optional=True)
)
@dataclass(eq=False, repr=False)
class TextVectorizer(TransformerMixin, BaseEstimator):
    """Texts to a CSR matrix of float32 (documents × terms).

    Parameters
    ----------
    representation : {"tfidf", "bag", "set", "hashing"}
        TF-IDF weights; counts; 0/1 for presence; counts in hashed columns (for streams).
    max_terms : int or None
        Keep this many terms, those in most training documents (equal: alphabetically first).
        For "hashing" the number of columns, 2**18 by default.
    min_df, max_df : int or float
        Leave out terms in fewer / more documents (a float is a share of the documents).
    ngram_range, analyzer, lowercase, strip_accents, stop_words, token_pattern
        As in scikit-learn's CountVectorizer (`stop_words` may be a set, too).
    sublinear_tf : bool
        Use 1 + log(count) in place of the count.
    norm : {"auto", "l2", "l1", None}
        Length of each document's vector; "auto" is "l2" for "tfidf" and "hashing", else None.

    Attributes
    ----------
    terms_ : list of str, the term of each column; None for "hashing"
    idf_ : ndarray of inverse document frequencies; None but for "tfidf"
    counter_, weights_ : the fitted scikit-learn parts

    Examples
    --------
    >>> from labelrank.text import TextVectorizer
    >>> texts = ["wheat and grain", "grain exports", "grain grain rye"]
    >>> vectorizer = TextVectorizer("bag", max_terms=2).fit(texts)
    >>> vectorizer.get_feature_names_out().tolist()
    ['and', 'grain']
    >>> vectorizer.transform(["grain, grain and oil"]).toarray()
    array([[1., 2.]], dtype=float32)
    """

    representation: str = choice(*REPRESENTATIONS)
    _: KW_ONLY
    max_terms: int | None = number(None, least=1, whole=True, or_none=True)
    min_df: float = number(1, least=0)
    max_df: float = number(1.0, least=0)
    ngram_range: tuple[int, int] = (1, 1)
    analyzer: Any = "word"
    lowercase: bool = flag(True)
    strip_accents: Any = None
    stop_words: Any = None
    token_pattern: str | None = WORDS
    sublinear_tf: bool = flag(False)
    norm: str | None = choice("auto", "l2", "l1", None)

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn the terms and their weights; `y` is ignored."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None, **_: Any) -> sp.csr_array:
        """Learn from the texts and return their features, reading them once."""
        counted = self.count(texts)
        self.fit_counts(counted.frequencies())
        return self.weigh(counted)

    def count(self, texts: Iterable[str]) -> "Counted":
        """The texts by how often they have each of their own terms, before any is left out."""
        check_parameters(self)
        texts = check_texts(texts)
        counter = self._unfitted_counter()
        if self.representation == "hashing":
            empty = sp.csr_array((0, self.max_terms or HASHING_FEATURES), dtype=np.float32)
            return Counted(counter.transform(texts) if texts else empty, None)
        try:
            if not any(map(counter.build_analyzer(), texts)):
                return Counted(sp.csr_array((len(texts), 0), dtype=np.float32), [])
            counts = counter.set_params(min_df=1, max_df=1.0).fit_transform(texts)
        except ValueError as error:
            raise _no_features(len(texts), str(error)) from error
        counts.sort_indices()
        return Counted(counts, counter.get_feature_names_out().tolist())

    def fit_counts(self, counts: "TermCounts") -> Self:
        """Learn the terms and their weights from what was counted, in one piece or in many."""
        check_parameters(self)
        n = counts.n_documents
        if not n:
            raise InputError("got no text at all; give at least one text to learn from")
        terms, idf = None, None
        if self.representation != "hashing":
            terms, documents = self._kept(counts)
            if self.representation == "tfidf":  # in single precision, as scikit-learn has it
                idf = np.full(len(terms), n + 1, np.float32) / (documents.astype(np.float32) + 1)
                idf = np.log(idf) + np.float32(1.0)
        self._assemble(terms, idf)
        return self

    def weigh(self, counted: "Counted") -> sp.csr_array:
        """The features of texts that `count` has counted."""
        counts, terms = counted
        if terms is not None and terms != self.terms_:
            column = self.counter_.vocabulary_
            known = [k for k, term in enumerate(terms) if term in column]
            place = np.array([column[terms[k]] for k in known], np.int32)
            kept = sp.csr_array(counts[:, known])
            shape = (kept.shape[0], self.n_columns_)
            counts = sp.csr_array((kept.data, place[kept.indices], kept.indptr), shape=shape)
        if not counts.shape[0]:
            return sp.csr_array((0, self.n_columns_), dtype=np.float32)
        return self._weighted(counts)

    def transform(self, texts: Iterable[str]) -> sp.csr_array:
        """Features of the texts; terms not met in `fit` are left out."""
        check_is_fitted(self)
        texts = check_texts(texts)
        if not texts:
            return sp.csr_array((0, self.n_columns_), dtype=np.float32)
        return self._weighted(self.counter_.transform(texts))

    def overflowing(self, texts: Iterable[str], n_hashed: int) -> sp.csr_array:
        """Features of the texts, and `n_hashed` columns behind them for terms not met in `fit`.

        Such a term counts as one that was met in a single document; its column is its hash.
        """
        check_is_fitted(self)
        texts = check_texts(texts)
        empty = sp.csr_array((0, self.n_columns_), dtype=np.float32)
        known = self._weighted(self.counter_.transform(texts)) if texts else empty
        words, vocabulary = self.counter_.build_analyzer(), self.counter_.vocabulary_
        highest = 1.0 if self.idf_ is None else float(self.idf_.max())
        columns: list[Array] = [np.zeros(0, np.int32)]
        values: list[Array] = [np.zeros(0, np.float32)]
        for i, text in enumerate(texts):
            counts = Counter(words(text))
            row = slice(known.indptr[i], known.indptr[i + 1])
            scale = self._scale(counts, known.indices[row], known.data[row])
            hashed: dict[int, float] = {}
            for term in sorted(term for term in counts if term not in vocabulary):
                column = self.n_columns_ + murmurhash3_32(term, positive=True) % n_hashed
                hashed[column] = hashed.get(column, 0.0) + self._counted_as(counts[term]) * highest
            length = scale or math.sqrt(sum(value * value for value in hashed.values()))
            behind = sorted(hashed.items())
            columns += known.indices[row], np.array([k for k, _ in behind], np.int32)
            values += known.data[row], np.array([v / length for _, v in behind], np.float32)
        sizes = [len(one) + len(two) for one, two in zip(columns[1::2], columns[2::2], strict=True)]
        width = self.n_columns_ + n_hashed
        return of_lengths(sizes, np.concatenate(columns), np.concatenate(values), width)

    def _scale(self, counts: Mapping[str, int], columns: Any, values: Any) -> float:
        """What the weights of a text were divided by; 0 where it has none and they are scaled."""
        if self._unfitted_weights().norm is None:
            return 1.0
        if not len(columns):
            return 0.0
        term = (self.terms_ or [])[columns[0]]
        weight = 1.0 if self.idf_ is None else float(self.idf_[columns[0]])
        return self._counted_as(counts[term]) * weight / float(values[0])

    def _counted_as(self, count: int) -> float:
        count = min(count, 1) if self.representation == "set" else count
        return 1.0 + math.log(count) if self.sublinear_tf else float(count)

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[Any]:
        """The term of each column (`hash0`, `hash1`, ... for hashed ones)."""
        check_is_fitted(self)
        names = self.terms_ or [f"hash{j}" for j in range(self.n_columns_)]
        return np.array(names, dtype=object)

    @property
    def n_columns_(self) -> int:
        """How many features a document has."""
        return int(self.counter_.n_features) if self.terms_ is None else len(self.terms_)

    def after_loading(self) -> None:
        """Make the scikit-learn parts anew from the terms and their frequencies."""
        terms, idf = self.terms_, self.idf_
        if (terms is None) != (self.representation == "hashing"):
            raise ValueError("terms that do not fit the representation")
        if terms is not None:
            are_strings = isinstance(terms, list) and all(isinstance(term, str) for term in terms)
            if not are_strings or len(set(terms)) != len(terms):
                raise ValueError("terms that are no list of distinct strings")
        fits = idf is not None and len(idf) == len(terms or ()) and (np.abs(idf) <= MOST_IDF).all()
        if self.representation == "tfidf" and not fits:
            raise ValueError("document frequencies that do not fit the terms")
        try:
            check_parameters(self)
            self._assemble(terms, idf)
            self._weighted(self.counter_.transform(["rye"]))
        except (InputError, TypeError, AttributeError, re.error) as error:
            raise ValueError(str(error)) from error

    def _assemble(self, terms: list[str] | None, idf: Array | None) -> None:
        """Make the scikit-learn parts from the terms and their frequencies."""
        self.terms_, self.idf_ = terms, idf
        self.counter_, self.weights_ = self._unfitted_counter(), self._unfitted_weights()
        if terms is not None:
            self.counter_.vocabulary_ = {term: k for k, term in enumerate(terms)}
        if idf is not None:
            self.weights_.idf_ = idf
        self.weights_.n_features_in_ = self.n_columns_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    def _unfitted_counter(self) -> Any:
        as_given = ("ngram_range", "analyzer", "lowercase", "strip_accents", "token_pattern")
        shared = {name: getattr(self, name) for name in as_given} | {"dtype": np.float32}
        is_set = isinstance(self.stop_words, Set)
        shared["stop_words"] = sorted(self.stop_words) if is_set else self.stop_words
        if self.representation == "hashing":
            columns = self.max_terms or HASHING_FEATURES
            # Signs would cancel collisions but make counts negative: no logarithm, no naive Bayes.
            return HashingVectorizer(n_features=columns, norm=None, alternate_sign=False, **shared)
        return CountVectorizer(
            min_df=self.min_df, max_df=self.max_df, binary=self.representation == "set", **shared
        )

    def _unfitted_weights(self) -> TfidfTransformer:
        is_scaled = self.representation in ("tfidf", "hashing")
        return TfidfTransformer(
            norm=("l2" if is_scaled else None) if self.norm == "auto" else self.norm,
            use_idf=self.representation == "tfidf",
            sublinear_tf=self.sublinear_tf,
        )

    def _kept(self, counts: "TermCounts") -> tuple[list[str], Array]:
        """The terms that stay, in their order, and in how many documents they are."""
        n, terms = counts.n_documents, sorted(counts.frequencies)
        documents = np.array([counts.frequencies[term] for term in terms], np.int64)
        fewest, most = (_documents(self, name, n) for name in ("min_df", "max_df"))
        kept = np.flatnonzero((documents >= fewest) & (documents <= most))
        if not len(kept):
            pruned = f"none of {len(terms)} terms is in {fewest:g} to {most:g} of them"
            raise _no_features(n, pruned if terms else "they are empty, or stop words only")
        if self.max_terms is not None and self.max_terms < len(kept):
            often = np.argsort(-documents[kept], kind="stable")[: self.max_terms]
            kept = kept[np.sort(often)]
        return [terms[k] for k in kept], documents[kept]

    def _weighted(self, counts: Any) -> sp.csr_array:
        weighted = sp.csr_array(self.weights_.transform(counts, copy=False))
        weighted.sort_indices()
        return weighted


@dataclass(frozen=True)
class TermCounts:
    """In how many of so many documents each term is; those of pieces add up to the whole's."""

    n_documents: int
    frequencies: Mapping[str, int]

    def __add__(self, other: "TermCounts") -> "TermCounts":
        both = Counter(self.frequencies)
        both.update(other.frequencies)
        return TermCounts(self.n_documents + other.n_documents, both)


class Counted(NamedTuple):
    """Documents by how often they have each of `terms`, which are sorted; None: hashed columns."""

    counts: sp.csr_array
    terms: list[str] | None

    def frequencies(self) -> TermCounts:
        """In how many of these documents each term is."""
        n, width = self.counts.shape
        if self.terms is None:
            return TermCounts(n, {})
        found = np.bincount(self.counts.indices, minlength=width).tolist()
        return TermCounts(n, dict(zip(self.terms, found, strict=True)))


def _documents(vectorizer: TextVectorizer, name: str, n: int) -> float:
    """A bound of documents, which may be written as a share of them."""
    bound = getattr(vectorizer, name)
    if isinstance(bound, Integral):
        return float(bound)
    if bound > 1:
        raise InputError(f"got {name}={bound:g}; give a whole number, or a share up to 1.0")
    return float(bound * n)


def _no_features(n: int, reason: str) -> InputError:
    return InputError(
        f"{n} text(s) give no features ({reason}); "
        "give more text, or change min_df, max_df, stop_words, token_pattern"
    )


@stored("TextColumn", 1)
class TextColumn(TransformerMixin, BaseEstimator):
    """Texts as they are, in one column, for learners that read texts themselves."""

    representation = "text"

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn nothing."""
        return self

    def transform(self, texts: Iterable[str]) -> Array:
        """A column (n × 1) of strings."""
        return np.array(check_texts(texts), dtype=object).reshape(-1, 1)

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """The name of the one column."""
        return np.array(["text"], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def make_vectorizer(
    representation: str = "tfidf", *, max_terms: int | None = None, **options: Any
) -> TextVectorizer:
    """A text vectoriser by the name of its representation; `options` as in `TextVectorizer`."""
    vectorizer = TextVectorizer(representation, max_terms=max_terms, **options)
    check_parameters(vectorizer)
    return vectorizer


def check_texts(texts: Iterable[str]) -> list[str]:
    """The texts as a list, or an InputError naming the first thing that is no text."""
    if isinstance(texts, str | bytes):
        raise InputError("got one string where a list of texts is wanted; wrap it in [ ]")
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        raise InputError("got a table where a list of texts is wanted; give one of its columns")
    texts = listed(texts, "a list of texts")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"got {type(text).__name__} as text number {i}; give strings (decode bytes first)"
            )
    return texts
