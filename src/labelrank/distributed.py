"""Large margins on a Dask cluster: the steps of `learners.margins.admm` run by workers.

Only weights travel between workers, and numbers to here. Every step is a pure function of earlier
results: when a worker is lost, Dask runs its steps again with the same result, bit for bit.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from labelrank.errors import InputError, MissingError
from labelrank.learners.margins.prosvm import PreferenceSVM
from labelrank.learners.margins.solver import PreferenceProblem

__all__ = ["DaskRunner", "fit"]
Machine = TypeVar("Machine", bound=PreferenceSVM)


class DaskRunner:
    """Runs the steps of ADMM on the workers of a `dask.distributed.Client`."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def place(self, blocks: list[PreferenceProblem]) -> list[Any]:
        """Hand out the blocks as results of tasks, so that a lost one can be handed out again."""
        return [self.client.submit(_same, block, pure=False) for block in blocks]

    def map(self, step: Callable[..., Any], *columns: list[Any]) -> list[Any]:
        return [self.client.submit(step, *row, pure=False) for row in zip(*columns, strict=True)]

    def call(self, step: Callable[..., Any], *arguments: Any) -> Any:
        return self.client.submit(step, *arguments, pure=False)

    def get(self, handle: Any) -> Any:
        return handle.result()


def _same(block: PreferenceProblem) -> PreferenceProblem:
    return block


def fit(learner: Machine, X: Any, Y: Any, client: Any) -> Machine:
    """Fit a ProSVM or RankSVM over the workers of a cluster, `n_blocks` blocks side by side.

    The same weights as `learner.fit(X, Y)` gives with the same `n_blocks` and `random_state`.

    Parameters
    ----------
    learner : ProSVM or RankSVM
        With `n_blocks` of at least 2, about the number of worker threads.
    X, Y : as in `fit`
    client : dask.distributed.Client

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> fit(ProSVM(n_blocks=8), X, Y, Client("scheduler:8786"))  # doctest: +SKIP
    """
    if not isinstance(learner, PreferenceSVM):
        raise InputError(f"got {type(learner).__name__}; give a ProSVM or a RankSVM")
    if not learner.n_blocks > 1:
        raise InputError(f"got n_blocks={learner.n_blocks!r}; give at least 2 to share the work")
    if not hasattr(client, "submit"):
        raise MissingError(f"got {client!r} as client; give a dask.distributed.Client")
    return learner.fit_on(X, Y, DaskRunner(client))
