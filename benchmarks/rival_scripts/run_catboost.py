"""CatBoost's loss of many labels, default settings."""

import catboost
import numpy as np
from exchange import Task, as_given, measure


class Model:
    """The booster and the task."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.booster = catboost.CatBoostClassifier(
            loss_function="MultiLogloss", thread_count=task.n_jobs, random_seed=0, verbose=0,
            allow_writing_files=False,
        )  # fmt: skip
        self.booster.fit(as_given(task, task.X, np.float32), task.Y.toarray().astype(int))


def fit(task: Task) -> Model:
    return Model(task)


def score(model: Model, X, texts):
    return model.booster.predict_proba(as_given(model.task, X, np.float32))


measure(fit, score, cut=0.5)
