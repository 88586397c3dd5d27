"""Criteria of multi-dimensional targets: each column of Y holds codes or names of classes.

They are compared for equality only. A NaN in Y is an unknown value: its column is left out of
that instance. On 0/1 matrices these are `subset_accuracy` and 1 - `hamming_loss`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.metrics._common import answer, check_same_shape, documented_like, member_of
from labelrank.relevance import missing, numbers_of


@documented_like(answer)
def of_classes(
    values_of: Callable[[Array, Array], Array], Y: Any, predicted: Any, *,
    sample_weight: Any = None, per_instance: bool = False,
) -> float | Array:  # fmt: skip
    """The family of the criteria of class codes, from the entries that agree and are known.

    Parameters
    ----------
    Y, predicted : arrays (n, L) of numbers or texts
    """
    Y, predicted = _check_codes(Y, "Y"), _check_codes(predicted, "predicted")
    check_same_shape(Y, predicted, "predicted")
    if (Y.dtype.kind in "biuf") != (predicted.dtype.kind in "biuf"):
        raise InputError("got texts on one side and numbers on the other; give the same classes")
    known = ~missing(Y)
    values = values_of((predicted == Y) & known, known)
    return answer(values, sample_weight=sample_weight, per_instance=per_instance)


def _check_codes(codes: Any, name: str) -> Array:
    codes = codes.toarray() if sp.issparse(codes) else numbers_of(np.asarray(codes))
    if codes.ndim != 2 or codes.shape[1] == 0 or codes.dtype.kind not in "biufUSO":
        raise InputError(
            f"got {name} of shape {codes.shape} and type {codes.dtype}; "
            "give a matrix of class codes or names, one column per target"
        )
    return codes if codes.dtype.kind in "biuf" else codes.astype(object)


@member_of(of_classes)
def exact_match(agree: Array, known: Array) -> Array:
    r"""1 if every target of the instance is predicted right, else 0 (larger is better).

    .. math:: [\, y_\ell = \hat y_\ell \ \text{for all}\ \ell \,]

    Examples
    --------
    >>> exact_match([[2, 0], [1, 3]], [[2, 0], [1, 1]])
    0.5
    """
    return (agree == known).all(axis=1).astype(float)


@member_of(of_classes)
def hamming_score(agree: Array, known: Array) -> Array:
    r"""Share of the targets of an instance that are predicted right (larger is better).

    .. math:: \frac1L \sum_{\ell=1}^{L} [\, y_\ell = \hat y_\ell \,]

    1 for an instance whose targets are all unknown.

    Examples
    --------
    >>> hamming_score([[2, 0], [1, 3]], [[2, 0], [1, 1]])
    0.75
    """
    total = known.sum(axis=1)
    return np.where(total > 0, agree.sum(axis=1) / np.maximum(total, 1), 1.0)
