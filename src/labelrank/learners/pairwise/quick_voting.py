"""Quick voting (QWeighted, calibrated): the predicted set from a fraction of the duels."""

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank.errors import InputError
from labelrank.kernels import quick
from labelrank.learners.pairwise.mistakes import DualPairScorer
from labelrank.learners.pairwise.scorer import Float64, PairScorer
from labelrank.resources import row_chunks, run_jobs
from labelrank.rows import Rows

_CHUNK = 1024


class QuickVotes(NamedTuple):
    """`scores`, n × K: votes over those of Θ, exact for the set (the labels above 0) and its order.

    For the other labels an upper bound, never above 0. `evaluations`: duels looked at, (n,).
    """

    scores: Float64
    evaluations: npt.NDArray[np.int64]


def check_quick(*, calibrated: bool, voting: str, tie_break: str | None) -> None:
    """Refuse what quick voting cannot give."""
    if not calibrated:
        raise InputError(
            "got inference='quick' with calibrated=False, but quick voting stops at the threshold "
            "label; use calibrated=True, or inference='full'"
        )
    if voting != "votes":
        raise InputError(
            f"got inference='quick' with voting={voting!r}, but it counts whole votes; "
            "use voting='votes', or inference='full'"
        )
    if tie_break is not None:
        raise InputError(
            f"got inference='quick' with tie_break={tie_break!r}, which needs the margins of all "
            "duels; use tie_break=None, or inference='full'"
        )


def quick_voting(scorer: PairScorer, X: Rows, n_jobs: int | None = None) -> QuickVotes:
    """The set and order of full voting with `tie_break=None`, by as few duels as possible.

    >>> import numpy as np, scipy.sparse as sp
    >>> from labelrank.rows import as_rows
    >>> X, Y = as_rows(np.eye(4)), sp.csr_array(np.eye(4))
    >>> scorer = DualPairScorer(4, 4, calibrated=True, ordered=False)
    >>> lessons = [scorer.learn(X, Y, np.arange(4)) for _ in range(2)]
    >>> found = quick_voting(scorer, X)
    >>> (found.scores > 0).astype(int).tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> found.evaluations.tolist()
    [7, 7, 7, 7]
    """
    width = scorer.n_labels + 1
    losses, evaluations = np.zeros((X.n_rows, width), np.int32), np.zeros(X.n_rows, np.int64)
    if isinstance(scorer, DualPairScorer):
        scorer.quick_losses(X, losses, evaluations, n_jobs)
    else:
        spans = row_chunks(X.n_rows, n_jobs, least=64)
        run_jobs([partial(_rounds, scorer, X, *s, losses, evaluations) for s in spans], n_jobs)
    return QuickVotes((losses[:, -1:] - losses[:, :-1]).astype(np.float64), evaluations)


def _rounds(
    scorer: PairScorer,
    X: Rows,
    first: int,
    last: int,
    losses: npt.NDArray[np.int32],
    evaluations: npt.NDArray[np.int64],
) -> None:
    """Instances in step: each round one row of duels for every one not yet decided."""
    for begin in range(first, last, _CHUNK):
        active = np.arange(begin, min(begin + _CHUNK, last))
        labels = np.full(len(active), scorer.n_labels, np.int64)
        shape = (len(active), scorer.n_labels + 1)
        state, hint = np.zeros(shape, np.uint8), np.empty(shape)
        while len(active):
            margins = scorer.duels_of(X, active, labels)
            span = slice(begin, begin + len(state))
            quick.take_rows(
                active - begin, labels, margins, losses[span], state, hint, evaluations[span]
            )
            active, labels = active[labels >= 0], labels[labels >= 0]
