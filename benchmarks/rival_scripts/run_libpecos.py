"""PECOS' XR-Linear, default settings."""

import numpy as np
from exchange import Task, measure, n_wanted
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel


class Model:
    """The trees, and how they are asked."""

    def __init__(self, trees: XLinearModel, task: Task) -> None:
        self.trees, self.threads = trees, task.n_jobs
        self.top = n_wanted(task, task.Y.shape[1])


def fit(task: Task) -> Model:
    X, Y = task.X.astype(np.float32), task.Y.astype(np.float32)
    features = LabelEmbeddingFactory.create(Y, X, method="pifa")
    chain = Indexer.gen(features, indexer_type="hierarchicalkmeans", threads=task.n_jobs)
    return Model(XLinearModel.train(X, Y, C=chain, threads=task.n_jobs), task)


def score(model: Model, X, texts):
    X = X.astype(np.float32)
    return model.trees.predict(X, only_topk=model.top, threads=model.threads).tocsr()


measure(fit, score)
