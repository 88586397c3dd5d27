"""LibMultiLabel's linear classifiers, default settings; METHOD is the name of its function."""

import numpy as np
import scipy.sparse as sp
from exchange import Task, measure
from libmultilabel import linear

METHODS = {
    "1vsrest": linear.train_1vsrest,
    "thresholding": linear.train_thresholding,
    "tree": linear.train_tree,
}


def fit(task: Task):
    options = f"-m {task.n_jobs}" if task.method == "tree" else f"-B 1 -m {task.n_jobs}"
    X, Y = task.X.astype(np.float64), task.Y.astype(np.int64)
    return METHODS[task.method](Y, X, options=options, verbose=False)


def score(model, X, texts):
    found = np.asarray(linear.predict_values(model, X.astype(np.float64)))
    return sp.csr_matrix(found) if isinstance(model, linear.TreeModel) else found


def main() -> None:
    import sys

    measure(fit, score, cut=None if sys.argv[4] == "tree" else 0.0)


main()
