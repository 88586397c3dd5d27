"""Our learners of the catalog; METHOD is a name, or `auto (CRITERION)`.

Kernels are compiled once for all processes and kept on disk: a fit of some rows loads them.
"""

import sys

from exchange import Task, measure

from labelrank import catalog


def learner(task: Task):
    name, _, criterion = task.method.partition(" (")
    made = catalog.make(name, **({"criterion": criterion.rstrip(")")} if criterion else {}))
    shared = {"random_state": 0, "n_jobs": task.n_jobs}
    return made.set_params(**{key: shared[key] for key in shared if key in made.get_params()})


def prepare(task: Task) -> Task:
    warm = learner(task).fit(task.X[:300], task.Y[:300])
    warm.decision_function(task.X[:20])
    return task


def fit(task: Task):
    return learner(task).fit(task.X, task.Y)


def score(model, X, texts):
    return model.decision_function(X)


measure(fit, score, cut=0.0, prepare=prepare, tunes_itself=sys.argv[4].startswith("auto"))
