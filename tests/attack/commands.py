"""The command line under faults: signals at random moments, no room, folder, home or streams.

Whatever happens, a model file is what it was or a whole new one, what whole batches taught is
kept, what was read stays as it is, and what is said is one sentence. A command runs in a fork of a
process that has loaded the library, so that many moments can be tried; one in eight is a new one.
"""

import contextlib
import json
import os
import random as plain_random
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from platformdirs import user_cache_path

from labelrank import Tagger, catalog, persistence
from labelrank.cli import main

PATIENCE = 240.0
SILENCE = 3 * PATIENCE
ROWS, BATCH = 150, 25
QUIET = {0, 1, 2, 130, 141, 143}
INTERRUPTS = {"SIGINT": [signal.SIGINT], "SIGTERM": [signal.SIGTERM], "twice": [signal.SIGINT] * 2}
FAULTS = (
    *INTERRUPTS, "SIGINT", "SIGTERM", "SIGKILL", "no room", "no folder", "no home", "no streams",
)  # fmt: skip
LEARN = "learn model.labelrank more.jsonl --batch 25 --every 50 --curve curve.jsonl"
COMMANDS = {
    "fit": "fit data.jsonl -o model.labelrank --learner BR --set epochs=20",
    "race": "fit data.jsonl -o model.labelrank --jobs 2",
    "learn": LEARN,
    "tune": "tune data.jsonl -o model.labelrank --learner BR --grid epochs=1,2,3 --folds 2",
    "compare": "compare data.jsonl --learners BR,MMP --cv 2 -o results",
    "reproduce": "reproduce plm-synthetic -o records.jsonl",
    "predict": "predict model.labelrank more.jsonl -o answers.csv",
    "evaluate": "evaluate model.labelrank data.jsonl --report report.html",
    "convert": "convert data.jsonl converted.parquet",
}
ENDLESS = {"reproduce": 8.0}  # seconds; the others are run to their end once
SINGLE = ("learn", "fit", "fit", "learn", "predict")
READY = b"\0"  # what a process says when its command begins
PROGRAM = "import os; os.path.exists('/dev/fd/1') and os.write(1, b'\\0'); "
PROGRAM += "from labelrank.__main__ import main; main()"
KEPT = ("PATH", "PYTHONPATH", "LANG", "NUMBA_BOUNDSCHECK", "LABELRANK_CACHE_DIR")
NO_FOLDER = "/proc"  # where not even the superuser may write


