"""Whether the parts of an object are what its class declares: before saving, after loading.

Trees of scikit-learn are checked in full; any other estimator of it answers one row of zeros when
it is loaded, so that parts that do not fit together fail there, not at the first prediction.
"""

import dataclasses
import math
import re
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from labelrank.declared import Part, Stored, check_parameters, how_stored
from labelrank.errors import ModelFileError
from labelrank.rows import check_sparse

Lengths = dict[str, int]

EVERYWHERE = ("K", "d")
MAX_THREADS = 1024
MAX_WHOLE = 2**62
_SIDE = re.compile(r"([A-Za-z_]\w*)(?:\+(\d+))?")
_DENSE = 2**16
_MOST_FEATURES = 2**31
_METHODS = ("transform", "predict", "predict_proba", "decision_function")
_WEIGHTS = ("coef_", "_standard_coef", "_average_coef")
_INTERCEPTS = ("intercept_", "_standard_intercept", "_average_intercept")
# What scikit-learn raises where the parts of an estimator do not fit together.
FAILURES = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RuntimeError,
    TypeError, ValueError, re.error,
)  # fmt: skip


def check(instance: Any, lengths: Lengths, *, restore: bool) -> None:
    """Raise ValueError unless an object, and all it holds, is as declared."""
    how = how_stored(type(instance))
    if how is None:
        return
    is_estimator = hasattr(instance, "get_params")
    parts = how.values(instance)
    if is_estimator:
        check_settings(instance)
    for name, part in how.parts.items():
        if not part.optional and parts.get(name) is None:
            raise ValueError(f"{how.name} has no {name}")
    known = {} if is_estimator else {name: lengths[name] for name in EVERYWHERE if name in lengths}
    for name, value in parts.items():
        part = how.parts[name]
        if value is not None:
            _check_part(f"{how.name}.{name}", part, value, known)
        for held in _held(part, value):
            check(held, known, restore=restore)
    for name, value in parts.items():
        if value is not None:
            _check_indices(f"{how.name}.{name}", how.parts[name], value, known, parts)
    if not is_estimator:
        lengths.update((name, known[name]) for name in EVERYWHERE if name in known)
    if restore and hasattr(instance, "after_loading"):
        instance.after_loading()


def check_settings(estimator: Any) -> None:
    """Raise ValueError for a parameter that the estimator would refuse when it is fitted."""
    get_tags(estimator)  # which asks the estimators among the parameters for theirs
    n_jobs = getattr(estimator, "n_jobs", None)
    if n_jobs is not None and not (type(n_jobs) is int and 0 < abs(n_jobs) <= MAX_THREADS):
        raise ValueError(f"{type(estimator).__name__}.n_jobs is {str(n_jobs)[:40]}")
    if hasattr(estimator, "check_parameters"):
        estimator.check_parameters()
    elif dataclasses.is_dataclass(estimator):
        check_parameters(estimator)


def is_fitted(how: Stored, instance: Any) -> bool:
    """Whether an object has any part, or needs none."""
    required = {name for name, part in how.parts.items() if not part.optional}
    return not required or bool(required & how.values(instance).keys())


def _held(part: Part, value: Any) -> list[Any]:
    if part.kind != "nested" or value is None:
        return []
    return list(value) if part.many else [value]


def _check_part(where: str, part: Part, value: Any, lengths: Lengths) -> None:
    """The kind, type and shape of one part; lengths met first are noted."""
    if part.kind == "array":
        _check_array(where, part, value)
        _check_shape(where, part, value.shape, lengths)
    elif part.kind == "sparse":
        if not sp.issparse(value) or value.dtype.kind not in "biuf":
            raise ValueError(f"{where} is no sparse matrix of numbers")
        check_sparse(value)
        _check_finite(where, part, value.data)
        _check_shape(where, part, value.shape, lengths)
    elif part.kind == "nested":
        if part.many and type(value) not in (list, tuple):
            raise ValueError(f"{where} is no list")
        for held in _held(part, value):
            if type(held) in part.types:
                _check_value(where, part, held, lengths)
            else:
                _check_class(where, part, held)
    elif part.kind == "any":
        _check_plain(where, value)
    elif part.kind == "value":
        _check_value(where, part, value, lengths)
        if part.length is not None and lengths.setdefault(part.length, value) != value:
            raise ValueError(f"{where} is {value}, not {lengths[part.length]}")


def _check_array(where: str, part: Part, value: Any) -> None:
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{where} is no array")
    kind = "O" if value.dtype.kind == "O" else value.dtype.str[1:]
    if part.dtypes and kind not in part.dtypes and value.dtype.kind not in part.dtypes:
        raise ValueError(f"{where} has the type {value.dtype}")
    if not value.flags.c_contiguous and part.layout == "C":
        raise ValueError(f"{where} is not laid out row by row")
    _check_finite(where, part, value)


def _check_finite(where: str, part: Part, values: Any) -> None:
    if part.finite and values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{where} holds numbers that are not finite")


