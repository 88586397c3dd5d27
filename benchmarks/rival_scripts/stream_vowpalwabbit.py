"""Vowpal Wabbit on a stream: a logistic learner per label (multilabel_oaa), answered before it
learns; one thread."""

import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import vowpalwabbit

EPOCHS = 5

folder, n_base = Path(sys.argv[1]), int(sys.argv[2])
X, Y = sp.load_npz(folder / "X.npz").tocsr(), np.load(folder / "Y.npy") > 0
model = vowpalwabbit.Workspace(
    f"--multilabel_oaa {Y.shape[1]} --loss_function logistic --probabilities -b 24 --quiet"
)


def line(i, labels):
    span = slice(X.indptr[i], X.indptr[i + 1])
    pairs = zip(X.indices[span].tolist(), X.data[span].tolist(), strict=True)
    return f"{','.join(map(str, labels))} | " + " ".join(f"{j}:{v:.6g}" for j, v in pairs)


def learn(i):
    model.learn(line(i, np.flatnonzero(Y[i]).tolist()))


for _ in range(EPOCHS):
    for i in range(n_base):
        learn(i)
scores = np.zeros((len(Y) - n_base, Y.shape[1]))
began = time.perf_counter()
for i in range(n_base, len(Y)):
    scores[i - n_base] = model.predict(line(i, []))[-Y.shape[1] :]
    learn(i)
np.save(folder / "scores.npy", scores)
print(time.perf_counter() - began)
