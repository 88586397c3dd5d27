"""EC-PLM: embedding and codes learned in turns (Lauriola et al. 2018, Algorithm 1).

    W <- voted perceptron over arcs with M fixed: W += M_j x_i' - M_q x_k',  then W <- W / |W|
    M <- voted perceptron over arcs with W fixed: M_j += W x_i,  M_q -= W x_k,  then M <- M / |M|

The norm is that of Frobenius. (The paper prints the sum of the entries, and says Frobenius.)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank import declared
from labelrank._types import Array, Float32
from labelrank.declared import choice, stored
from labelrank.kernels.embedding import TIME, learn_codes
from labelrank.kernels.random import fill_normal
from labelrank.learners.plm.embedding import Arcs, EmbeddingRanker
from labelrank.learners.plm.ep_plm import LabelCodes
from labelrank.rows import Rows


@stored(
    "EmbeddingCodingPLM",
    embedding_norm=declared.value(float, attribute="_W_norm"),
    codes_norm=declared.value(float, attribute="_M_norm"),
)
@dataclass(kw_only=True, eq=False, repr=False)
class EmbeddingCodingPLM(EmbeddingRanker):
    """EC-PLM: voted perceptrons learn the embedding and the codes of the labels in turns.

    Each turn takes the mean that the other has reached, divided by its norm. Scores are divided by
    the norms of the two means, so that those of several models can be averaged.

    Parameters
    ----------
    n_components : int, default 50
    init : {"random", "pca"}
        First codes: normal numbers, or the rows of the co-occurrence eigenvectors at length 1.
    update, epochs, preferences_per_epoch, arcs, negatives, learning_rate, threshold, n_jobs
        As in `EmbeddingPCAPLM`; an epoch of "perceptron" is one turn for each of the two, and
        "adagrad" moves them together.
    random_state, verbose

    Attributes
    ----------
    embedding_, codes_, n_violated_ : as in `EmbeddingPCAPLM`

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import EmbeddingCodingPLM
    >>> learner = EmbeddingCodingPLM(n_components=8, epochs=5, random_state=0)
    >>> learner.fit(np.eye(3), np.eye(3)).rank(np.eye(3), top=1)[:, 0].tolist()
    [0, 1, 2]
    """

    init: str = choice("random", "pca")
    _codes_learn = True

    def _set_up(self, X: Any, Y: sp.csr_array) -> None:
        super()._set_up(X, Y)
        self._W_norm = self._M_norm = 1.0

    def _first_codes(self, Y: sp.csr_array) -> Array:
        if self.init == "random":
            return self._random_codes(0)
        codes = LabelCodes(self.n_components, scale="none", n_jobs=self.n_jobs).fit(Y).codes_
        length = np.linalg.norm(codes, axis=1, keepdims=True)
        return codes / np.maximum(length, np.sqrt(1e-3 / len(codes)))

    def _random_codes(self, first: int) -> Array:
        """Normal numbers by label and column alone, of about unit Frobenius norm."""
        codes = np.empty((self.n_labels_, self.n_components), np.float32)
        scale = 1.0 / np.sqrt(self.n_components * max(first, self.n_labels_ - first))
        fill_normal(codes, 0, self.n_components, 0, scale, self._seed)
        return codes[first:]

    def _widen(self, n_before: int) -> None:
        if self.init != "random":
            super()._widen(n_before)
        self._M = self._M.widened(self._random_codes(n_before))
        self._fixed_codes = _of_norm_one(self._M.mean())
        self._forget_window(self.n_features_in_)

    def _learn_turn(self, X: Rows, arcs: Arcs, turn: int) -> int:
        if turn % 2 == 0:
            return super()._learn_turn(X, arcs, turn)
        # A mean is the sum over so many arcs: to count more of them is to divide it by its norm.
        state = self._W.state.copy()
        state[TIME] *= self._W_norm
        return int(learn_codes(X, arcs, self._W._replace(state=state), self._M))

    def _end_turn(self, turn: int) -> None:
        # A mean over unfinished turns is longer than 1, the more so with long documents: handed on
        # undivided, the two matrices would drive each other up without bound.
        if turn % 2 == 0:
            self._W.normalize()
            self._W_norm = float(np.linalg.norm(self._W.mean())) or 1.0
        else:
            self._M.normalize()
            codes = self._M.mean()
            self._M_norm = float(np.linalg.norm(codes)) or 1.0
            self._fixed_codes = _of_norm_one(codes)

    def _scale(self) -> np.float32:
        return np.float32(1.0 / (self._W_norm * self._M_norm))

    def after_loading(self) -> None:
        super().after_loading()
        if not self._W_norm * self._M_norm > 0.0:
            raise ValueError("norms must be above 0")
        if self.init == "random" and self.n_components != self._fixed_codes.shape[1]:
            raise ValueError("the codes do not have n_components columns")


def _of_norm_one(codes: Float32) -> Float32:
    return np.asarray(codes / (np.linalg.norm(codes) or 1.0), np.float32)
