"""LIBLINEAR's Python interface, one problem a label, threads over labels; METHOD is its solver."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from exchange import Task, measure
from liblinear.liblinear import problem
from liblinear.liblinearutil import parameter, train

SOLVERS = {"SVM": "-s 1 -B 1 -q", "logistic regression": "-s 7 -B 1 -q"}


def fit(task: Task):
    columns = task.Y.tocsc()
    whole = problem(np.ones(task.X.shape[0]), task.X.astype(np.float64), 1)
    options = parameter(SOLVERS[task.method])

    def weights(k: int):
        y = np.full(task.X.shape[0], -1.0)
        y[columns.indices[columns.indptr[k] : columns.indptr[k + 1]]] = 1.0
        one = whole.copy()
        one.y = np.ctypeslib.as_ctypes(y)
        model = train(one, options)
        sign = 1.0 if model.get_labels()[0] == 1 else -1.0
        return sign * np.ctypeslib.as_array(model.w, (whole.n,))

    with ThreadPoolExecutor(task.n_jobs) as pool:
        return np.array(list(pool.map(weights, range(task.Y.shape[1]))))


def score(W, X, texts):
    d = X.shape[1]
    return X @ W[:, :d].T + W[:, -1]


measure(fit, score, cut=0.0)
