"""omikuji's default model (three Parabel-like trees)."""

import omikuji
from exchange import Task, label_lists, measure, n_wanted, pairs_of, scored

BEAM = 10


class Model:
    """The trees with the number of labels they know."""

    def __init__(self, trees, task: Task) -> None:
        self.trees, self.n_labels = trees, task.Y.shape[1]
        self.top = n_wanted(task, self.n_labels)


def prepare(task: Task) -> Task:
    """omikuji reads a text file."""
    with open(task.folder / "train.txt", "w", encoding="utf-8") as file:
        file.write(f"{task.X.shape[0]} {task.X.shape[1]} {task.Y.shape[1]}\n")
        for i, labels in enumerate(label_lists(task.Y)):
            pairs = " ".join(f"{j}:{v:.7g}" for j, v in pairs_of(task.X, i))
            file.write(f"{','.join(map(str, labels))} {pairs}\n")
    return task


def fit(task: Task) -> Model:
    trees = omikuji.Model.train_on_data(str(task.folder / "train.txt"), n_threads=task.n_jobs)
    return Model(trees, task)


def score(model: Model, X, texts):
    rows = [
        model.trees.predict(list(pairs_of(X, i)), beam_size=BEAM, top_k=model.top)
        for i in range(X.shape[0])
    ]
    return scored(rows, model.n_labels)


measure(fit, score, prepare=prepare)
