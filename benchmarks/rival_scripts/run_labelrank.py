"""Our learners of the catalog; METHOD is a name, or `auto (CRITERION)`.

Kernels are compiled once for all processes and kept on disk: a fit of some rows loads them.
"""

import sys

from exchange import Task, as_given, measure

from labelrank import catalog


def learner(task: Task):
    name, _, criterion = task.method.partition(" (")
    made = catalog.make(name, **({"criterion": criterion.rstrip(")")} if criterion else {}))
    shared = {"random_state": 0, "n_jobs": task.n_jobs}
    return made.set_params(**{key: shared[key] for key in shared if key in made.get_params()})


def prepare(task: Task) -> Task:
    X = as_given(task, task.X)
    warm = learner(task).fit(X[:300], task.Y[:300])
    warm.decision_function(X[:20])
    return task


class Model:
    """The learner, and the task that says in which form it takes features."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.learner = learner(task).fit(as_given(task, task.X), task.Y)


def fit(task: Task) -> Model:
    return Model(task)


def score(model: Model, X, texts):
    return model.learner.decision_function(as_given(model.task, X))


CUT = 0.5 if sys.argv[4] == "forest" else 0.0  # its scores are shares
measure(fit, score, cut=CUT, prepare=prepare, tunes_itself=sys.argv[4].startswith("auto"))
