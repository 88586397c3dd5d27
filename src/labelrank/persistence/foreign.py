"""What a restored estimator of scikit-learn must be, so that it answers or is refused at once.

Its compiled loops follow labels, features and neighbors without a check; those are compared
here. For the rest an estimator answers one row of zeros when it is loaded, so that parts that do
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
