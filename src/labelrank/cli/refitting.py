"""A model fitted anew, on what it has learned from and on new examples."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from labelrank.cli import models
from labelrank.cli.judging import ENOUGH, Verdict, compared
from labelrank.datasets.dataset import join

# One new example in so many is held out to judge.
_PART = 5


def refitted(tagger: Any, old: Any, new: Any) -> tuple[Any, Verdict | None]:
    """The tagger fitted on all rows, and what it was worth on new ones that were held out.

    A model that gets worse is not fitted on the rest. Of fewer than 500 new rows nothing is held
    out, for these would tell too little.
    """
    n = new.n_instances
    if n // _PART < ENOUGH:
        return _fitted(tagger, together(old, new)), None
    is_held = np.arange(n) % _PART == _PART - 1
    held = new.subset(is_held)
    made = _fitted(tagger, together(old, new.subset(~is_held)))
    verdict = compared(tagger, made, held)
    return made if verdict.is_worse else _fitted(tagger, together(old, new)), verdict


def _fitted(tagger: Any, dataset: Any) -> Any:
    return models.teach(clone(tagger), dataset)


def together(old: Any, new: Any) -> Any:
    """The rows of both, over the labels of both."""
    names = list(dict.fromkeys([*old.label_names, *new.label_names]))
    parts = {
        part: replace(
            one, Y=models.in_columns(one, names), label_names=names, prefer=None,
            train=None, validation=None, test=None,
        )
        for part, one in (("train", old), ("test", new))
    }  # fmt: skip
    return replace(join(parts, old.name), train=None, test=None)
