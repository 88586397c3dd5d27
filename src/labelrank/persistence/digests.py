"""A name for what a model has learned: the same for the same learning."""

import hashlib
import json
from typing import Any

from labelrank._types import Array
from labelrank.declared import Stored
from labelrank.persistence.encode import Encoder, Node

# Parameters that change how fast something is learned, and not what.
_NEUTRAL = frozenset({"n_jobs", "verbose", "memory_limit"})


def digest(model: Any) -> str:
    """The SHA-256, in hex, of what a model has learned and of the settings that made it learn so.

    Two models have the same digest if they learned the same, whatever was predicted since, however
    many threads took part, and when they were saved. Left out are parts that a class declares as
    volatile (times, counts of work) and the parameters `n_jobs`, `verbose` and `memory_limit`.

    Examples
    --------
    >>> from labelrank import Rocchio, persistence
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [[1, 0], [0, 1], [1, 1]]
    >>> learner = Rocchio().fit(X, Y)
    >>> persistence.digest(learner) == persistence.digest(Rocchio().fit(X, Y))
    True
    >>> persistence.digest(learner) == persistence.digest(learner.partial_fit(X[:1], Y[:1]))
    False
    """
    tree = _Digester().encode(model, type(model).__name__)
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class _Digester(Encoder):
    """Names each array by its contents, and leaves out what is not learned."""

    def _tensor(self, array: Array, path: str) -> str:
        name = super()._tensor(array, path)
        stored = self.tensors.pop(name)
        content = hashlib.sha256(f"{stored.dtype.str} {stored.shape} ".encode())
        content.update(stored.reshape(-1).view("u1").data)
        return content.hexdigest()

    def _items(self, values: dict[str, Any], path: str, depth: int) -> Node:
        learned = {name: value for name, value in values.items() if name not in _NEUTRAL}
        return super()._items(learned, path, depth)

    def _kept(self, how: Stored, value: Any) -> dict[str, Any]:
        parts = super()._kept(how, value)
        return {name: part for name, part in parts.items() if not how.parts[name].volatile}
