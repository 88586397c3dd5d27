"""One weight vector a label, stored in blocks of labels: the door to the kernels of `linear`.

Weights are one array (blocks, features, lanes): each block of up to `BLOCK` labels is contiguous,
stays in cache while a thread passes over the data, and is written by that thread alone.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from labelrank.errors import InputError
from labelrank.kernels import linear as kernels
from labelrank.kernels.rules import PASSIVE_AGGRESSIVE
from labelrank.resources import aligned_zeros, row_chunks, run_jobs
from labelrank.rows import Rows

BLOCK = 64
LANE = 16
RANDOM_SCALE = 0.01


@dataclass(frozen=True)
class Rule:
    """What happens to the weights of one instance; codes from `kernels.rules` and `linear`."""

    rule: int = kernels.SEPARATE
    step: int = 0
    margin: float = 0.0
    tie_is_right: bool = True
    C: float = 1.0
    loss: int = 0
    penalty: int = 0
    seed: int = 0


def empty_weights(
    n_features: int, n_labels: int, *, together: bool, dtype: npt.DTypeLike = np.float32
) -> npt.NDArray[np.floating]:
    """Zero weights; `together` keeps all labels in one block, for rules that couple them."""
    padded = -(-n_labels // LANE) * LANE
    lanes = padded if together else min(BLOCK, padded)
    shape = (-(-n_labels // lanes), n_features, lanes)
    try:
        return aligned_zeros(shape, dtype)
    except MemoryError as error:
        gib = np.prod(shape, dtype=float) * np.dtype(dtype).itemsize / 2**30
        raise InputError(
            f"weights of {n_labels} labels x {n_features} features need {gib:.1f} GiB, more than "
            "can be had; keep fewer features (max_terms, hashing) or labels"
        ) from error


def fill_random(W: npt.NDArray[np.floating], first: int, last: int, seed: int) -> None:
    """Small normal weights for labels first..last-1."""
    lanes = W.shape[2]
    for block in range(first // lanes, -(-last // lanes)):
        lo = block * lanes
        begin, end = max(first - lo, 0), min(last - lo, lanes)
        kernels.fill_normal(W[block], begin, end, lo, RANDOM_SCALE, seed)


def widened(
    W: npt.NDArray[np.floating], n_labels: int, *, together: bool
) -> npt.NDArray[np.floating]:
    """The same weights with room for `n_labels` labels."""
    wider = empty_weights(W.shape[1], n_labels, together=together, dtype=W.dtype)
    if wider.shape[2] == W.shape[2] and not together:
        wider[: W.shape[0]] = W
    else:
        wider[0, :, : W.shape[2]] = W[0]
    return wider


def learn_pass(
    X: Rows, Y: Rows, order: npt.NDArray[np.int64], W: npt.NDArray[np.floating],
    U: npt.NDArray[np.floating], clock: int, rule: Rule, n_jobs: int | None,
) -> int:  # fmt: skip
    """One pass over the rows in `order`; returns how many label weights were moved in all."""
    _check(X, Y, order, W, U)
    if rule.step == PASSIVE_AGGRESSIVE and rule.rule == kernels.MMP:
        rule = replace(rule, margin=1.0)
    settings = (rule.rule, rule.step, float(rule.margin), bool(rule.tie_is_right), float(rule.C),
                rule.loss, rule.penalty, rule.seed)  # fmt: skip
    learn = partial(kernels.learn_pass, *X[:3], *Y[:3], order)
    jobs = [
        partial(learn, lo, width, W[block], U[block], clock, *settings)
        for block, lo, width in _blocks(W, Y.n_columns)
    ]
    return sum(run_jobs(jobs, n_jobs))


def scores(
    X: Rows, W: npt.NDArray[np.floating], n_labels: int, n_jobs: int | None
) -> npt.NDArray[np.floating]:
    """X times the weights, n × K, in the type of the weights."""
    if X.n_columns != W.shape[1]:
        raise InputError(f"X has {X.n_columns} features, but the weights have {W.shape[1]}")
    out = np.empty((X.n_rows, n_labels), W.dtype)
    kernel = kernels.scores if W.dtype == np.float32 else kernels.double_scores
    jobs = [
        partial(kernel, *X[:3], first, last, W[block], width, out[:, lo : lo + width])
        for block, lo, width in _blocks(W, n_labels)
        for first, last in row_chunks(X.n_rows, n_jobs)
    ]
    run_jobs(jobs, n_jobs)
    return out


def by_label(W: npt.NDArray[np.floating], n_labels: int) -> npt.NDArray[np.floating]:
    """The weights as K × d, one row a label."""
    return np.ascontiguousarray(W.transpose(0, 2, 1).reshape(-1, W.shape[1])[:n_labels])


def of_label(W: npt.NDArray[np.floating], label: int) -> npt.NDArray[np.floating]:
    """The weights of one label (d,); no other label is read."""
    lanes = W.shape[2]
    return W[label // lanes, :, label % lanes]


def _blocks(W: npt.NDArray[np.floating], n_labels: int) -> list[tuple[int, int, int]]:
    lanes = W.shape[2]
    starts = range(0, n_labels, lanes)
    return [(block, lo, min(lanes, n_labels - lo)) for block, lo in enumerate(starts)]


def _check(
    X: Rows, Y: Rows, order: npt.NDArray[np.int64], W: npt.NDArray[np.floating],
    U: npt.NDArray[np.floating],
) -> None:  # fmt: skip
    """Past this line nothing checks an index."""
    if W.dtype != np.float32 or W.ndim != 3 or not W.flags.c_contiguous:
        raise InputError(f"weights must be contiguous float32 (blocks, features, lanes): {W.shape}")
    if X.n_columns != W.shape[1] or X.data.dtype != np.float32:
        raise InputError(f"X must be float32 with {W.shape[1]} columns; got {X.n_columns}")
    if Y.n_rows != X.n_rows or Y.n_columns > W.shape[0] * W.shape[2]:
        raise InputError(
            f"Y of {Y.n_rows} rows, {Y.n_columns} labels does not fit X or the weights"
        )
    if U.shape not in (W.shape, (W.shape[0], 0, W.shape[2])) or U.dtype != np.float64:
        raise InputError(f"running sums must be float64 like the weights, or empty: {U.shape}")
    if order.size and not 0 <= order.min() <= order.max() < X.n_rows:
        raise InputError(f"the order names rows outside 0..{X.n_rows - 1}")