def lines(n_rows, n_labels, seed):
    """JSON lines of random words, ever new labels among theirs."""
    random = plain_random.Random(seed)
    words = [f"word{number}" for number in range(300)]
    rows = []
    for row in range(n_rows):
        labels = random.sample([f"L{number}" for number in range(n_labels + row // 20)], 2)
        rows.append(json.dumps({"text": " ".join(random.sample(words, 12)), "labels": labels}))
    return rows


def prepare():
    """Files to start from, and the digest of the model after each batch of `learn`."""
    data, more = lines(200, 4, 1), [*lines(ROWS, 12, 2)]
    read = [json.loads(row) for row in data]
    tagger = Tagger(
        catalog.make("CMLPC", seed=0, representation="dual", epochs=1),
        representation="hashing", new_labels="add",
    )  # fmt: skip
    tagger.partial_fit([row["text"] for row in read], [row["labels"] for row in read])
    path = Path.cwd() / f".good-{os.getpid()}"
    try:
        good = persistence.save(tagger, path).read_bytes()
    finally:
        path.unlink(missing_ok=True)
    return {"data.jsonl": "\n".join(data).encode(), "more.jsonl": "\n".join(more).encode(),
            "model.labelrank": good}  # fmt: skip


def attempt(number, prepared, folder):
    random = np.random.default_rng(number)
    fault = FAULTS[random.integers(len(FAULTS))]
    is_new = fault == "no home" or random.random() < 0.125
    names = SINGLE if is_new else tuple(COMMANDS)
    name = names[random.integers(len(names))]
    return tried(name, fault, prepared, folder, random, is_new=is_new)


def tried(name, fault, prepared, folder, random, *, is_new):
    """Run a command under a fault in a folder of its own; what came of it."""
    work = folder / "case"
    known = prepared.setdefault("known", {})
    if (name, is_new) not in known:
        known[name, is_new] = reference(name, prepared, work, is_new)
    seconds, whole = known[name, is_new]
    lay_out(work, prepared)
    arguments, began = COMMANDS[name].split(), random.random() * seconds * 1.05
    room = int(random.random() ** 2 * len(prepared["model.labelrank"]) * 1.2)
    if fault == "no folder":
        arguments = [f"{NO_FOLDER}/{part}" if arguments[at - 1] == "-o" else part
                     for at, part in enumerate(arguments)]  # fmt: skip
    ends = [signal.SIGTERM] if name in ENDLESS else []
    signals = {**INTERRUPTS, "SIGKILL": [signal.SIGKILL]}.get(fault, ends)
    run = new_process if is_new else forked
    code, said, output = run(arguments, work, fault, room, signals, began)
    flaw = spoken(code, said, signals) or lost(work, prepared, name, fault, output, whole)
    where = f"{name} under {fault}{', new process' if is_new else ''}"
    return f"{flaw} ({where})" if flaw else ("refused" if code > 0 else "answered")


def lay_out(work, prepared):
    """The files of a case, in an empty folder."""
    for path in sorted(work.rglob("*"), reverse=True) if work.exists() else ():
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    work.mkdir(exist_ok=True)
    for name in ("data.jsonl", "more.jsonl", "model.labelrank"):
        (work / name).write_bytes(prepared[name])


def reference(name, prepared, work, is_new):
    """Seconds of the command without a fault, and the digest of the model it leaves."""
    if name in ENDLESS:
        return ENDLESS[name], None
    lay_out(work, prepared)
    run, began = new_process if is_new else forked, time.monotonic()
    code, said, _ = run(COMMANDS[name].split(), work, None, 0, [], 0.0)
    if code != 0:
        raise RuntimeError(f"{name} fails without a fault: {said}")
    seconds = time.monotonic() - began
    return seconds, persistence.digest(persistence.load(work / "model.labelrank"))


def spoken(code, said, signals):
    """What is wrong with how a command ended, or nothing."""
    if code is None:
        return "hang"
    if code < 0 and -code in signals:
        return None  # ended before the command line was there, or as it was meant
    if code < 0:
        return f"crash {code}"
    told = [line for line in said.splitlines() if line.startswith("labelrank: ")]
    told = [line for line in told if not line.startswith("labelrank: warning: ")]
    if code not in QUIET or len(told) > 1 or "Traceback" in said or "Exception" in said:
        return f"foreign {code} {said[-300:]!r}"
    return None


def lost(work, prepared, name, fault, output, whole):
    """What was lost or ruined, or nothing."""
    for read in ("data.jsonl", "more.jsonl"):
        if (work / read).read_bytes() != prepared[read]:
            return f"lost: {read} is changed"
    litter = [path.name for path in work.iterdir() if path.name.endswith(".part")]
    if litter and fault != "SIGKILL":
        return f"lost: {litter} is left behind"
    for path in (work / "records.jsonl", work / "curve.jsonl"):
        if path.exists() and name == "reproduce":
            [json.loads(line) for line in path.read_text().splitlines()]
    model = work / "model.labelrank"
    if not model.exists():
        return "lost: the model is gone"
    if model.read_bytes() == prepared["model.labelrank"]:
        return "lost: what was learned is not saved" if "learned" in output and whole else None
    return unlike(model, prepared, name, output, whole)


def unlike(path, prepared, name, output, whole):
    """How a new model is not what it should be, or nothing."""
    model = persistence.load(path)
    if len(model.label_names_) != model.learner_.n_labels_:
        return "lost: the model has other labels than names"
    if name != "learn":
        same = persistence.digest(model) == whole
        is_made = name in ("fit", "race", "tune")
        return None if same and is_made else f"lost: another model by {name}"
    told = [line.split()[1] for line in output.splitlines() if line.startswith("learned ")]
    if not told:
        return None if model.predict(["word1 word2"]) else "lost: it does not answer"
    n_rows = int(told[0].replace(",", ""))
    same = persistence.digest(model) == taught(prepared, n_rows, path.parent.parent)
    return None if same and n_rows % BATCH == 0 else f"lost: {n_rows} examples are not learned"


def taught(prepared, n_rows, folder):
    """The digest of the good model after so many more examples."""
    digests = prepared.setdefault("digests", {})
    if n_rows not in digests:
        path = folder / "taught.labelrank"
        path.write_bytes(prepared["model.labelrank"])
        tagger = persistence.load(path).set_params(new_labels="add")
        rows = [json.loads(line) for line in prepared["more.jsonl"].splitlines()][:n_rows]
        for first in range(0, n_rows, BATCH):
            part = rows[first : first + BATCH]
            tagger.partial_fit([row["text"] for row in part], [row["labels"] for row in part])
        digests[n_rows] = persistence.digest(tagger)
    return digests[n_rows]


def forked(arguments, work, fault, room, signals, began):
    """The command in a copy of this process."""
    (reads, says), (hears, prints) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setsid()
            os.chdir(work)
            os.dup2(prints, 1), os.dup2(says, 2)
            os.closerange(3, 256)
            sys.stdout, sys.stderr = (open(at, "w", closefd=False) for at in (1, 2))  # noqa: SIM115
            spoil(fault, room)
            sys.argv = ["labelrank", *arguments]
            os.write(1, READY)
            if fault == "no streams":
                os.close(0), os.close(1)
                sys.stdin = sys.stdout = None
            main()
            code = 0
        except SystemExit as asked:
            code = asked.code if type(asked.code) is int else int(asked.code is not None)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            with contextlib.suppress(Exception):
                sys.stderr.flush()
            os._exit(code)
    os.close(says), os.close(prints)
    return followed(child, (reads, hears), signals, began)


def new_process(arguments, work, fault, room, signals, began):
    """The command in a process of its own."""
    program = [sys.executable, "-c", PROGRAM, *arguments]
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment["HOME"] = "/proc/nobody" if fault == "no home" else str(Path.home())
    if fault == "no home":  # or all kernels would be compiled anew
        environment.setdefault("LABELRANK_CACHE_DIR", str(user_cache_path("labelrank") / "kernels"))
    if fault == "no streams":
        program = ["sh", "-c", 'exec "$@" <&- >&-', "sh", *program]
    with subprocess.Popen(
        program, cwd=work, env=environment, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=lambda: spoil(fault, room),
    ) as process:  # fmt: skip
        pipes = [os.dup(stream.fileno()) for stream in (process.stderr, process.stdout)]
        found = followed(process.pid, pipes, signals, began)
        process.returncode = 0  # it has been waited for
        return found


def spoil(fault, room):
    if fault == "no room":
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))


def followed(child, pipes, signals, began):
    """Exit code (None: it had to be ended), standard error and output; signals come meanwhile."""
    texts, start, waiting = dict.fromkeys(pipes, b""), None, list(signals)
    open_, until = set(pipes), time.monotonic() + PATIENCE
    while open_:
        now = time.monotonic()
        if start is not None and waiting and now - start >= began:
            os.kill(child, waiting.pop(0))
            began += 0.02
        if now > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None, "", ""
        for at in select.select(open_, [], [], 0.005 if waiting else 0.5)[0]:
            chunk = os.read(at, 65536)
            texts[at] += chunk
            start = now if start is None and READY in chunk else start
            if not chunk:
                open_.remove(at)
                os.close(at)
    _, status = os.waitpid(child, 0)
    said, output = (texts[at].replace(READY, b"").decode() for at in pipes)
    return os.waitstatus_to_exitcode(status), said, output
