"""napkinXC's probabilistic label tree, or logistic one-vs-rest (method BR), default settings."""

import shutil

from exchange import Task, label_lists, measure, n_wanted, scored
from napkinxc.models import BR, PLT

TOP = 100


class Model:
    """The tree with the number of labels it knows."""

    def __init__(self, tree, task: Task) -> None:
        self.tree, self.n_labels = tree, task.Y.shape[1]
        self.top = n_wanted(task, TOP)


def fit(task: Task) -> Model:
    folder = task.folder / "model"
    shutil.rmtree(folder, ignore_errors=True)
    kind = BR if task.method == "BR" else PLT
    tree = kind(str(folder), threads=task.n_jobs)
    tree.fit(task.X, label_lists(task.Y))
    tree.load()
    return Model(tree, task)


def score(model: Model, X, texts):
    found = model.tree.predict_proba(X, top_k=model.top)
    return scored(found, model.n_labels)


measure(fit, score, cut=0.5)
