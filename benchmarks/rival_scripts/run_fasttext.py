"""fastText's supervised mode on the texts; where there are none, on the names of the features.

One loss a label (ova) up to a thousand labels, hierarchical softmax above, as its manual advises.
"""

import fasttext
from exchange import Task, label_lists, measure, scored

MANY = 1000


def words(X, texts) -> list[str]:
    if texts is not None:
        return [" ".join(text.lower().split()) for text in texts]
    rows = (X.indices[X.indptr[i] : X.indptr[i + 1]] for i in range(X.shape[0]))
    return [" ".join(f"f{j}" for j in row) for row in rows]


class Model:
    """The network with the number of labels."""

    def __init__(self, network, n_labels: int) -> None:
        self.network, self.n_labels = network, n_labels


def prepare(task: Task) -> Task:
    """fastText reads a text file."""
    with open(task.folder / "train.txt", "w", encoding="utf-8") as file:
        for labels, line in zip(label_lists(task.Y), words(task.X, task.texts), strict=True):
            file.write(" ".join([*(f"__label__{k}" for k in labels), line]) + "\n")
    return task


def fit(task: Task) -> Model:
    network = fasttext.train_supervised(
        str(task.folder / "train.txt"), lr=0.5, epoch=25, wordNgrams=2, thread=task.n_jobs,
        loss="ova" if task.Y.shape[1] <= MANY else "hs", verbose=0,
    )  # fmt: skip
    return Model(network, task.Y.shape[1])


def score(model: Model, X, texts):
    rows = []
    for line in words(X, texts):
        found = model.network.f.predict(f"{line}\n", -1, 0.0, "strict")
        rows.append([(int(label[9:]), p) for p, label in found])
    return scored(rows, model.n_labels)


measure(fit, score, cut=0.5, prepare=prepare)
