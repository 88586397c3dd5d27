"""Capacity control: one parameter against training and test error, so that over-fitting shows."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sklearn.base import clone

from labelrank.metrics import get_scorer


class CapacityPoint(NamedTuple):
    """The value of a parameter, and the errors of a learner that was given it."""

    value: Any
    training_error: float
    test_error: float


def capacity_curve(
    learner: Any,
    parameter: str,
    values: Iterable[Any],
    train: tuple[Any, Any],
    test: tuple[Any, Any],
    *,
    scorer: str = "micro_f1",
) -> list[CapacityPoint]:
    """Training and test error of a learner along a parameter that controls its capacity.

    Where the training error still falls and the test error rises, the learner over-fits.

    Parameters
    ----------
    learner : estimator
    parameter : str
        Its name, as in `set_params`: C, n_neighbors, alpha, estimator__C, ...
    values : iterable
    train, test : (X, Y)
    scorer : str
        A scorer of `labelrank.metrics.get_scorer`. The error is 1 - its value, or the loss itself
        where it is one.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import InvertedIndexKNN
    >>> from labelrank.evaluation import capacity_curve
    >>> random = np.random.default_rng(0)
    >>> X = random.random((60, 5))
    >>> Y = (X[:, :2] + 0.3 * random.normal(size=(60, 2)) > 0.5).astype(int)
    >>> data = (X[:40], Y[:40]), (X[40:], Y[40:])
    >>> curve = capacity_curve(InvertedIndexKNN(), "n_neighbors", [1, 10], *data)
    >>> curve[0].training_error, curve[0].test_error > curve[1].test_error
    (0.0, True)
    """
    criterion = get_scorer(scorer)
    is_loss = getattr(criterion, "sign", 1) < 0

    def error(fitted: Any, part: tuple[Any, Any]) -> float:
        value = float(criterion(fitted, *part))
        return -value if is_loss else 1.0 - value

    points = []
    for value in values:
        fitted = clone(learner).set_params(**{parameter: value}).fit(*train)
        points.append(CapacityPoint(value, error(fitted, train), error(fitted, test)))
    return points


def draw_capacity(points: Sequence[CapacityPoint], parameter: str, ax: Any = None) -> Any:
    """Both errors along the parameter; returns the axes.

    >>> points = [CapacityPoint(0.1, 0.3, 0.4), CapacityPoint(1.0, 0.1, 0.5)]
    >>> draw_capacity(points, "C").get_xlabel()
    'C'
    """
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(5, 3.5), layout="constrained").subplots()
    values = [point.value for point in points]
    ax.plot(values, [point.training_error for point in points], "o-", label="training error")
    ax.plot(values, [point.test_error for point in points], "s--", label="test error")
    if min(values) > 0 and max(values) >= 20 * min(values):
        ax.set_xscale("log")
    ax.set_xlabel(parameter)
    ax.set_ylabel("error")
    ax.legend()
    return ax
