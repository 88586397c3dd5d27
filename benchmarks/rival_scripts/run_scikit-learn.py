"""scikit-learn's linear classifiers, one against the rest, threads over labels."""

import joblib
import numpy as np
from exchange import Task, measure
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

METHODS = {"LinearSVC": LinearSVC, "SGD": SGDClassifier}


def fit(task: Task):
    model = OneVsRestClassifier(METHODS[task.method](random_state=0), n_jobs=task.n_jobs)
    with joblib.parallel_backend("threading"):
        return model.fit(task.X.astype(np.float64), task.Y.astype(np.int64))


def score(model, X, texts):
    """A label without an example scores 0 there, above most: here it comes last."""
    scores = model.decision_function(X.astype(np.float64))
    scores[:, [not hasattr(one, "coef_") for one in model.estimators_]] = -1e6
    return scores


measure(fit, score, cut=0.0)
