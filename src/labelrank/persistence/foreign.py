"""What a restored estimator of scikit-learn must be, so that it answers or is refused at once.

Its compiled loops follow labels, features and neighbors without a check; those are compared
here, and decision trees are checked in full: children come after their parent (no cycle), features
exist. For the rest an estimator answers one row of zeros when it is loaded, so that parts that do
not fit together fail there and not at the first prediction. That costs one prediction, some
tenths of a millisecond, for each estimator that no other one of scikit-learn holds.
"""

import re
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from labelrank.errors import ModelFileError
from labelrank.persistence.checks import check_settings

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


def check(estimator: Any, *, alone: bool) -> None:
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
    _check_weights(state, width)
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


def _check_weights(state: dict[str, Any], width: int) -> None:
    for names in (_WEIGHTS, _INTERCEPTS):
        arrays = [state[name] for name in names if isinstance(state.get(name), np.ndarray)]
        if len({(array.shape, array.dtype if "t_" in state else "") for array in arrays}) > 1:
            raise ValueError("weights of unequal shapes")
        if names is _WEIGHTS and any(array.shape[-1] != width for array in arrays):
            raise ValueError("weights of other features")


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
