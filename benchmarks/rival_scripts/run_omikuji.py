"""omikuji's default model (Parabel-like trees); run by its own Python: FOLDER N_JOBS."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import omikuji
import scipy.sparse as sp

folder, n_jobs = Path(sys.argv[1]), int(sys.argv[2])
X, Y, X_test = (sp.load_npz(folder / f"{part}.npz").tocsr() for part in ("X", "Y", "X_test"))
with open(folder / "train.txt", "w", encoding="utf-8") as file:
    file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
    for i in range(X.shape[0]):
        labels = ",".join(map(str, Y.indices[Y.indptr[i] : Y.indptr[i + 1]]))
        row = slice(X.indptr[i], X.indptr[i + 1])
        pairs = " ".join(f"{j}:{v:.7g}" for j, v in zip(X.indices[row], X.data[row]))
        file.write(f"{labels} {pairs}\n")
start = time.perf_counter()
model = omikuji.Model.train_on_data(str(folder / "train.txt"), n_threads=n_jobs)
fitted = time.perf_counter() - start
start = time.perf_counter()
top = np.zeros((X_test.shape[0], 5), dtype=np.int64)
for i in range(X_test.shape[0]):
    row = slice(X_test.indptr[i], X_test.indptr[i + 1])
    pairs = [(int(j), float(v)) for j, v in zip(X_test.indices[row], X_test.data[row])]
    for place, (label, _) in enumerate(model.predict(pairs, top_k=5)):
        top[i, place] = label
predicted = time.perf_counter() - start
np.save(folder / "top.npy", top)
status = Path("/proc/self/status").read_text(encoding="ascii")
peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
print(json.dumps({"fit_s": fitted, "predict_s": predicted, "peak_mib": round(peak)}))
