"""napkinXC's probabilistic label tree, default settings."""

import shutil

from exchange import Task, label_lists, measure, scored
from napkinxc.models import PLT

TOP = 100


class Model:
    """The tree with the number of labels it knows."""

    def __init__(self, tree, n_labels: int) -> None:
        self.tree, self.n_labels = tree, n_labels


def fit(task: Task) -> Model:
    folder = task.folder / "model"
    shutil.rmtree(folder, ignore_errors=True)
    tree = PLT(str(folder), threads=task.n_jobs)
    tree.fit(task.X, label_lists(task.Y))
    tree.load()
    return Model(tree, task.Y.shape[1])


def score(model: Model, X, texts):
    found = model.tree.predict_proba(X, top_k=min(TOP, model.n_labels))
    return scored(found, model.n_labels)


measure(fit, score, cut=0.5)
