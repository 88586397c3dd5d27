"""Vowpal Wabbit: one logistic learner a label (multilabel_oaa), ten passes; one thread."""

import vowpalwabbit
from exchange import Task, label_lists, measure, pairs_of, scored

PASSES = 10
BITS = 24


def lines(X, labels) -> list[str]:
    rows = (" ".join(f"{j}:{v:.6g}" for j, v in pairs_of(X, i)) for i in range(X.shape[0]))
    return [f"{','.join(map(str, given))} | {row}" for given, row in zip(labels, rows, strict=True)]


def write(path, rows: list[str]) -> None:
    path.write_text("\n".join(rows) + "\n", encoding="ascii")


class Model:
    """The file of the learned weights, and what else prediction needs."""

    def __init__(self, task: Task) -> None:
        self.folder, self.n_labels = task.folder, task.Y.shape[1]
        self.weights = task.folder / "weights.vw"


def prepare(task: Task) -> Task:
    """Vowpal Wabbit reads a text file."""
    write(task.folder / "train.vw", lines(task.X, label_lists(task.Y)))
    return task


def fit(task: Task) -> Model:
    model = Model(task)
    learner = vowpalwabbit.Workspace(
        f"--multilabel_oaa {model.n_labels} --loss_function logistic -b {BITS} --passes {PASSES} "
        f"--holdout_off -k --cache_file {task.folder}/train.cache -d {task.folder}/train.vw "
        f"-f {model.weights} --quiet"
    )
    learner.finish()
    return model


def score(model: Model, X, texts):
    """It answers with sets alone: the labels of a set score 1."""
    write(model.folder / "test.vw", lines(X, [[]] * X.shape[0]))
    answers = model.folder / "answers.txt"
    learner = vowpalwabbit.Workspace(
        f"-i {model.weights} -t -d {model.folder}/test.vw -p {answers} --quiet"
    )
    learner.finish()
    rows = answers.read_text(encoding="ascii").splitlines()
    return scored([[(int(k), 1.0) for k in row.split(",") if k.strip()] for row in rows],
                  model.n_labels)  # fmt: skip


measure(fit, score, cut=0.5, prepare=prepare)
