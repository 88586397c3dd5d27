"""LightGBM, default settings, one label after the other."""

import lightgbm
import numpy as np
from exchange import Task, as_given, measure


class Model:
    """A booster per label; None where all instances are alike."""

    def __init__(self, task: Task) -> None:
        self.task, self.boosters = task, []
        X, Y = as_given(task, task.X, np.float32), task.Y.toarray()
        for y in Y.T:
            made = lightgbm.LGBMClassifier(n_jobs=task.n_jobs, verbose=-1, random_state=0)
            self.boosters.append(made.fit(X, y > 0) if 0 < y.sum() < len(y) else y.mean())


def fit(task: Task) -> Model:
    return Model(task)


def score(model: Model, X, texts):
    X = as_given(model.task, X, np.float32)
    return np.column_stack([
        np.full(X.shape[0], one) if isinstance(one, float | np.floating)
        else one.predict_proba(X)[:, 1]
        for one in model.boosters
    ])  # fmt: skip


measure(fit, score, cut=0.5)
