"""scikit-multilearn-ng's ML-kNN, ten neighbours."""

import numpy as np
from exchange import Task, measure
from skmultilearn.adapt import MLkNN


def fit(task: Task) -> MLkNN:
    return MLkNN(k=10, s=1.0).fit(task.X.astype(np.float64), task.Y.astype(np.int64).tolil())


def score(model: MLkNN, X, texts):
    return model.predict_proba(X.astype(np.float64)).toarray()


measure(fit, score, cut=0.5)
