"""Preference learning with embeddings and label codes: EC-PLM and EP-PLM (Lauriola et al., 001).

A label is scored by <W x, M_r>: the embedding of the instance against the code of the label.
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.declared import check_choice
from labelrank.errors import InputError
from labelrank.kernels.embedding import TIME, learn_codes
from labelrank.kernels.random import fill_normal
from labelrank.learners.plm.averaged_matrix import Averaged
from labelrank.learners.plm.embedding import EmbeddingRanker
from labelrank.learners.plm.label_codes import SCALES, LabelCodes
from labelrank.learners.plm.sampling import Arcs
from labelrank.rows import Rows


class EmbeddingPCAPLM(EmbeddingRanker):
    """EP-PLM: codes from the co-occurrence of labels, and a voted perceptron for the embedding.

    Parameters
    ----------
    n_components : int, default 50
        Dimension s of embedding and codes, at most the number of labels.
    epochs, preferences_per_epoch : int, default 100 and 2000
        `fit` draws that many arcs, from a relevant label of an instance to an irrelevant one.
    arcs : {"any", "instance"}
        Whether the two nodes of an arc may belong to different instances.
    code_scale : {"eigenvalue", "sqrt", "none", "balanced"}
        See `LabelCodes`; "eigenvalue" is the paper's, the others rank better.
    codes : array (K, s) or None
        Codes made elsewhere; None makes them from `fit_codes`, else from the Y of `fit` (of the
        first piece in a stream).
    update : {"perceptron", "adagrad"}
        The paper's voted perceptron; or, for each drawn instance, all its relevant labels against
        hard negatives with margin 1, AdaGrad steps and averaging: better, and faster.
    negatives : int, default 8
        "adagrad": the best-scored of so many random irrelevant labels is the negative node.
    learning_rate : float, default 0.1
        Of "adagrad".
    threshold : "cardinality" or float
        How `predict` cuts the ranking: as many labels as an instance had on average, or at a score.
    n_jobs : int or None
        Threads for codes and predictions; never changes the result.
    random_state : int, RandomState or None
    verbose : int, default 0

    Attributes
    ----------
    embedding_ : ndarray (s, d)
    codes_ : ndarray (K, s)
        `decision_function(X)` is `X @ embedding_.T @ codes_.T`.
    n_violated_ : int
        Arcs that led to an update.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import EmbeddingPCAPLM
    >>> X = np.eye(3)
    >>> Y = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    >>> learner = EmbeddingPCAPLM(n_components=3, epochs=2, random_state=0).fit(X, Y)
    >>> sorted(learner.rank(X, top=2)[0].tolist())
    [0, 1]
    """

    def __init__(
        self,
        n_components: int = 50,
        *,
        epochs: int = 100,
        preferences_per_epoch: int = 2000,
        arcs: str = "any",
        code_scale: str = "eigenvalue",
        codes: Any = None,
        update: str = "perceptron",
        negatives: int = 8,
        learning_rate: float = 0.1,
        threshold: Any = "cardinality",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.epochs = epochs
        self.preferences_per_epoch = preferences_per_epoch
        self.arcs = arcs
        self.code_scale = code_scale
        self.codes = codes
        self.update = update
        self.negatives = negatives
        self.learning_rate = learning_rate
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("code_scale", self.code_scale, SCALES)

    def fit_codes(self, Y: Any) -> Self:
        """Make the codes from label data alone: a matrix, or an iterable of matrices.

        Called again before training it adds to what it has seen; any number of pieces give the
        codes of the whole. `fit` and `partial_fit` then keep these codes.
        """
        self._check()
        if not hasattr(self, "_label_codes"):
            self.__dict__.pop("_W", None)
            self._label_codes = LabelCodes(
                self.n_components, scale=self.code_scale, n_jobs=self.n_jobs
            )
        self._given_codes = self._label_codes.partial_fit(Y).finish().codes_
        self._M = Averaged.of(self._given_codes)
        return self

    def _first_codes(self, Y: sp.csr_array) -> Array:
        self.__dict__.pop("_label_codes", None)
        found = getattr(self, "_given_codes", self.codes)
        if found is None:
            maker = LabelCodes(self.n_components, scale=self.code_scale, n_jobs=self.n_jobs)
            return maker.fit(Y).codes_
        found = np.asarray(found, np.float64)
        if found.ndim != 2 or len(found) != self.n_labels_ or not np.isfinite(found).all():
            raise InputError(
                f"got codes of shape {found.shape} for {self.n_labels_} labels; "
                "give one row of finite numbers a label"
            )
        return found


class EmbeddingCodingPLM(EmbeddingRanker):
    """EC-PLM: voted perceptrons learn the embedding and the codes of the labels in turns.

    After each turn the matrix is divided by its Frobenius norm; each turn takes the mean that the
    other has reached, divided by its own. In the end scores are divided by the norms of the two
    means, so that those of several models can be averaged.

    Parameters
    ----------
    n_components : int, default 50
    init : {"random", "pca"}
        First codes: normal numbers, or the rows of the co-occurrence eigenvectors at length 1.
    update : {"perceptron", "adagrad"}
        The paper's turns; or all relevant labels of an instance against hard negatives, embedding
        and codes moving together, with AdaGrad steps and averaging: better, and faster.
    epochs, preferences_per_epoch, arcs, negatives, learning_rate, threshold, n_jobs
        As in `EmbeddingPCAPLM`; an epoch of "perceptron" is one turn for each of the two.
    random_state, verbose
        As in `EmbeddingPCAPLM`.

    Attributes
    ----------
    embedding_ : ndarray (s, d)
    codes_ : ndarray (K, s)
        `decision_function(X)` is `X @ embedding_.T @ codes_.T`.
    n_violated_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import EmbeddingCodingPLM
    >>> X = np.eye(3)
    >>> Y = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    >>> learner = EmbeddingCodingPLM(n_components=8, epochs=5, random_state=0).fit(X, Y)
    >>> sorted(learner.rank(X, top=2)[0].tolist())
    [0, 1]
    """

    _codes_learn = True

    def __init__(
        self,
        n_components: int = 50,
        *,
        epochs: int = 100,
        preferences_per_epoch: int = 2000,
        arcs: str = "any",
        init: str = "random",
        update: str = "perceptron",
        negatives: int = 8,
        learning_rate: float = 0.1,
        threshold: Any = "cardinality",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.epochs = epochs
        self.preferences_per_epoch = preferences_per_epoch
        self.arcs = arcs
        self.init = init
        self.update = update
        self.negatives = negatives
        self.learning_rate = learning_rate
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("init", self.init, ("random", "pca"))

    def _start(self, n_features: int, Y: sp.csr_array) -> None:
        super()._start(n_features, Y)
        self._W_norm = self._M_norm = 1.0

    def _steps(self) -> int:
        return 2 * self.epochs if self.update == "perceptron" else self.epochs

    def _first_codes(self, Y: sp.csr_array) -> Array:
        if self.init == "random":
            return self._random_codes(0)
        codes = LabelCodes(self.n_components, scale="none", n_jobs=self.n_jobs).fit(Y).codes_
        length = np.linalg.norm(codes, axis=1, keepdims=True)
        return codes / np.maximum(length, np.sqrt(1e-3 / len(codes)))

    def _random_codes(self, first: int) -> Array:
        """Normal numbers that depend on label and column alone, of about unit Frobenius norm."""
        codes = np.empty((self.n_labels_, self.n_components), np.float32)
        like = max(first, self.n_labels_ - first)
        scale = 1.0 / np.sqrt(self.n_components * like)
        fill_normal(codes, 0, self.n_components, 0, scale, self._seed)
        return codes[first:]

    def _widen(self, n_before: int) -> None:
        if self.init != "random":
            super()._widen(n_before)
        self._M = self._M.widened(self._random_codes(n_before))
        self._M_squares = np.concatenate([self._M_squares, np.zeros(self.n_labels_ - n_before)])
        self._code_table = _of_norm_one(self._M.mean())
        self._before = None

    def _step(self, X: Rows, arcs: Arcs, number: int) -> int:
        if number % 2 == 0:
            return super()._step(X, arcs, number)
        # A mean is the sum over so many arcs: to count more of them is to divide it by its norm.
        state = self._W.state.copy()
        state[TIME] *= self._W_norm
        return learn_codes(*X[:3], arcs, *self._W[:3], state, *self._M)

    def _close(self, number: int) -> None:
        """Divide what has learned by its Frobenius norm.

        Its mean over unfinished turns is longer than that, the more so with long documents; handed
        on undivided, the two matrices would drive each other up without bound.
        """
        if number % 2 == 0:
            self._W.normalize()
            self._W_norm = float(np.linalg.norm(self._W.mean())) or 1.0
        else:
            self._M.normalize()
            codes = self._M.mean()
            self._M_norm = float(np.linalg.norm(codes)) or 1.0
            self._code_table = _of_norm_one(codes)

    def _factor(self) -> np.float32:
        """Over the norms of the two means, as they were when their last turns ended."""
        return np.float32(1.0 / (self._W_norm * self._M_norm))


def _of_norm_one(codes: Array) -> npt.NDArray[np.float32]:
    return np.asarray(codes / (np.linalg.norm(codes) or 1.0), np.float32)
