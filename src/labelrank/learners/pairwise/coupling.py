"""Pairwise coupling: from the probabilities of duels, one probability for each label."""

from collections.abc import Callable

import numpy as np

from labelrank._types import Array

_LEAST = 1e-7


def wu_lin_weng(duels: Array) -> Array:
    """The second method of Wu, Lin & Weng (2004), by its linear equations.

    Minimises the sum over pairs of (r_vu p_u - r_uv p_v)^2 under sum p = 1, where
    r_uv = duels[i, u, v] is the probability that u beats v in instance i.

    >>> wu_lin_weng(np.array([[[0.5, 0.8], [0.2, 0.5]]])).round(3)
    array([[0.8, 0.2]])
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
    """Bradley-Terry probabilities nearest to the duels (Hastie & Tibshirani 1998).

    Every p_u is set to its wins over the sum of 1 / (p_u + p_v), all at once, until nothing
    moves by more than `tol`.

    >>> hastie_tibshirani(np.array([[[0.5, 0.8], [0.2, 0.5]]])).round(3)
    array([[0.8, 0.2]])
    """
    r = _off_diagonal(duels)
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


def _off_diagonal(duels: Array) -> Array:
    """Away from 0 and 1, where the equations have no single answer; 0 on the diagonal."""
    r = np.clip(np.asarray(duels, np.float64), _LEAST, 1.0 - _LEAST)
    diagonal = np.arange(r.shape[1])
    r[:, diagonal, diagonal] = 0.0
    return r


def _normalised(p: Array) -> Array:
    p = np.maximum(p, 0.0)
    return p / p.sum(axis=1, keepdims=True)


COUPLINGS: dict[str, Callable[[Array], Array]] = {
    "wu-lin-weng": wu_lin_weng,
    "hastie-tibshirani": hastie_tibshirani,
}
