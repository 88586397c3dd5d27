"""EP-PLM: codes from the co-occurrence of labels, the embedding learned (Lauriola et al. 2018).

The matrix of co-occurrence counts is decomposed, YᵀY = U Λ Uᵀ, and the codes are the top s
eigenvectors, scaled:

    M = U_s Λ_s (code_scale="eigenvalue", the paper's),  U_s Λ_s^½ ("sqrt"),  U_s ("none")

One voted perceptron then learns W, with M fixed.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float64
from labelrank.declared import choice, stored
from labelrank.errors import InputError
from labelrank.learners.plm.embedding import EmbeddingRanker
from labelrank.learners.plm.label_codes import SCALES, LabelCodes


@stored("EmbeddingPCAPLM", 1)
@dataclass(kw_only=True, eq=False, repr=False)
class EmbeddingPCAPLM(EmbeddingRanker):
    """EP-PLM: codes from the co-occurrence of labels, and a voted perceptron for the embedding.

    In `partial_fit` each relevant label is one arc, in the given order. Its negative node is an
    irrelevant label of one of the 256 instances before (`arcs="any"`), or of the same one.

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
        Codes from other label data, such as `fit_codes` sets; None makes them from the Y of `fit`
        (of the first piece in a stream).
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

    code_scale: str = choice(*SCALES)
    codes: Any = None

    def fit_codes(self, Y: Any) -> Self:
        """Make the codes from label data alone: a matrix, or an iterable of matrices.

        Sets the parameter `codes`, so that clones keep them; learning starts with them at `fit`,
        or at the first `partial_fit`. Called again, it adds to the label data it has seen; any
        number of pieces give the codes of the whole.
        """
        self.check_parameters()
        maker = getattr(self, "_code_maker", None) or self._new_code_maker()
        self.codes = maker.partial_fit(Y).finish().codes_
        self._code_maker = maker
        return self

    def _new_code_maker(self) -> LabelCodes:
        return LabelCodes(self.n_components, scale=self.code_scale, n_jobs=self.n_jobs)

    def _check_values(self, X: Any, Y: sp.csr_array) -> None:
        if self.codes is None:
            return
        codes = self._given_codes()
        if codes.ndim != 2 or len(codes) != Y.shape[1] or not np.isfinite(codes).all():
            raise InputError(
                f"got codes of shape {codes.shape} for {Y.shape[1]} labels; "
                "give one row of finite numbers per label"
            )

    def _first_codes(self, Y: sp.csr_array) -> Array:
        self._code_maker = None
        if self.codes is None:
            return self._new_code_maker().fit(Y).codes_
        return self._given_codes()

    def _given_codes(self) -> Float64:
        try:
            return np.asarray(self.codes, np.float64)
        except (TypeError, ValueError) as error:
            what = type(self.codes).__name__
            raise InputError(f"got codes of type {what}; give a matrix of numbers") from error
