"""The JSON tree and arrays of a model file back to the estimator: data in, data out.

Nothing is imported or called by a name from the file: classes come from the table of names, types
from fixed tables. Everything is checked that compiled code will later trust.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.declared import Stored, how_stored
from labelrank.errors import ModelFileError
from labelrank.persistence import checks
from labelrank.persistence.container import TYPES
from labelrank.persistence.encode import BIT_GENERATORS, MAX_DEPTH, SPARSE, Node
from labelrank.persistence.names import class_of, is_sklearn
from labelrank.rows import check_sparse

_DTYPES: dict[str, np.dtype[Any]] = {dtype.name: dtype for dtype in TYPES.values()}
_PLAIN_TYPES = {"int": int, "float": float, "bool": bool, "str": str}
_SEQUENCES: dict[str, Any] = {kind.__name__: kind for kind in (list, tuple, set, frozenset)}
_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Contents(NamedTuple):
    """What a file holds of one object, by name; `parts` is None where it is not fitted."""

    parameters: dict[str, Any]
    parts: dict[str, Any] | None


# How contents stored by an older version of a class become those of the next. Who renames, adds or
# drops a part or a parameter raises the version in its `@stored` by one, and adds a function here:
#
#     def _with_counts(old: Contents) -> Contents:
#         counts = np.zeros(len(old.parts["weights"]))
#         return Contents(old.parameters, {**old.parts, "counts": counts})
#
#     OLDER = {("ProSVM", 1): _with_counts}
def _with_scales(old: Contents) -> Contents:
    return Contents(
        old.parameters, {**(old.parts or {}), "shift": None, "unit": False, "scale": 1.0}
    )


def _of_members(old: Contents) -> Contents:
    if old.parts is None:
        return old
    parts = dict(old.parts)
    member = {"name": parts.pop("best_"), "share": 1.0, "weighting": parts.pop("weighting_"),
              "line": None, "estimator": parts.pop("estimator_")}  # fmt: skip
    member = class_of("Member")(**member)
    return Contents(old.parameters, {**parts, "members_": [member], "held_out_": None})


def _without_count(old: Contents) -> Contents:
    return Contents(old.parameters, None if old.parts is None else {**old.parts, "count_": None})


def _packed(old: Contents) -> Contents:
    """All its steps had asked for what is asked for now."""
    if old.parts is None:
        return old
    parts = dict(old.parts)
    names = ("instances", "pointers", "better", "worse", "moves")
    steps = {name: parts.pop(name) for name in names} | {"reached": parts.pop("reach")}
    size, n_labels = len(steps["reached"]), steps["moves"].shape[1] - 1
    steps["n_labels"] = np.full(size, n_labels)
    steps["by_relevance"] = np.zeros(size, bool)
    steps["relevance"] = sp.csr_array((size, n_labels), dtype=np.float64)
    for name, none in (("C", math.inf), ("margin", math.nan)):
        asked = old.parameters.get(name)
        steps["most" if name == "C" else name] = np.full(size, none if asked is None else asked)
    steps["cut"] = np.ones(size)
    return Contents(old.parameters, {**parts, "steps": class_of("PackedSteps")(**steps)})


OLDER: dict[tuple[str, int], Callable[[Contents], Contents]] = {
    ("AutoRanker", 1): _of_members,
    ("AutoRanker", 2): _without_count,
    ("AutoRanker", 3): lambda old: old,  # it knew no targets of several classes
    ("NumberPart", 1): lambda old: old,  # it did not keep the range of what it learned
    ("CorrectedRanker", 1): _packed,
    ("Weighting", 1): _with_scales,
    ("Tagger", 1): lambda old: old,  # it did not know rows again
    # Perceptrons had no constant.
    ("BinaryRelevancePerceptron", 1): lambda old: old,
    ("MulticlassMultilabelPerceptron", 1): lambda old: old,
    ("PairwisePerceptron", 1): lambda old: old,
    ("ThresholdedRanker", 1): lambda old: old,  # it had no calibration, nor other cuts
}


class Decoder:
    """Rebuilds one model; `get_tensor` gives the array of a name."""

    def __init__(self, get_tensor: Callable[[str], Array], declared: set[str]) -> None:
        self._get_tensor = get_tensor
        self._unused = set(declared)
        self._arrays: dict[str, Array] = {}
        self._checked = False  # within the parts of an object that is checked as a whole
        self._foreign = False  # within an estimator of scikit-learn
        self._kinds: dict[str, Callable[[dict[str, Any], int], Any]] = {
            "float": lambda node, depth: _FLOATS[node["value"]],
            "dtype": lambda node, depth: _DTYPES[node["name"]],
            "scalar_type": lambda node, depth: _DTYPES[node["name"]].type,
            "type": lambda node, depth: _PLAIN_TYPES[node["name"]],
            **dict.fromkeys(_SEQUENCES, self._items),
            "dict": self._dict,
            "scalar": lambda node, depth: self._array_of(node["array"], depth)[()],
            "array": lambda node, depth: self._array(node),
            "mostly_zero": lambda node, depth: self._mostly_zero(node),
            "unicode_array": lambda node, depth: self._unicode_array(node),
            "object_array": lambda node, depth: self._object_array(node),
            "sparse": self._sparse,
            "generator": self._random,
            "random_state": self._random,
            "tree": lambda node, depth: checks.tree_of(self.decode(node["state"], depth)),
            "object": self._object,
        }

    def model(self, node: Node) -> Any:
        """The whole model; any node that does not fit its kind is a ModelFileError."""
        try:
            found = self.decode(node)
        except ModelFileError:
            raise
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            raise _unsound(f"{type(error).__name__}: {error}") from error
        if self._unused:
            raise _unsound(f"{len(self._unused)} arrays belong to nothing")
        return found

    def decode(self, node: Node, depth: int = 0) -> Any:
        if depth > MAX_DEPTH:
            raise _unsound("nested too deeply")
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        kind = node.get("kind")
        if not isinstance(kind, str) or kind not in self._kinds:
            raise _unsound(f"unknown kind of value {str(kind)[:40]!r}")
        return self._kinds[kind](node, depth + 1)

    def _items(self, node: dict[str, Any], depth: int) -> Any:
        items, made = node["items"], _SEQUENCES[node["kind"]]
        if isinstance(items, dict) and items.get("kind") == "strings":
            return made(self._strings(items["text"]))
        return made(self.decode(item, depth) for item in items)

    def _dict(self, node: dict[str, Any], depth: int) -> dict[Any, Any]:
        keys, values = self.decode(node["keys"], depth), self.decode(node["values"], depth)
        values = values.tolist() if isinstance(values, np.ndarray) else values
        found = dict(zip(keys, values, strict=True))
        if len(found) != len(keys):
            raise _unsound("a key occurs twice")
        return found

    def _tensor(self, name: Any, dtype: type | None = None) -> Array:
        if name not in self._unused:
            raise _unsound("an array is missing or used twice")
        self._unused.remove(name)
        array = self._get_tensor(name)
        if dtype is not None and array.dtype != dtype:
            raise _unsound(f"array {name} has type {array.dtype}")
        return array

    def _array_of(self, node: Node, depth: int) -> Array:
        array = self.decode(node, depth)
        if not isinstance(array, np.ndarray):
            raise _unsound("no array where one is needed")
        return array

    def _array(self, node: dict[str, Any]) -> Array:
        name = node["tensor"]
        if name not in self._arrays:
            array = self._tensor(name)
            if array.dtype == bool and array.size and array.view(np.uint8).max() > 1:
                raise _unsound("a truth value that is neither 0 nor 1")
            self._arrays[name] = array.T if node.get("order") == "F" else array
        return self._arrays[name]

    def _mostly_zero(self, node: dict[str, Any]) -> Array:
        """Values at the places of a mask of bits, zero elsewhere; the mask bounds the memory."""
        name, shape = node["mask"], node["shape"]
        if name not in self._arrays:
            mask, values = self._tensor(name, np.uint8), self._tensor(node["values"])
            sides = all(type(side) is int and side >= 0 for side in shape)
            if not sides or mask.ndim != 1 or len(mask) != -(-math.prod(shape) // 8):
                raise _unsound("a mask that does not fit its array")
            used = np.unpackbits(mask, count=math.prod(shape)).view(bool)
            if values.shape != (np.count_nonzero(used),) or values.dtype.kind not in "fiu":
                raise _unsound("values that do not fit their mask")
            array = np.zeros(len(used), values.dtype)
            array[used] = values
            found = array.reshape(shape)
            self._arrays[name] = found.T if node.get("order") == "F" else found
        return self._arrays[name]

    def _strings(self, node: dict[str, Any]) -> list[str]:
        blob = self._tensor(node["blob"], np.uint8).tobytes()
        stops = np.cumsum(self._tensor(node["lengths"], np.uint32), dtype=np.int64).tolist()
        if (stops[-1] if stops else 0) != len(blob):
            raise _unsound("texts do not fill their place")
        starts = [0, *stops[:-1]]
        spans = zip(starts, stops, strict=False)
        return [blob[start:stop].decode("utf-8", "surrogatepass") for start, stop in spans]

    def _object_array(self, node: dict[str, Any]) -> Array:
        strings = self._strings(node["text"])
        return np.array(strings, dtype=object).reshape(node["shape"])

    def _unicode_array(self, node: dict[str, Any]) -> Array:
        name = node["tensor"]
        if name not in self._arrays:
            codes = self._tensor(name, np.uint32)
            if codes.size and codes.max() > 0x10FFFF:
                raise _unsound("a character that does not exist")
            array = codes.reshape(-1).view(f"<U{codes.shape[1]}")
            self._arrays[name] = array.reshape(node["shape"])
        return self._arrays[name]

    def _sparse(self, node: dict[str, Any], depth: int) -> Any:
        if node["class"] not in SPARSE:
            raise _unsound("unknown sparse format")
        parts = tuple(self._array_of(node[part], depth) for part in ("data", "indices", "indptr"))
        matrix = getattr(sp, node["class"])(parts, shape=tuple(node["shape"]))
        check_sparse(matrix)
        return matrix

    def _random(self, node: dict[str, Any], depth: int) -> Any:
        state = self.decode(node["state"], depth)
        bits = _bit_generator(state)
        if node["kind"] == "generator":
            bits.state = state
            return np.random.Generator(bits)
        random_state = np.random.RandomState(bits)
        random_state.set_state(state)
        return random_state

    def _object(self, node: dict[str, Any], depth: int) -> Any:
        cls: Any = class_of(node["class"])
        how = how_stored(cls)
        if how is not None:
            return self._declared(cls, how, node, depth)
        parameters = self._values(node.get("parameters", {}), depth, checked=True)
        found = cls.__new__(cls) if is_sklearn(cls) and "state" in node else cls(**parameters)
        is_alone, self._foreign = not self._foreign, is_sklearn(cls)
        vars(found).update(self._values(node.get("state", {}), depth, checked=False))
        self._foreign = not is_alone
        if is_sklearn(cls):
            checks.check_foreign(found, alone=is_alone and "state" in node)
        return found

    def _declared(self, cls: Any, how: Stored, node: dict[str, Any], depth: int) -> Any:
        """An object of its parameters and parts; the outermost one is checked with all it holds."""
        parameters = self._values(node.get("parameters", {}), depth, checked=True)
        parts = self._values(node["parts"], depth, checked=True) if "parts" in node else None
        contents = _updated(how, node["version"], Contents(parameters, parts))
        found = _built(cls, how, contents)
        if not self._checked:
            if not checks.is_fitted(how, found):
                raise _unsound(f"{how.name} is not fitted")
            checks.check(found, {}, restore=True)
        return found

    def _values(self, nodes: dict[str, Any], depth: int, *, checked: bool) -> dict[str, Any]:
        before, self._checked = self._checked, checked
        values = {}
        for name, item in nodes.items():
            if not name.isidentifier() or name.startswith("__"):
                raise _unsound(f"an attribute cannot be called {name[:40]!r}")
            values[name] = self.decode(item, depth)
        self._checked = before
        return values


def _updated(how: Stored, version: Any, contents: Contents) -> Contents:
    """The contents as the class declares them today, or a ValueError."""
    if type(version) is not int or not 1 <= version <= how.version:
        raise ValueError(
            f"{how.name} has version {str(version)[:20]}, but this labelrank reads versions 1 to "
            f"{how.version}; update labelrank"
        )
    for step in range(version, how.version):
        contents = OLDER[how.name, step](contents)
    return contents


def _built(cls: Any, how: Stored, contents: Contents) -> Any:
    unknown = (contents.parts or {}).keys() - how.parts.keys()
    if unknown:
        raise _unsound(f"{how.name} has no part {min(unknown)[:40]!r}")
    parts = (contents.parts or {}).items()
    attributes = {how.parts[name].attribute or name: value for name, value in parts}
    if issubclass(cls, tuple):
        return cls(**attributes)
    is_estimator = hasattr(cls, "get_params")
    found = cls(**contents.parameters) if is_estimator else cls.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(found, name, value)  # frozen dataclasses take no other way
    return found


def _bit_generator(state: Any) -> Any:
    """A generator for this state, which must neither leave its buffer nor give zeros for ever."""
    name = state["bit_generator"]
    if name not in BIT_GENERATORS:
        raise _unsound("unknown random generator")
    inner = state["state"]
    if name == "MT19937":
        key, position = np.asarray(inner["key"]), inner["pos"]
        is_sound = key.shape == (624,) and key.any() and 0 <= position <= 624
    elif name == "Philox":
        is_sound = 0 <= state["buffer_pos"] <= 4
    else:
        is_sound = name == "SFC64" or inner["inc"] % 2 == 1
    if not is_sound:
        raise _unsound("a random generator that cannot go on")
    return getattr(np.random, name)(0)


def _unsound(why: str) -> ModelFileError:
    return ModelFileError(f"the model file is not sound ({why[:200]}); save the model again")
