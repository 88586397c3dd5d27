"""Learning curves for the page: measured, or from the file that `labelrank learn --curve` wrote."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labelrank.errors import InputError, MissingError
from labelrank.evaluation.curves import LearningPoint
from labelrank.report.results import LearningCurve

_MEASURED = ("micro_f1", "macro_f1", "precision_at_1", "ranking_loss")
_PREQUENTIAL = ("precision_at_1", "average_precision", "ranking_loss", "is_error")
_MOST_POINTS = 400


def of_parts(points: Sequence[LearningPoint]) -> LearningCurve:
    """The curve that `evaluation.learning_curve` measured.

    >>> of_parts([LearningPoint(10, {"micro_f1": 0.5})]).values
    {'micro_f1': [0.5]}
    """
    return LearningCurve(
        "Fresh copies of the model each learned a larger part of the training documents. All were "
        "tested on the documents of this page.",
        [point.n_learned for point in points],
        {
            name: [point.criteria[name] for point in points]
            for name in _MEASURED
            if points and name in points[0].criteria
        },
    )


def of_stream(points: Sequence[Any]) -> LearningCurve:
    """The curve of `evaluation.prequential`, by the latest examples at each point.

    >>> from labelrank.evaluation import CurvePoint
    >>> of_stream([CurvePoint(100, {"average_precision_loss": 0.25}, {})]).values
    {'average_precision': [0.75]}
    """
    step = -(-len(points) // _MOST_POINTS) or 1
    kept = list(points)[::step]
    recent = [dict(point.recent) for point in kept]
    for values in recent:
        if "average_precision_loss" in values:
            values["average_precision"] = 1.0 - values["average_precision_loss"]
    named = [name for name in _PREQUENTIAL if recent and all(name in one for one in recent)]
    return LearningCurve(
        "Each example was first ranked by what had been learned before it, then learned. Each "
        "point is the mean since the point before it.",
        [point.n_seen for point in kept],
        {name: [one[name] for one in recent] for name in named},
    )


def read_learning_curve(path: str | os.PathLike[str]) -> LearningCurve:
    """The curve in a file of JSON lines, as `labelrank learn --curve` writes it."""
    from labelrank.evaluation import CurvePoint

    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise MissingError(f"{path} cannot be read ({error.strerror}); give a file") from error
    try:
        records = [json.loads(line) for line in lines if line.strip()]
        points = [CurvePoint(int(r["n_seen"]), r["recent"], r["overall"]) for r in records]
        curve = of_stream(points)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is no learning curve; give a file that labelrank learn --curve wrote"
        ) from error
    if not curve.values:
        raise InputError(f"{path} holds no point of a curve; let labelrank learn --curve write it")
    return curve
