"""Quick voting (QWeighted, calibrated): the predicted set from a fraction of the duels."""

from functools import partial
from typing import NamedTuple

import numpy as np

from labelrank._types import Float64, Int32, Int64
from labelrank.errors import InputError
from labelrank.kernels import quick
from labelrank.learners.pairwise.scorer import PairScorer
from labelrank.resources import blocks, row_chunks, run_jobs
from labelrank.rows import Rows

_IN_STEP = 1024


class QuickVotes(NamedTuple):
    """`scores`, n × K: votes over those of Θ, exact for the set (the labels above 0) and its order.

    For the other labels an upper bound, never above 0. `evaluations`: duels looked at, (n,).
    """

    scores: Float64
    evaluations: Int64


def check_quick(*, calibrated: bool, voting: str, tie_break: str | None) -> None:
    """Raise InputError for what quick voting cannot give."""
    refusals = (
        ("calibrated", calibrated, True, "quick voting stops at the threshold label"),
        ("voting", voting, "votes", "it counts whole votes"),
        ("tie_break", tie_break, None, "it does not know the margins of all duels"),
    )
    for name, got, wanted, reason in refusals:
        if got != wanted:
            raise InputError(
                f"got inference='quick' with {name}={got!r}, but {reason}; "
                f"use {name}={wanted!r}, or inference='full'"
            )


def quick_voting(scorer: PairScorer, X: Rows, n_jobs: int | None = None) -> QuickVotes:
    """The set and order of full voting with `tie_break=None`, by as few duels as possible.

    >>> import numpy as np, scipy.sparse as sp
    >>> from labelrank.learners.pairwise.mistakes import DualPairScorer
    >>> from labelrank.rows import as_rows
    >>> X, Y = as_rows(np.eye(4)), sp.csr_array(np.eye(4))
    >>> scorer = DualPairScorer(4, 4, calibrated=True, ordered=False)
    >>> learn = scorer.course(X, Y)
    >>> lessons = [learn(np.arange(4)) for epoch in range(2)]
    >>> quick = quick_voting(scorer, X)
    >>> (quick.scores > 0).astype(int).tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> quick.evaluations.tolist()
    [7, 7, 7, 7]
    """
    losses = np.zeros((X.n_rows, scorer.n_labels + 1), np.int32)
    evaluations = np.zeros(X.n_rows, np.int64)
    scorer.quick_losses(X, losses, evaluations, n_jobs)
    return QuickVotes((losses[:, -1:] - losses[:, :-1]).astype(np.float64), evaluations)


def losses_by_rounds(
    scorer: PairScorer, X: Rows, losses: Int32, evaluations: Int64, n_jobs: int | None
) -> None:
    """Many instances in step: each round asks `duels_of` for one row of each undecided one."""
    spans = row_chunks(X.n_rows, n_jobs, least=64)
    run_jobs([partial(_rounds, scorer, X, *s, losses, evaluations) for s in spans], n_jobs)


def _rounds(
    scorer: PairScorer, X: Rows, first: int, last: int, losses: Int32, evaluations: Int64
) -> None:
    for piece in blocks(last - first, _IN_STEP):
        span = slice(first + piece.start, first + piece.stop)
        active = np.arange(span.start, span.stop)
        labels = np.full(len(active), scorer.n_labels, np.int64)
        shape = (len(active), scorer.n_labels + 1)
        state, hint = np.zeros(shape, np.uint8), np.empty(shape)
        while len(active):
            margins = scorer.duels_of(X, active, labels)
            places = active - span.start
            quick.take_rows(places, labels, margins, losses[span], state, hint, evaluations[span])
            active, labels = active[labels >= 0], labels[labels >= 0]
