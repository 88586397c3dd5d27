"""From duels to scores; matrices have K' labels a side, the threshold label, if any, last."""

from collections.abc import Callable

import numpy as np

from labelrank._types import Array
from labelrank.resources import blocks

VOTINGS = ("votes", "weighted", "coupling")
TIE_BREAKS = ("margin", None)
# Chosen by cross-validation on the training documents of Reuters-21578; see docs/experiments.rst.
RIVAL_WEIGHT, UNOPPOSED = 0.1, 0.5
_NUMBERS_AT_ONCE = 1 << 22
_SMALLEST_CHANCE, _SMALLEST_DUEL = 1e-300, 1e-7


def break_ties(votes: Array, sums: Array) -> Array:
    """Votes plus a fraction, from 0.01 to 0.99, that orders equal votes by summed margins."""
    size = np.log1p(np.abs(sums))
    return votes + 0.5 + 0.49 * np.copysign(size / (1.0 + size), sums)


def count_votes(probabilities: Array) -> Array:
    """Won duels of P(u beats v); one half is decided for the smaller index."""
    wins = probabilities > 0.5
    upper = np.triu(np.ones(probabilities.shape[1:], bool), 1)
    wins |= (probabilities == 0.5) & upper
    _set_diagonal(wins, False)
    return wins.sum(axis=2).astype(np.float64)


def soft_scores(probabilities: Array, voting: str, coupling: str) -> Array:
    """Weighted votes, or logarithms of coupled probabilities (differences: log-odds)."""
    if voting == "coupling":
        return np.log(np.maximum(COUPLINGS[coupling](probabilities), _SMALLEST_CHANCE))
    share = probabilities.astype(np.float64)
    _set_diagonal(share, 0.0)
    return share.sum(axis=2)


def rival_scores(margins: Array) -> Array:
    """Margin over Θ, and a share of the hardest duel with a label that beats Θ too."""
    # Duels with labels that do not beat Θ were never trained on such an instance.
    over = margins[:, :-1, -1].astype(np.float64)
    duels = margins[:, :-1, :-1].astype(np.float64)
    _set_diagonal(duels, np.inf)
    hardest = duels.min(axis=2, where=(over >= 0)[:, None, :], initial=UNOPPOSED)
    return np.column_stack([over + RIVAL_WEIGHT * hardest, np.zeros(len(over))])


def relative_to_threshold(scores: Array, calibrated: bool) -> Array:
    """Scores of the K labels; if calibrated, less that of the threshold label, the last one."""
    return scores[:, :-1] - scores[:, -1:] if calibrated else scores


def in_row_blocks(n_rows: int, width: int, score: Callable[[int, int], Array]) -> Array:
    """Stack `score(first, last)` over blocks of rows small enough for width × width matrices."""
    pieces = blocks(n_rows, _NUMBERS_AT_ONCE // max(width * width, 1))
    parts = [score(piece.start, piece.stop) for piece in pieces]
    return np.concatenate(parts) if parts else np.zeros((0, width))


def wu_lin_weng(duels: Array) -> Array:
    """Couple by the linear equations of the second method of Wu, Lin & Weng (2004).

    Minimises the sum over pairs of (r_vu p_u - r_uv p_v)^2 under sum p = 1, where
    r_uv = duels[i, u, v] is the probability that u beats v in instance i.
    """
    r = _off_diagonal(duels)
    n, k, _ = r.shape
    lost = r.transpose(0, 2, 1)
    system = np.zeros((n, k + 1, k + 1))
    system[:, :k, :k] = -r * lost
    diagonal = np.arange(k)
    system[:, diagonal, diagonal] = (lost**2).sum(axis=2)
    system[:, :k, k] = system[:, k, :k] = 1.0
    wanted = np.zeros((n, k + 1, 1))
    wanted[:, k] = 1.0
    return _normalised(np.linalg.solve(system, wanted)[:, :k, 0])


def hastie_tibshirani(duels: Array, max_rounds: int = 1000, tol: float = 1e-9) -> Array:
    """Couple to the Bradley-Terry probabilities nearest to the duels (Hastie & Tibshirani 1998).

    Every p_u is set to its wins over the sum of 1 / (p_u + p_v), all at once, until all stay.
    """
    r = _off_diagonal(duels)
    if r.shape[1] == 1:  # nobody to meet
        return np.ones(r.shape[:2])
    others = 1.0 - np.eye(r.shape[1])
    wins = r.sum(axis=2)
    p = _normalised(wins)
    for _ in range(max_rounds):
        meetings = (others / (p[:, :, None] + p[:, None, :])).sum(axis=2)
        moved = _normalised(wins / meetings)
        if np.abs(moved - p).max(initial=0.0) <= tol:
            return moved
        p = moved
    return p


def price(duels: Array) -> Array:
    """Couple by p_u = 1 / (sum over v of 1 / r_uv, less k - 2) (Price et al. 1995).

    Exact where r_uv = p_u / (p_u + p_v); elsewhere the p are scaled to sum to 1.
    """
    r = _off_diagonal(duels)
    _set_diagonal(r, np.inf)
    return _normalised(1.0 / ((1.0 / r).sum(axis=2) - (r.shape[1] - 2)))


COUPLINGS: dict[str, Callable[[Array], Array]] = {
    "wu-lin-weng": wu_lin_weng,
    "hastie-tibshirani": hastie_tibshirani,
    "price": price,
}


def _off_diagonal(duels: Array) -> Array:
    """Away from 0 and 1, where the equations have no single answer; 0 on the diagonal."""
    r = np.clip(np.asarray(duels, np.float64), _SMALLEST_DUEL, 1.0 - _SMALLEST_DUEL)
    _set_diagonal(r, 0.0)
    return r


def _set_diagonal(matrices: Array, value: float) -> None:
    diagonal = np.arange(matrices.shape[1])
    matrices[:, diagonal, diagonal] = value


def _normalised(p: Array) -> Array:
    p = np.maximum(p, 0.0)
    return p / p.sum(axis=1, keepdims=True)
