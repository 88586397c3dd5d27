"""Documents to features: set of words, bag of words, TF-IDF, hashing.

A thin layer on scikit-learn's vectorisers. What it adds: the `max_terms` terms found in most
*documents* are kept (scikit-learn ranks by total count, which favours words repeated in a few
long texts), features are float32, and one class serves all representations. Terms and their
weights come from the training documents only. Hashing learns nothing at all, so every piece of
a stream is treated alike: it has no inverse document frequencies.
"""

from collections.abc import Iterable, Set
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer
from sklearn.utils.validation import check_is_fitted

from labelrank.errors import InputError

REPRESENTATIONS = ("tfidf", "bag", "set", "hashing")
HASHING_FEATURES = 2**18
WORDS = r"(?u)\b\w\w+\b"


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

    def __init__(
        self,
        representation: str = "tfidf",
        *,
        max_terms: int | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str = "word",
        lowercase: bool = True,
        strip_accents: str | None = None,
        stop_words: Any = None,
        token_pattern: str = WORDS,
        sublinear_tf: bool = False,
        norm: str | None = "auto",
    ) -> None:
        self.representation = representation
        self.max_terms = max_terms
        self.min_df = min_df
        self.max_df = max_df
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.sublinear_tf = sublinear_tf
        self.norm = norm

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn the terms and their weights; `y` is ignored."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None, **_: object) -> sp.csr_array:
        """Learn from the texts and return their features, reading them once."""
        self._check_parameters()
        found = check_texts(texts)
        if not found:
            raise InputError("got no text at all; give at least one text to learn from")
        counts = self._fit_counts(found)
        self.weights_ = TfidfTransformer(
            norm=self._norm(),
            use_idf=self.representation == "tfidf",
            sublinear_tf=self.sublinear_tf,
        ).fit(counts)
        return self._weighted(counts)

    def transform(self, texts: Iterable[str]) -> sp.csr_array:
        """Features of the texts; terms not met in `fit` are left out."""
        check_is_fitted(self)
        found = check_texts(texts)
        if not found:
            return sp.csr_array((0, self._n_columns()), dtype=np.float32)
        return self._weighted(self.counter_.transform(found))

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[Any]:
        """The term of each column (`hash0`, `hash1`, ... for hashed ones)."""
        check_is_fitted(self)
        if self.representation == "hashing":
            return np.array([f"hash{j}" for j in range(self._n_columns())], dtype=object)
        return self.counter_.get_feature_names_out()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    def _fit_counts(self, texts: list[str]) -> Any:
        stop_words = self.stop_words
        shared = {
            "ngram_range": self.ngram_range,
            "analyzer": self.analyzer,
            "lowercase": self.lowercase,
            "strip_accents": self.strip_accents,
            "stop_words": sorted(stop_words) if isinstance(stop_words, Set) else stop_words,
            "token_pattern": self.token_pattern,
            "dtype": np.float32,
        }
        if self.representation == "hashing":
            columns = self.max_terms or HASHING_FEATURES
            # Signs would cancel collisions but make counts negative: no logarithm, no naive Bayes.
            self.counter_ = HashingVectorizer(
                n_features=columns, norm=None, alternate_sign=False, **shared
            )
            return self.counter_.transform(texts)
        self.counter_ = CountVectorizer(
            min_df=self.min_df, max_df=self.max_df, binary=self.representation == "set", **shared
        )
        try:
            counts = self.counter_.fit_transform(texts)
        except ValueError as error:
            raise InputError(
                f"{len(texts)} text(s) give no features ({error}); "
                "give more text, or change min_df, max_df, stop_words, token_pattern"
            ) from error
        return self._keep_most_documents(counts)

    def _keep_most_documents(self, counts: Any) -> Any:
        """Keep the columns of the terms in most documents, in alphabetical order."""
        n_terms = counts.shape[1]
        if self.max_terms is None or self.max_terms >= n_terms:
            return counts
        documents = np.bincount(counts.indices, minlength=n_terms)
        kept = np.sort(np.argsort(-documents, kind="stable")[: self.max_terms])
        terms = self.counter_.get_feature_names_out()[kept]
        self.counter_.vocabulary_ = {term: k for k, term in enumerate(terms.tolist())}
        return counts[:, kept]

    def _n_columns(self) -> int:
        is_hashed = self.representation == "hashing"
        return int(self.counter_.n_features) if is_hashed else len(self.counter_.vocabulary_)

    def _weighted(self, counts: Any) -> sp.csr_array:
        weighted = sp.csr_array(self.weights_.transform(counts, copy=False))
        weighted.sort_indices()
        return weighted

    def _norm(self) -> str | None:
        if self.norm == "auto":
            return "l2" if self.representation in ("tfidf", "hashing") else None
        return self.norm

    def _check_parameters(self) -> None:
        if self.representation not in REPRESENTATIONS:
            raise InputError(
                f"got representation={self.representation!r}; use one of {list(REPRESENTATIONS)}"
            )
        if self.max_terms is not None and self.max_terms < 1:
            raise InputError(f"got max_terms={self.max_terms}; give at least 1, or None for all")
        if self.norm not in ("auto", "l2", "l1", None):
            raise InputError(f"got norm={self.norm!r}; use 'auto', 'l2', 'l1' or None")


class TextColumn(TransformerMixin, BaseEstimator):
    """Texts as they are, in one column, for learners that read texts themselves.

    >>> TextColumn().fit_transform(["rye", "oats"]).tolist()
    [['rye'], ['oats']]
    """

    representation = "text"

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn nothing."""
        return self

    def transform(self, texts: Iterable[str]) -> npt.NDArray[Any]:
        """A column (n × 1) of strings."""
        return np.array(check_texts(texts), dtype=object).reshape(-1, 1)

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[Any]:
        """The name of the one column."""
        return np.array(["text"], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def make_vectorizer(
    representation: str = "tfidf", *, max_terms: int | None = None, **options: Any
) -> TextVectorizer:
    """A text vectoriser by the name of its representation; `options` as in `TextVectorizer`.

    >>> make_vectorizer("set").fit_transform(["rye rye", "oats"]).toarray()
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    vectorizer = TextVectorizer(representation, max_terms=max_terms, **options)
    vectorizer._check_parameters()
    return vectorizer


def check_texts(texts: Iterable[str]) -> list[str]:
    """The texts as a list, or an InputError naming the first thing that is no text."""
    if isinstance(texts, str | bytes):
        raise InputError("got one string where a list of texts is wanted; wrap it in [ ]")
    found = list(texts)
    for i, text in enumerate(found):
        if not isinstance(text, str):
            raise InputError(
                f"got {type(text).__name__} as text number {i}; give strings (decode bytes first)"
            )
    return found
