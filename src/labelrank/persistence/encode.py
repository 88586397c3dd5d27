"""A fitted estimator to a JSON tree and named arrays.

Every JSON object is a tagged node: its `kind` says what is rebuilt from it (see `decode`). An
object of labelrank is its parameters and its declared parts, one of scikit-learn its attributes.
"""

import hashlib
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.declared import Stored, how_stored
from labelrank.errors import ModelFileError
from labelrank.persistence import checks
from labelrank.persistence.container import TYPES
from labelrank.persistence.names import is_sklearn, name_of

Node = Any

MAX_DEPTH = 60
SPARSE = ("csr_array", "csr_matrix", "csc_array", "csc_matrix")
BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
_STORABLE = frozenset(TYPES.values())
_LONG = 32
# Arrays of at least so many values, at most this share of them not zero, leave their zeros out.
_LARGE, _MOSTLY_ZERO = 4096, 0.5
# What scikit-learn makes anew when it learns or reads: compiled losses, the identity of a list.
_MADE_ANEW = frozenset({"_loss_function_", "_stop_words_id"})
# Parameters that change how fast something is learned, and not what.
_NEUTRAL = frozenset({"n_jobs", "verbose", "memory_limit"})


class Encoder:
    """Collects the arrays of one model while its tree is built; `path` names where we are."""

    def __init__(self) -> None:
        self.tensors: dict[str, Array] = {}
        self._names: dict[int, tuple[Array, Node]] = {}
        self._settings = False  # within the parameters of an object
        self._checked = False  # within the parts of an object that is checked as a whole

    def encode(self, value: Any, path: str, depth: int = 0) -> Node:
        """The node of any storable value."""
        if depth > MAX_DEPTH:
            raise _refusal(path, "is nested too deeply or holds itself", "flatten it")
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return value if abs(value) < 10**300 else self._refuse(value, path)
        if type(value) is float:
            return value if math.isfinite(value) else {"kind": "float", "value": repr(value)}
        if type(value) in (list, tuple, set, frozenset):
            return self._sequence(value, path, depth)
        if type(value) is dict:
            return self._dict(value, path, depth)
        return self._object(value, path, depth)

    def _object(self, value: Any, path: str, depth: int) -> Node:
        if isinstance(value, np.ndarray):
            return self._array(value, path, depth)
        if isinstance(value, np.generic):
            return {"kind": "scalar", "array": self._array(np.asarray(value), path, depth)}
        if isinstance(value, np.dtype):
            return {"kind": "dtype", "name": self._dtype_name(value, path)}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"kind": "scalar_type", "name": self._dtype_name(np.dtype(value), path)}
        if isinstance(value, type) and value in (int, float, bool, str):
            return {"kind": "type", "name": value.__name__}
        if sp.issparse(value) and type(value).__name__ in SPARSE:
            return self._sparse(value, path, depth)
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return self._random(value, path, depth)
        if checks.is_tree(value):
            state = checks.tree_state(value)
            return {"kind": "tree", "state": self.encode(state, path, depth + 1)}
        return self._estimator(value, path, depth)

    def _estimator(self, value: Any, path: str, depth: int) -> Node:
        name, how = name_of(type(value)), how_stored(type(value))
        if name is None:
            return self._refuse(value, path)
        node: dict[str, Any] = {"kind": "object", "class": name}
        if how is not None:
            return {**node, "version": how.version, **self._declared(how, value, path, depth)}
        parameters = value.get_params(deep=False) if hasattr(value, "get_params") else {}
        if parameters.get("input", "content") != "content":
            raise _refusal(f"{path}.input", "makes a model read files", "use input='content'")
        state = vars(value)
        if self._settings or not is_sklearn(type(value)):
            node["parameters"] = self._parameters(parameters, path, depth)
            state = {key: state[key] for key in state.keys() - parameters.keys()}
        if not self._settings:
            with self._within(settings=False, checked=False):
                node["state"] = self._items(state, path, depth)
        return node

    def _declared(self, how: Stored, value: Any, path: str, depth: int) -> Node:
        node = {}
        is_estimator = hasattr(value, "get_params")
        if is_estimator:
            node["parameters"] = self._parameters(value.get_params(deep=False), path, depth)
            if self._settings:
                return node
        if not self._checked:
            self._check(how, value, path)
        with self._within(settings=False, checked=True):
            node["parts"] = self._items(self._kept(how, value), path, depth)
        return node

    def _kept(self, how: Stored, value: Any) -> dict[str, Any]:
        return how.values(value)

    def _parameters(self, parameters: dict[str, Any], path: str, depth: int) -> Node:
        with self._within(settings=True, checked=True):
            return self._items(parameters, path, depth)

    def _items(self, values: dict[str, Any], path: str, depth: int) -> Node:
        kept = sorted(values.keys() - _MADE_ANEW)
        return {key: self.encode(values[key], f"{path}.{key}", depth + 1) for key in kept}

    @contextmanager
    def _within(self, *, settings: bool, checked: bool) -> Iterator[None]:
        before = self._settings, self._checked
        self._settings, self._checked = settings, checked
        yield
        self._settings, self._checked = before

    def _check(self, how: Stored, value: Any, path: str) -> None:
        if not checks.is_fitted(how, value):
            raise _refusal(path, "is not fitted", "fit it first")
        try:
            checks.check(value, {}, restore=False)
        except ValueError as error:
            raise ModelFileError(f"cannot save the model: {path}: {error}") from error

    def _sequence(self, value: Any, path: str, depth: int) -> Node:
        kind = type(value).__name__
        if isinstance(value, set | frozenset):
            value = sorted(value, key=lambda item: (type(item).__name__, repr(item)))
        if len(value) > _LONG and all(type(item) is str for item in value):
            node = {"kind": "strings", "text": self._strings(list(value), path)}
            return {"kind": kind, "items": node}
        items = [self.encode(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
        return items if kind == "list" else {"kind": kind, "items": items}

    def _dict(self, value: dict[Any, Any], path: str, depth: int) -> Node:
        keys: list[Any] = list(value)
        values: Any = list(value.values())
        small = range(-(2**62), 2**62)
        if len(value) > _LONG and all(type(v) is int and v in small for v in values):
            values = np.array(values, dtype=np.int64)
        node = {"kind": "dict", "keys": self.encode(keys, f"{path} (keys)", depth + 1)}
        return {**node, "values": self.encode(values, f"{path} (values)", depth + 1)}

    def _array(self, array: Array, path: str, depth: int) -> Node:
        if isinstance(array, np.ma.MaskedArray):
            return self._refuse(array, path)
        if id(array) in self._names:
            return self._names[id(array)][1]
        node = self._new_array(array, path)
        self._names[id(array)] = (array, node)
        return node

    def _new_array(self, array: Array, path: str) -> Node:
        if array.dtype.kind == "O":
            if not all(type(item) is str for item in array.flat):
                raise _refusal(path, "is an array of Python objects", "use numbers or strings")
            text = self._strings(array.ravel().tolist(), path)
            return {"kind": "object_array", "text": text, "shape": list(array.shape)}
        if array.dtype.kind == "U":
            width = max(array.dtype.itemsize // 4, 1)
            raw = np.ascontiguousarray(array, f"<U{width}").reshape(-1).view(np.uint32)
            name = self._tensor(raw.reshape(array.size, width), path)
            return {"kind": "unicode_array", "tensor": name, "shape": list(array.shape)}
        is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        order = {"order": "F"} if is_fortran else {}
        stored = array.T if is_fortran else array
        used = _used(stored)
        if used is not None:
            mask, values = np.packbits(used), stored.ravel()[used]
            names = {"mask": self._tensor(mask, path), "values": self._tensor(values, path)}
            return {"kind": "mostly_zero", **names, "shape": list(stored.shape), **order}
        return {"kind": "array", "tensor": self._tensor(stored, path), **order}

    def _tensor(self, array: Array, path: str) -> str:
        little = array.dtype.newbyteorder("<")
        if little not in _STORABLE:
            raise _refusal(path, f"is an array of type {array.dtype}", "use numbers or strings")
        name = str(len(self.tensors))
        self.tensors[name] = np.asarray(array, dtype=little, order="C")
        return name

    def _strings(self, strings: list[str], path: str) -> Node:
        raw = [text.encode("utf-8", "surrogatepass") for text in strings]
        lengths = np.array([len(text) for text in raw], dtype=np.uint32)
        blob = np.frombuffer(b"".join(raw), dtype=np.uint8)
        return {"blob": self._tensor(blob, path), "lengths": self._tensor(lengths, path)}

    def _sparse(self, matrix: Any, path: str, depth: int) -> Node:
        shape = [int(side) for side in matrix.shape]
        node = {"kind": "sparse", "class": type(matrix).__name__, "shape": shape}
        for part in ("data", "indices", "indptr"):
            node[part] = self._array(getattr(matrix, part), f"{path}.{part}", depth)
        return node

    def _random(self, value: Any, path: str, depth: int) -> Node:
        is_generator = isinstance(value, np.random.Generator)
        state = value.bit_generator.state if is_generator else value.get_state(legacy=False)
        if state["bit_generator"] not in BIT_GENERATORS:
            return self._refuse(value, path)
        kind = "generator" if is_generator else "random_state"
        return {"kind": kind, "state": self.encode(state, path, depth + 1)}

    def _dtype_name(self, dtype: np.dtype, path: str) -> str:
        if dtype.newbyteorder("<") not in _STORABLE:
            raise _refusal(path, f"is the type {dtype}", "use a plain number type")
        return dtype.name

    def _refuse(self, value: Any, path: str) -> Node:
        if callable(value) and not isinstance(value, type) and not hasattr(value, "get_params"):
            raise _refusal(path, "is a function", "use a named option in its place")
        cls = f"{type(value).__module__}.{type(value).__qualname__}"
        advice = "use a learner of labelrank or a listed scikit-learn one"
        if type(value).__name__ in ("KDTree", "BallTree"):
            advice = "use algorithm='brute'"
        if callable(getattr(value, "encode", None)):
            advice = "set encoder to the folder or name of that model, or register its class"
        raise _refusal(path, f"is a {cls}", f"{advice}, or register its class")


def _used(array: Array) -> Array | None:
    """Which values have a bit set (-0.0 has), if most have none; None where all are stored."""
    if array.size < _LARGE or array.dtype.kind not in "fiu":
        return None
    bits = np.ascontiguousarray(array).reshape(-1).view(f"u{array.dtype.itemsize}")
    used: Array = bits != 0
    return used if np.count_nonzero(used) <= _MOSTLY_ZERO * array.size else None


def _refusal(path: str, what: str, advice: str) -> ModelFileError:
    return ModelFileError(f"cannot save the model: {path} {what}, which is never stored; {advice}")


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
