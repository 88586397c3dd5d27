"""What a learner is worth on rows that it has not learned, for `labelrank fit`."""

from typing import Any

import numpy as np

from labelrank.cli import models
from labelrank.cli.options import Recipe

# One row in so many is held out; fewer rows than these tell nothing.
_PART, FEW_ROWS = 5, 10


def held_out(recipe: Recipe, learner: Any, dataset: Any) -> dict[str, Any] | None:
    """Micro F1 on a fifth of the rows by a learner of the others, and that of guessing; None
    where there are too few rows, or where none of the held-out labels is known."""
    from labelrank.evaluation.verdict import guessing

    n = dataset.n_instances
    if n < FEW_ROWS:
        return None
    order = np.random.default_rng(recipe.seed).permutation(n)
    held, rest = (np.sort(part) for part in np.split(order, [n // _PART]))
    test = dataset.subset(held)
    if not (test.Y > 0).sum():
        return None
    _, given = models.put_to(recipe.teach(learner, dataset.subset(rest)), test)
    return {
        "criterion": "micro_f1", "chosen": float(given.criteria()["micro_f1"]),
        "guessing": guessing(given.Y)["micro_f1"], "n_instances": len(held),
    }  # fmt: skip
