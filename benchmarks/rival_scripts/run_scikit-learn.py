"""scikit-learn's classifiers: one against the rest, or all labels at once where they can.

METHOD may end in ", scaled": columns get variance 1 (dense ones mean 0, too).
"""

import sys

import joblib
import numpy as np
from exchange import Task, as_given, measure
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

PER_LABEL = {
    "LinearSVC": lambda: LinearSVC(random_state=0),
    "LinearSVC balanced": lambda: LinearSVC(random_state=0, class_weight="balanced"),
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    "SGD": lambda: SGDClassifier(random_state=0),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
}
AT_ONCE = {
    "random forest": lambda n: RandomForestClassifier(random_state=0, n_jobs=n),
    "extra trees": lambda n: ExtraTreesClassifier(random_state=0, n_jobs=n),
    "MLP": lambda n: MLPClassifier(random_state=0, early_stopping=False),
}
METHOD = sys.argv[4].removesuffix(", scaled")
NEEDS_DENSE = METHOD == "HistGradientBoosting"


class Model:
    """The classifier, and how its features are made."""

    def __init__(self, task: Task) -> None:
        self.task, self.scaler = task, None
        if task.method.endswith(", scaled"):
            self.scaler = StandardScaler(with_mean=task.dense)
        X = as_given(task, task.X)
        X = X if self.scaler is None else self.scaler.fit_transform(X)
        X = X.toarray() if NEEDS_DENSE and not task.dense else X
        Y = task.Y.astype(np.int64)
        if METHOD in PER_LABEL:
            self.classifier = OneVsRestClassifier(PER_LABEL[METHOD](), n_jobs=task.n_jobs)
            with joblib.parallel_backend("threading"):
                self.classifier.fit(X, Y)
        else:
            self.classifier = AT_ONCE[METHOD](task.n_jobs).fit(X, Y.toarray())

    def score(self, X):
        X = as_given(self.task, X)
        X = X if self.scaler is None else self.scaler.transform(X)
        X = X.toarray() if NEEDS_DENSE and not self.task.dense else X
        if METHOD in AT_ONCE:
            return self._shares(self.classifier.predict_proba(X))
        by_margin = hasattr(self.classifier, "decision_function")
        scores = self.classifier.decision_function(X) if by_margin else None
        scores = np.asarray(scores).reshape(X.shape[0], -1)
        # A label without an example scores 0 there, above most: here it comes last.
        known = [hasattr(one, "classes_") and len(one.classes_) == 2
                 for one in self.classifier.estimators_]  # fmt: skip
        scores[:, np.logical_not(known)] = -1e6
        return scores

    def _shares(self, given):
        if not isinstance(given, list):
            return given
        pairs = zip(given, self.classifier.classes_, strict=True)
        return np.column_stack([p @ (np.asarray(classes) > 0) for p, classes in pairs])


def fit(task: Task) -> Model:
    return Model(task)


def score(model: Model, X, texts):
    return model.score(X)


measure(fit, score, cut=0.5 if METHOD in AT_ONCE else 0.0)