def _check_shape(where: str, part: Part, shape: tuple[int, ...], lengths: Lengths) -> None:
    declared = part.shape or ()
    fits = len(declared) == len(shape)
    if not fits or not all(map(lambda a, b: _fits(a, b, lengths), declared, shape)):
        raise ValueError(f"{where} has the shape {shape}, not {declared} with {lengths}")


def _fits(side: int | str, length: int, lengths: Lengths) -> bool:
    """Whether a length is that of a declared side; a name met first takes it."""
    if isinstance(side, int):
        return length == side
    if side.endswith(" or 0"):
        return length == 0 or _fits(side.removesuffix(" or 0"), length, lengths)
    matched = _SIDE.fullmatch(side)
    if matched is None:
        raise ValueError(f"the side {side!r} is none of: a number, K, K+1, K or 0")
    length -= int(matched[2] or 0)
    return length >= 0 and lengths.setdefault(matched[1], length) == length


def _check_class(where: str, part: Part, held: Any) -> None:
    how = how_stored(type(held))
    if part.classes and (how is None or how.name not in part.classes):
        raise ValueError(f"{where} is a {type(held).__name__}, not {' or '.join(part.classes)}")
    if not part.classes and not hasattr(held, "get_params"):
        raise ValueError(f"{where} is no estimator")


def _check_plain(where: str, value: Any) -> None:
    """That data of no fixed form hold no objects, which would go unchecked."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for item in value:
            _check_plain(where, item)
    elif how_stored(type(value)) is not None or hasattr(value, "get_params"):
        raise ValueError(f"{where} holds a {type(value).__name__}; declare it as nested")


def _check_value(where: str, part: Part, value: Any, lengths: Lengths) -> None:
    plain = value.item() if isinstance(value, np.generic) else value
    is_truth = isinstance(plain, bool) and bool not in part.types
    if part.types and (is_truth or not isinstance(plain, part.types)):
        raise ValueError(f"{where} is {str(plain)[:40]!r}")
    if part.finite and isinstance(plain, float) and not math.isfinite(plain):
        raise ValueError(f"{where} is {plain}")
    if part.least is not None and not plain >= part.least:
        raise ValueError(f"{where} is {plain}, below {part.least}")
    most = MAX_WHOLE if part.most is None else lengths[part.most]
    if (part.most is not None or isinstance(plain, int)) and plain > most:
        raise ValueError(f"{where} is {str(plain)[:40]}, above {most}")


def _check_indices(where: str, part: Part, value: Any, lengths: Lengths, parts: Any) -> None:
    """That indices and row pointers stay within what they point to."""
    if part.below is not None and value.size:
        below = part.below
        if isinstance(below, str):
            below = lengths[below] if below in lengths else int(parts[below])
        if value.dtype.kind not in "iu" or value.min() < 0 or value.max() >= below:
            raise ValueError(f"{where} must lie from 0 to {below - 1}")
    if part.points_into is not None:
        fits = value.dtype.kind in "iu" and value.ndim == 1 and len(value) > 0 and value[0] == 0
        if not fits or (value[1:] < value[:-1]).any() or value[-1] != len(parts[part.points_into]):
            raise ValueError(f"{where} are no row pointers into {part.points_into}")


def check_foreign(estimator: Any, *, alone: bool) -> None:
    """Raise ModelFileError unless the estimator is sound and, where it is `alone`, answers."""
    try:
        check_settings(estimator)
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()  # noqa: SLF001
        _check_state(vars(estimator))
        if alone:
            _check_answer(estimator)
    except FAILURES as error:
        raise ModelFileError(
            f"the model file is not sound (its {type(estimator).__name__} cannot answer: "
            f"{str(error)[:200]}); save the model again"
        ) from error


def _check_state(state: dict[str, Any]) -> None:
    if state.get("input", "content") != "content":
        raise ValueError("it would read files in place of texts")
    vocabulary = state.get("vocabulary_")
    if vocabulary is not None and sorted(vocabulary.values()) != list(range(len(vocabulary))):
        raise ValueError("the vocabulary does not number its terms 0, 1, 2, ...")
    width = state.get("n_features_in_", 0)
    if type(width) is not int or not 0 <= width <= _MOST_FEATURES:
        raise ValueError("number of features")
    for names in (_WEIGHTS, _INTERCEPTS):
        arrays = [state[name] for name in names if isinstance(state.get(name), np.ndarray)]
        if len({(array.shape, array.dtype if "t_" in state else "") for array in arrays}) > 1:
            raise ValueError("weights of unequal shapes")
        if names is _WEIGHTS and any(array.shape[-1] != width for array in arrays):
            raise ValueError("weights of other features")
    if "tree_" in state:
        tree = state["tree_"]
        if tree.n_features != width or list(tree.n_classes) != list(
            np.atleast_1d(state.get("n_classes_", 1))
        ):
            raise ValueError("the tree has other features or classes")
    for member in state.get("estimators_", []):
        if "tree_" in state.keys() | vars(member).keys() and member.n_features_in_ != width:
            raise ValueError("a tree of other features")
    if "_fit_X" in state:
        _check_neighbors(state, width)


def _check_neighbors(state: dict[str, Any], width: int) -> None:
    kept, labels, classes = state["_fit_X"], state["_y"], state["classes_"]
    columns = labels.reshape(len(labels), -1)
    classes = classes if isinstance(classes, list) else [classes]
    if kept.shape != (state["n_samples_fit_"], width) or len(labels) != kept.shape[0]:
        raise ValueError("neighbors of other features, or without labels")
    if labels.dtype.kind not in "iu" or columns.shape[1] != len(classes):
        raise ValueError("labels that are no numbers of classes")
    most = np.array([len(names) for names in classes])
    if columns.min(initial=0) < 0 or (columns >= most).any():
        raise ValueError("labels beyond the classes")


def _check_answer(estimator: Any) -> None:
    """Let it answer once; each answer must have a value for each class."""
    if get_tags(estimator).input_tags.string:
        row: Any = ["a text"]
    elif hasattr(estimator, "n_features_in_"):
        shape = (1, estimator.n_features_in_)
        row = np.zeros(shape) if shape[1] < _DENSE else sp.csr_array(shape)
    else:
        return
    classes = getattr(estimator, "classes_", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in _METHODS:
            if hasattr(estimator, method):
                _check_widths(getattr(estimator, method)(row), classes, method)


def _check_widths(answer: Any, classes: Any, method: str) -> None:
    if isinstance(answer, list):
        for one, names in zip(answer, classes, strict=True):
            _check_widths(one, names, method)
        return
    if answer.shape[0] != 1:
        raise ValueError(f"{method} gives {answer.shape[0]} rows for one")
    is_score = method in ("predict_proba", "decision_function")
    if is_score and answer.ndim == 2 and answer.shape[1] != len(classes):
        raise ValueError(f"{answer.shape[1]} scores for {len(classes)} classes")


def is_tree(value: object) -> bool:
    cls = type(value)
    return cls.__name__ == "Tree" and cls.__module__ == "sklearn.tree._tree"


def tree_state(tree: Any) -> dict[str, Any]:
    """The numbers that make up a tree."""
    inner = tree.__getstate__()
    nodes = inner["nodes"]
    return {
        "n_features": int(tree.n_features),
        "n_classes": np.asarray(tree.n_classes, dtype=np.intp),
        "max_depth": int(inner["max_depth"]),
        "values": inner["values"],
        "nodes": {name: np.ascontiguousarray(nodes[name]) for name in nodes.dtype.names},
    }


def tree_of(parts: Any) -> Any:
    """The tree of `tree_state`, or a ModelFileError where it is not sound."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    dtype = np.dtype(NODE_DTYPE)
    try:
        columns, values, n_classes = parts["nodes"], parts["values"], parts["n_classes"]
        n_nodes, n_outputs = len(columns["left_child"]), len(n_classes)
        if set(columns) != set(dtype.names or ()):
            raise ModelFileError(
                "the decision tree in the model was made by another version of scikit-learn; "
                "use that version, or train again"
            )
        nodes = np.zeros(n_nodes, dtype=dtype)
        for name, column in columns.items():
            if column.shape != (n_nodes,) or column.dtype != dtype[name]:
                raise ValueError(name)
            nodes[name] = column
        _check_tree(nodes, values, n_classes, parts["n_features"], parts["max_depth"])
        tree = Tree(parts["n_features"], n_classes, n_outputs)
        inner = {"max_depth": parts["max_depth"], "node_count": n_nodes}
        tree.__setstate__({**inner, "nodes": nodes, "values": np.ascontiguousarray(values)})
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"the decision tree in the model is not sound ({error}); train and save it again"
        ) from error
    return tree


