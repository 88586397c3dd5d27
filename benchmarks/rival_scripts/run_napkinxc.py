"""napkinXC's probabilistic label tree, default settings; run by its own Python: FOLDER N_JOBS."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from napkinxc.models import PLT

folder, n_jobs = Path(sys.argv[1]), int(sys.argv[2])
X, Y, X_test = (sp.load_npz(folder / f"{part}.npz").tocsr() for part in ("X", "Y", "X_test"))
labels = [Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tolist() for i in range(Y.shape[0])]
start = time.perf_counter()
model = PLT(str(folder / "model"), threads=n_jobs)
model.fit(X, labels)
fitted = time.perf_counter() - start
model.load()
start = time.perf_counter()
found = model.predict(X_test, top_k=5)
predicted = time.perf_counter() - start
top = np.zeros((X_test.shape[0], 5), dtype=np.int64)
for i, best in enumerate(found):
    top[i, : len(best)] = best[:5]
np.save(folder / "top.npy", top)
status = Path("/proc/self/status").read_text(encoding="ascii")
peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
print(json.dumps({"fit_s": fitted, "predict_s": predicted, "peak_mib": round(peak)}))
