"""river on a stream: a logistic regression per label, answered before it learns; one thread."""

import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from river.linear_model import LogisticRegression
from river.optim import Adam

EPOCHS = 5

folder, n_base = Path(sys.argv[1]), int(sys.argv[2])
X, Y = sp.load_npz(folder / "X.npz").tocsr(), np.load(folder / "Y.npy") > 0
models = [LogisticRegression(Adam(0.01)) for _ in range(Y.shape[1])]


def row(i):
    span = slice(X.indptr[i], X.indptr[i + 1])
    return dict(zip(X.indices[span].tolist(), X.data[span].tolist(), strict=True))


def learn(i):
    x = row(i)
    for model, y in zip(models, Y[i].tolist(), strict=True):
        model.learn_one(x, y)


for _ in range(EPOCHS):
    for i in range(n_base):
        learn(i)
scores = np.zeros((len(Y) - n_base, Y.shape[1]))
began = time.perf_counter()
for i in range(n_base, len(Y)):
    x = row(i)
    scores[i - n_base] = [model.predict_proba_one(x)[True] for model in models]
    learn(i)
np.save(folder / "scores.npy", scores)
print(time.perf_counter() - began)