def _check_tree(nodes: Any, values: Any, n_classes: Any, n_features: int, max_depth: int) -> None:
    n_nodes = len(nodes)
    if n_classes.dtype != np.intp or n_classes.ndim != 1 or not (n_classes >= 1).all():
        raise ValueError("class counts")
    if values.dtype != np.float64 or values.shape != (n_nodes, len(n_classes), max(n_classes)):
        raise ValueError("values")
    if n_nodes < 1 or type(n_features) is not int or not 0 < n_features < 2**31:
        raise ValueError("number of nodes or features")
    if type(max_depth) is not int or not 0 <= max_depth < n_nodes:
        raise ValueError("depth")
    left, right = nodes["left_child"], nodes["right_child"]
    inner = left != -1
    after = np.arange(n_nodes)
    if ((right != -1) != inner).any():
        raise ValueError("half a leaf")
    for child in (left, right):
        if (child[inner] <= after[inner]).any() or (child >= n_nodes).any():
            raise ValueError("children")
    if np.bincount(np.concatenate((left[inner], right[inner])), minlength=1).max() > 1:
        raise ValueError("a node with two parents")
    if _depth(left, right, inner) > max_depth:
        raise ValueError("depth")
    feature = nodes["feature"][inner]
    if (feature < 0).any() or (feature >= n_features).any():
        raise ValueError("features")


def _depth(left: Any, right: Any, inner: Any) -> int:
    depth, level = 0, np.flatnonzero(inner[:1])
    while len(level):
        depth += 1
        children = np.concatenate((left[level], right[level]))
        level = children[inner[children]]
    return depth
