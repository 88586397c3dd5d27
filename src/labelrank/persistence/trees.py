"""scikit-learn's compiled decision tree as plain arrays, and back.

Its prediction loop follows child and feature numbers without a check, so a tree from a file is
checked here in full: children come after their parent (no cycle), features exist.
"""

from typing import Any

import numpy as np

from labelrank.errors import ModelFileError


def is_tree(value: object) -> bool:
    cls = type(value)
    return cls.__name__ == "Tree" and cls.__module__ == "sklearn.tree._tree"


def state(tree: Any) -> dict[str, Any]:
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


def rebuild(parts: Any) -> Any:
    """The tree of `state`, or a ModelFileError where it is not sound."""
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
        _check(nodes, values, n_classes, parts["n_features"], parts["max_depth"])
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


def _check(nodes: Any, values: Any, n_classes: Any, n_features: int, max_depth: int) -> None:
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
