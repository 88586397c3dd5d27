"""PECOS' XR-Linear with its default settings; run by its own Python: FOLDER N_JOBS."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel

folder, n_jobs = Path(sys.argv[1]), int(sys.argv[2])
X, Y, X_test = (
    sp.load_npz(folder / f"{part}.npz").tocsr().astype(np.float32) for part in ("X", "Y", "X_test")
)
start = time.perf_counter()
features = LabelEmbeddingFactory.create(Y, X, method="pifa")
chain = Indexer.gen(features, indexer_type="hierarchicalkmeans", threads=n_jobs)
model = XLinearModel.train(X, Y, C=chain, threads=n_jobs)
fitted = time.perf_counter() - start
start = time.perf_counter()
found = model.predict(X_test, only_topk=5, threads=n_jobs).tocsr()
predicted = time.perf_counter() - start
top = np.zeros((X_test.shape[0], 5), dtype=np.int64)
for i in range(X_test.shape[0]):
    row = slice(found.indptr[i], found.indptr[i + 1])
    best = found.indices[row][np.argsort(-found.data[row], kind="stable")][:5]
    top[i, : len(best)] = best
np.save(folder / "top.npy", top)
status = Path("/proc/self/status").read_text(encoding="ascii")
peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
print(json.dumps({"fit_s": fitted, "predict_s": predicted, "peak_mib": round(peak)}))
