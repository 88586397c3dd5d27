"""Are probabilities true? Calibrated ones beside the guess and the sigmoid of the raw scores.

Run by `make bench`, or alone: `python -m benchmarks probabilities [--quick]`. Expected calibration
error in ten bins, and mean log loss of all entries, on the test part.
"""

import warnings
from typing import Any

import numpy as np
from scipy.special import expit

from labelrank import CalibratedRanker, TextVectorizer, catalog, datasets
from labelrank.metrics import reliability

DATA = ("debtags-sample", "yeast", "reuters21578")
LEARNERS = ("BR", "BSVM")


def run(quick: bool = False) -> list[dict[str, Any]]:
    return [
        {"name": f"{name}, {learner}, {way}", "calibration_error": error, "log_loss": loss}
        for name in DATA[: 2 if quick else None]
        for learner in LEARNERS
        for way, error, loss in _measured(name, learner)
    ]


def _measured(name: str, learner: str) -> list[tuple[str, float, float]]:
    data = datasets.load(name)
    train, test = data.train, data.test
    X, X_test = train.X, test.X
    if X is None:
        vectorizer = TextVectorizer()
        X = vectorizer.fit_transform(train.texts)
        X_test = vectorizer.transform(test.texts)
    ranker = CalibratedRanker(catalog.make(learner, seed=0), random_state=0).fit(X, train.Y)
    truth, raw = test.Y.toarray() > 0, ranker.estimator_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        guess = raw.predict_proba(X_test)
    ways = {
        f"calibrated ({ranker.calibration_.kind})": ranker.predict_proba(X_test),
        "guessed": guess,
        "sigmoid of the score": expit(raw.decision_function(X_test).astype(np.float64)),
        "share of relevant entries": np.full(
            truth.shape, (train.Y > 0).sum() / np.prod(train.Y.shape)
        ),
    }
    return [(way, _error(truth, shares), _log_loss(truth, shares)) for way, shares in ways.items()]


def _error(truth: Any, shares: Any) -> float:
    return reliability(truth.astype(np.int8), shares).expected_calibration_error


def _log_loss(truth: Any, shares: Any) -> float:
    right = np.where(truth, shares, 1.0 - shares)
    return float(-np.log(np.maximum(right, 1e-12)).mean())
