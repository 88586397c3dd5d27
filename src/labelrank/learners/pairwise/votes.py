"""From duels to scores: votes, weighted votes, pairwise coupling, the hardest rival.

A matrix of margins or of probabilities has K' labels a side, the threshold label, if there is one,
last. All functions work on many instances at once.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import expit

from labelrank._types import Array
from labelrank.learners.pairwise.coupling import COUPLINGS

VOTINGS = ("votes", "weighted", "coupling")
TIE_BREAKS = (None, "margin")
# Chosen by cross-validation on the training documents of Reuters-21578; see experiments/text.py.
RIVAL_WEIGHT, UNOPPOSED = 0.1, 0.5
_NUMBERS_AT_ONCE = 1 << 22
_LEAST = 1e-300


def break_ties(votes: Array, sums: Array) -> Array:
    """Votes plus a fraction that orders equal votes by summed margins.

    The fraction lies between 0.01 and 0.99, so unequal votes keep their order; it grows like a
    logarithm, so that margins of any size stay apart.

    >>> break_ties(np.array([2.0, 2.0, 3.0]), np.array([5.0, -1.0, -1e9])).argsort()
    array([1, 0, 2])
    """
    size = np.log1p(np.abs(sums))
    return votes + 0.5 + 0.49 * np.copysign(size / (1.0 + size), sums)


def count_votes(probabilities: Array) -> Array:
    """Won duels of P(u beats v); one half is decided for the smaller index."""
    wins = probabilities > 0.5
    upper = np.triu(np.ones(probabilities.shape[1:], bool), 1)
    wins |= (probabilities == 0.5) & upper
    diagonal = np.arange(probabilities.shape[1])
    wins[:, diagonal, diagonal] = False
    return wins.sum(axis=2).astype(np.float64)


def soft_scores(probabilities: Array, voting: str, coupling: str) -> Array:
    """Weighted votes, or logarithms of coupled probabilities, of P(u beats v).

    Differences of logarithms are log-odds: less that of the threshold label they order labels
    across instances too.
    """
    if voting == "coupling":
        return np.log(np.maximum(COUPLINGS[coupling](probabilities), _LEAST))
    diagonal = np.arange(probabilities.shape[1])
    share = probabilities.astype(np.float64)
    share[:, diagonal, diagonal] = 0.0
    return share.sum(axis=2)


def soft_votes(margins: Array, voting: str, coupling: str) -> Array:
    """As `soft_scores`, by the logistic squashing of margins."""
    return soft_scores(expit(margins.astype(np.float64)), voting, coupling)


def rival_scores(margins: Array) -> Array:
    """Margin over Θ, and a share of the hardest duel with a label that beats Θ too.

    Duels with labels that nobody thinks relevant were never trained on such an instance; here
    they have no say. A label without a rival has won that duel by `UNOPPOSED`. Unlike votes the
    scores are not whole numbers, so they also order instances. The last column, of Θ, is 0.

    >>> rival_scores(np.array([[[0.0, -0.4, 1.0], [0.4, 0.0, 0.2], [-1.0, -0.2, 0.0]]])).round(2)
    array([[0.96, 0.24, 0.  ]])
    """
    over = margins[:, :-1, -1].astype(np.float64)
    duels = margins[:, :-1, :-1].astype(np.float64)
    diagonal = np.arange(duels.shape[1])
    duels[:, diagonal, diagonal] = np.inf
    hardest = duels.min(axis=2, where=(over >= 0)[:, None, :], initial=UNOPPOSED)
    return np.column_stack([over + RIVAL_WEIGHT * hardest, np.zeros(len(over))])


def relative_to_threshold(scores: Array, calibrated: bool) -> Array:
    """Scores of the K labels; if calibrated, less that of the threshold label, the last one."""
    return scores[:, :-1] - scores[:, -1:] if calibrated else scores


def in_row_blocks(n_rows: int, width: int, score: Callable[[int, int], Array]) -> Array:
    """Stack `score(first, last)` over blocks of rows small enough for width × width matrices."""
    parts = [score(first, last) for first, last in _blocks(n_rows, width)]
    return np.concatenate(parts) if parts else np.zeros((0, width))


def _blocks(n_rows: int, width: int) -> Iterator[tuple[int, int]]:
    size = max(1, _NUMBERS_AT_ONCE // max(width * width, 1))
    for first in range(0, n_rows, size):
        yield first, min(first + size, n_rows)
