"""PECOS' XR-Linear, default settings."""

import numpy as np
from exchange import Task, measure
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel

THREADS = {}


def fit(task: Task) -> XLinearModel:
    X, Y = task.X.astype(np.float32), task.Y.astype(np.float32)
    features = LabelEmbeddingFactory.create(Y, X, method="pifa")
    chain = Indexer.gen(features, indexer_type="hierarchicalkmeans", threads=task.n_jobs)
    model = XLinearModel.train(X, Y, C=chain, threads=task.n_jobs)
    THREADS[id(model)] = task.n_jobs
    return model


def score(model: XLinearModel, X, texts):
    X = X.astype(np.float32)
    return model.predict(X, only_topk=model.nr_labels, threads=THREADS[id(model)]).tocsr()


measure(fit, score)
