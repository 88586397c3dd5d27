"""Naive Bayes for all labels in one sparse product (McCallum & Nigam 1998).

log p(label | x) = log p(label) + Σ_j x_j log p(word j | label) + constant; the Bernoulli model also
counts the words that are absent.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_softmax, softmax
from sklearn.utils import Tags

from labelrank._types import Array
from labelrank.declared import choice, cut, flag, nested, number, stored
from labelrank.errors import InputError
from labelrank.learners.base import IncrementalRanker
from labelrank.learners.label_sums import LabelSums

# A label without documents, or a probability of 0, is as unlikely as this.
_LEAST = 1e-10


class Model(NamedTuple):
    """Log likelihood, or its difference to that without the label: X @ `weights` + `offset`."""

    weights: Array
    offset: Array
    length: Array  # model of the length of documents with the label, and without; empty if unused
    other_length: Array


@stored(
    "NaiveBayesRanker",
    sums=nested("LabelSums", attribute="_sums"),
    lengths=nested("LabelSums", attribute="_lengths"),
)
@dataclass(eq=False, repr=False)
class NaiveBayesRanker(IncrementalRanker):
    """Rank labels by their posterior probability under the naive assumption.

    A document counts for each of its labels. All labels are learned in one pass, and scored by one
    product of sparse documents with dense log probabilities.

    Parameters
    ----------
    event_model : {"multinomial", "bernoulli", "multinomial_length"}
        A document is drawn word by word from the bag of its label; or each word of the vocabulary
        is in it or not; or words are drawn after its length was (log-normal, of each label). Counts
        need not be whole: TF-IDF weights will do.
    alpha : float, default 1.0
        Added to every count (1 is Laplace's correction).
    scores : {"posterior", "log_odds"}
        "posterior": log p(label | document) among all labels, one model per label; a ranking
        without a threshold of its own. "log_odds": the label against all other documents, with a
        second model for these; calibrated at 0, one binary naive Bayes per label.
    fit_prior : bool, default True
        Weigh labels by how often they occur.
    threshold : float or "cardinality"
        For posteriors; log odds are cut at 0.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import NaiveBayesRanker
    >>> counts = np.array([[3, 0, 1], [2, 0, 0], [0, 2, 2], [0, 4, 0]])
    >>> learner = NaiveBayesRanker().fit(counts, [[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> learner.rank([[1, 0, 1], [0, 1, 1]]).tolist()
    [[0, 1], [1, 0]]
    """

    event_model: str = choice("multinomial", "bernoulli", "multinomial_length")
    _: KW_ONLY
    alpha: float = number(1.0, least=0)
    scores: str = choice("posterior", "log_odds")
    fit_prior: bool = flag(True)
    threshold: Any = cut()

    @property
    def _calibrated(self) -> bool:  # type: ignore[override]
        return self.scores == "log_odds"

    def _check_values(self, X: Any, Y: sp.csr_array) -> None:
        _check_counts(X)

    def _set_up(self, X: Any, Y: sp.csr_array) -> None:
        self._sums, self._lengths = self.no_sums(Y.shape[1], X.shape[1])

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        self.take_sums(self.add_to((self._sums, self._lengths), X, Y))

    def no_sums(self, n_labels: int, n_features: int) -> tuple[LabelSums, ...]:
        """The sums of no document: of words, and of lengths."""
        return LabelSums.empty(n_labels, n_features), LabelSums.empty(n_labels, 2)

    def add_to(self, sums: tuple[LabelSums, ...], X: Any, Y: sp.csr_array) -> tuple[LabelSums, ...]:
        """The sums with more documents in them."""
        words, lengths = sums
        X = self._counts(X)
        words = words.add(X, Y)
        if self.event_model == "multinomial_length":
            log_length = np.log1p(X.sum(axis=1))
            lengths = lengths.add(np.column_stack([log_length, log_length**2]), Y)
        return words, lengths

    def take_sums(self, sums: tuple[LabelSums, ...]) -> None:
        """Learn from the sums of all documents."""
        self._sums, self._lengths = sums
        self._model = self._made()

    def _widen(self, n_before: int) -> None:
        self._sums = self._sums.widened(self.n_labels_)
        self._lengths = self._lengths.widened(self.n_labels_)

    def after_loading(self) -> None:
        widths = self._sums.relevant.shape[1], self._lengths.relevant.shape[1]
        if widths != (self.n_features_in_, 2):
            raise ValueError("the sums do not fit the features")
        self._model = self._made()

    def _counts(self, X: Any) -> sp.csr_array:
        X = sp.csr_array(X, dtype=np.float64, copy=True)
        if self.event_model == "bernoulli":
            X.data = np.float64(X.data > 0)
            X.eliminate_zeros()
        return X

    def _made(self) -> Model:
        """The model of each label; with log odds, less that of its absence."""
        sums = self._sums
        n_known = sums.n_total - sums.n_unknown
        if self.scores == "log_odds":
            prior = _log(sums.n_relevant) - _log(n_known)
        else:  # drawn among all labels, each as often as among the documents that know it
            often = sums.n_relevant / np.maximum(n_known, 1.0)
            prior = _log(often) - _log(often.sum())
        weights, offset = self._log_weights(sums.relevant, sums.n_relevant, prior)
        length = other = np.zeros((3, 0))
        if self.scores == "log_odds":
            without, n_without = sums.irrelevant()
            prior = _log(n_without) - _log(n_known)
            other_weights, other_offset = self._log_weights(without, n_without, prior)
            weights -= other_weights
            offset -= other_offset
        if self.event_model == "multinomial_length":
            length = self._length_model(self._lengths.relevant, sums.n_relevant)
            if self.scores == "log_odds":
                other = self._length_model(*self._lengths.irrelevant())
        return Model(np.ascontiguousarray(weights.T), offset, length, other)

    def _log_weights(self, sums: Array, n: Array, prior: Array) -> tuple[Array, Array]:
        """Weights (K × d) and offsets (K,) of the log likelihood and prior."""
        alpha = max(self.alpha, _LEAST)
        counts = np.maximum(sums, 0.0)  # a difference of sums may fall below 0 by rounding
        counts += alpha
        prior = prior if self.fit_prior else np.zeros(len(n))
        if self.event_model == "bernoulli":
            absent = np.log((n + 2 * alpha)[:, None] - counts)
            offset = prior + (absent - np.log(n + 2 * alpha)[:, None]).sum(axis=1)
            return np.log(counts) - absent, offset
        totals = np.log(counts.sum(axis=1))[:, None]
        weights = np.log(counts, out=counts)
        weights -= totals
        return weights, prior

    def _length_model(self, lengths: Array, n: Array) -> Array:
        """Mean, variance and its logarithm of log(1 + length), by label; shrunk to those of all."""
        everything = self._lengths.total[0] / max(self._lengths.n_total[0], 1.0)
        shrink = max(self.alpha, _LEAST)
        mean, square = ((lengths + shrink * everything) / (n + shrink)[:, None]).T
        variance = np.maximum(square - mean**2, 1e-4)
        return np.array([mean, variance, np.log(variance)])

    def _scores(self, X: Any) -> Array:
        _check_counts(X)
        X, model = self._counts(X), self._model
        likelihood = np.asarray(X @ model.weights)
        likelihood += model.offset
        for (mean, variance, log_variance), sign in ((model.length, -1), (model.other_length, 1)):
            if len(mean):
                log_length = np.log1p(X.sum(axis=1))[:, None]
                likelihood += sign * ((log_length - mean) ** 2 / (2 * variance) + log_variance / 2)
        return likelihood if self.scores == "log_odds" else log_softmax(likelihood, axis=1)

    def sanitised(self, X: Any) -> Array:
        """1 / (1 + exp(-LR)) with LR = p / (1 - p), as the lecture prints it, of the posteriors p.

        It is from 1/2 to 1 in the order of p; from p = .974 on all values round to 1.
        """
        p = np.clip(self.predict_proba(X), 0.0, 1.0 - np.finfo(float).eps)
        return np.asarray(expit(p / (1.0 - p)))

    def link(self, scores: Array) -> Array:
        """Posterior probabilities: they sum to 1, unless by the log odds of several labels."""
        if self.scores == "log_odds" and not self.target_.one_class:
            return expit(scores)
        return softmax(scores, axis=1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # on data that are no counts
        return tags


def _check_counts(X: Any) -> None:
    if (X.data if sp.issparse(X) else X).min(initial=0.0) < 0:
        what = "Negative values in data passed to NaiveBayesRanker, which counts words"
        raise InputError(f"{what}; give counts, TF-IDF weights or 0/1")


def _log(counts: Array) -> Array:
    return np.log(np.maximum(counts, _LEAST))
