"""What macOS and Windows do not have is taken away: everything that a user does still works.

This is no proof that it works there, but it holds what was found to fail there.
"""

import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, json, multiprocessing, os, signal, sys, types
import joblib, matplotlib.figure, numba, numpy as np, platformdirs, polars, psutil
import sklearn.linear_model

missing = {"sysconf", "sysconf_names", "sched_getaffinity"}  # what macOS has not, or less of
if sys.argv[1] == "windows":
    missing |= {
        "fork", "forkpty", "getuid", "geteuid", "getgid", "killpg", "setsid", "mkfifo", "pread",
        "O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "fchmod", "getpgid", "register_at_fork",
    }
    for name in ("fcntl", "resource", "pwd", "grp", "termios"):
        sys.modules[name] = None
    sys.modules["msvcrt"] = types.SimpleNamespace(locking=lambda *_: None, LK_NBLCK=2)
    for name in ("SIGALRM", "SIGKILL", "SIGHUP", "pthread_sigmask", "pthread_kill", "pause"):
        delattr(signal, name)
    library = ctypes.CDLL
    def load(name, *others, **options):
        if name is None:
            raise TypeError("no library of the process itself")
        return library(name, *others, **options)
    ctypes.CDLL = load
    class Memory:
        peak_wset, rss = 2**27, 2**26
    psutil.Process.memory_info = lambda process: Memory()
for name in missing & set(dir(os)):
    delattr(os, name)

from labelrank import Tagger, catalog, persistence
from labelrank.evaluation import workers
from labelrank.evaluation.store import CellStore

workers._RESET = workers._STATUS = workers.Path("no such file")
random = np.random.default_rng(0)
X, Y = random.random((40, 6)), (random.random((40, 4)) > 0.5).astype(int)
for name in ("BR", "CMLPC", "BSVM", "LP", "kNN", "NB"):
    catalog.make(name).fit(X, Y).predict(X)
tagger = Tagger().fit(["wheat and rye", "crude oil"] * 4, [["grain"], ["oil"]] * 4)
persistence.save(tagger, "model.labelrank")
assert persistence.load("model.labelrank").predict(["rye"]) == [["grain"]]
with CellStore("results") as store:
    store.add({"fingerprint": "a", "value": 1.0})
with workers.PeakMemory() as peak:
    pass
from labelrank.cli import main
open("more.jsonl", "w").write('{"text": "oil", "labels": ["oil"]}\\n')
for arguments in ("learn model.labelrank more.jsonl", "predict model.labelrank more.jsonl"):
    sys.argv = ["labelrank", *arguments.split()]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, arguments
print("done")
"""


@pytest.mark.parametrize("system", ["macos", "windows"])
def test_what_another_system_lacks_is_not_needed(system, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, system], cwd=tmp_path, timeout=300, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.endswith("done\n"), done.stderr
