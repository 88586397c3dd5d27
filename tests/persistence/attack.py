"""Model files changed at random, with a right checksum: none may crash, hang or surprise.

    python tests/persistence/attack.py --files 20000

A worker process loads each file and lets the model answer, explain and learn on. It says which file
it begins with; if it dies or stays silent, that file is to blame and the next worker goes on behind
it. Each file follows from its number alone: `--only 4711` shows what one of them does.
"""

import argparse
import copy
import hashlib
import json
import os
import pickle
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

from labelrank import BaggedRanker, BinaryRelevancePerceptron, Tagger, catalog, persistence, testing
from labelrank.errors import LabelrankError
from labelrank.persistence import container
from labelrank.persistence.encode import Encoder

TEXTS = ["wheat and rye", "crude oil", "rye harvest", "oil tankers and wheat"] * 3
LISTS = [["grain", "trade"], ["oil"], ["grain"], ["oil", "trade"]] * 3
QUICKER = {
    "PC0": {"until_no_error": False}, "PC0R": {"until_no_error": False}, "EC-PLM+": {"epochs": 2},
    "forest": {"n_estimators": 3}, "boosted-trees": {"n_rounds": 3, "min_samples_leaf": 5},
    "bagged EC-PLM": {"n_estimators": 2}, "bagged EP-PLM": {"n_estimators": 2},
}  # fmt: skip
UNSTORABLE = ("SVM-poly", "SVM-rbf")
SILENCE, MEMORY = 20.0, 8 * 2**30
NUMBERS = [-1, 0, 1, 2, 7, 64, 255, 2**15, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 10**30]
FLOATS = [0.0, -0.0, -1.0, 1e-320, 1e30, 1e308, -1e308]
ODD = [None, True, False, -1, "", "x" * 99, [], {}, [0], {"kind": "array"}, 0.5, "linear", "votes"]


def models():
    """Fitted models by name, each with the documents it reads and their labels."""
    made = {}
    for name in catalog.names():
        if name not in UNSTORABLE:
            case = testing.case(catalog.make(name, **QUICKER.get(name, {})))
            made[name] = (case.fitted, case.X, case.Y)
    others = {
        "bagged": BaggedRanker(BinaryRelevancePerceptron(init="random"), n_estimators=2),
        "random forest": RandomForestClassifier(3),
        "neighbors": KNeighborsClassifier(3, algorithm="brute"),
        "sgd": OneVsRestClassifier(SGDClassifier(average=True)),
        "named": Tagger(catalog.make("BR")),
    }
    for name, learner in others.items():
        case = testing.case(learner)
        made[name] = (case.fitted, case.X, case.Y)
    for representation in ("tfidf", "hashing"):
        tagger = Tagger(representation=representation).fit(TEXTS, LISTS)
        made[representation] = (tagger, TEXTS, LISTS)
    case = testing.case(catalog.make("BR+"))
    classes = np.array(["rye", "oats", "oil"])[case.Y[:, 0] + case.Y[:, 1]]
    made["one class"] = (catalog.make("BR+").fit(case.X, classes), case.X, classes)
    return made


def encoded(model):
    encoder = Encoder()
    return encoder.encode(model, "model"), encoder.tensors


def places(node, found=None):
    """Every (container, key) of a tree."""
    found = [] if found is None else found
    keys = node.keys() if isinstance(node, dict) else range(len(node))
    for key in keys:
        found.append((node, key))
        if isinstance(node[key], dict | list):
            places(node[key], found)
    return found


def change_tree(tree, random, pool):
    """One change somewhere in the tree."""
    holder, key = places([tree])[random.integers(len(places([tree])))]
    if holder is not tree and isinstance(holder, list) and holder == [tree]:
        holder, key = tree, next(iter(tree))
    value, way = holder[key], random.integers(8)
    if isinstance(value, dict) and value and way < 3:
        name = list(value)[random.integers(len(value))]
        other = list(value)[random.integers(len(value))]
        if way == 0:
            del value[name]
        elif way == 1:
            value[name], value[other] = value[other], value[name]
        else:
            value[f"{name}_"] = copy.deepcopy(value[name])
    elif isinstance(value, list) and value and way < 3:
        place = random.integers(len(value))
        if way == 0:
            del value[place]
        elif way == 1:
            value.append(copy.deepcopy(value[place]))
        else:
            value.reverse()
    elif way == 3:
        others = places(tree)
        source, name = others[random.integers(len(others))]
        holder[key] = copy.deepcopy(source[name])
    elif way == 4:
        holder[key] = copy.deepcopy(pool[random.integers(len(pool))])
    elif type(value) is int:
        holder[key] = [*NUMBERS, value + 1, value - 1, -value][random.integers(len(NUMBERS) + 3)]
    elif type(value) is float:
        holder[key] = [*FLOATS, -value, value * 1e9][random.integers(len(FLOATS) + 2)]
    else:
        holder[key] = copy.deepcopy(ODD[random.integers(len(ODD))])


def change_tensor(tensors, random):
    """One change of one array: its values, its type or its shape, or its place."""
    names = sorted(tensors, key=int)
    name, other = (names[random.integers(len(names))] for _ in range(2))
    array = tensors[name] = tensors[name].copy()
    way = random.integers(12)
    if way == 0:
        tensors[name], tensors[other] = tensors[other], tensors[name]
    elif way == 1:
        tensors[name] = array.reshape(-1)
    elif way == 2:
        tensors[name] = array[: random.integers(len(array) + 1)] if array.ndim else array
    elif way == 3:
        tensors[name] = np.concatenate([array, array]) if array.ndim else array
    elif way == 4:
        tensors[name] = array.T.copy()
    elif way == 5:
        kinds = [dtype for code, dtype in container.TYPES.items() if code not in ("F16", "BOOL")]
        with np.errstate(all="ignore"):
            tensors[name] = array.astype(kinds[random.integers(len(kinds))])
    elif array.size:
        change_values(array, way, random)


def change_values(array, way, random):
    flat = array.reshape(-1)
    size = 1 + random.integers(3) if way < 10 else flat.size
    where = random.integers(flat.size, size=size)
    if array.dtype.kind == "f":
        special = [np.nan, np.inf, -np.inf, 0.0, -1.0, np.finfo(array.dtype).max, 1e-38]
        flat[where] = special[random.integers(len(special))]
    elif array.dtype.kind == "b":
        flat[where] = ~flat[where]
    elif way == 6:
        info = np.iinfo(array.dtype)
        flat[where] = [info.min, info.max, 0, info.max // 2][random.integers(4)]
    elif way == 7:
        random.shuffle(flat)
    else:
        flat[where] = flat[where] + np.array([1, -1, 3])[random.integers(3)].astype(array.dtype)


def used(node, found):
    if isinstance(node, dict):
        for key, item in node.items():
            if key in ("tensor", "mask", "values", "blob", "lengths") and isinstance(item, str):
                found.add(item)
            used(item, found)
    elif isinstance(node, list):
        for item in node:
            used(item, found)
    return found


def hostile_file(number, bases, path):
    """Write the file of this number; the name of the learner it was made from."""
    random = np.random.default_rng(number)
    names = sorted(bases)
    name = names[random.integers(len(names))]
    tree, tensors = copy.deepcopy(bases[name][0]), dict(bases[name][1])
    pool = [source[key] for other in names[::7] for source, key in places(bases[other][0])[:40]]
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if tensors and random.random() < 0.5:
            change_tensor(tensors, random)
        else:
            change_tree(tree, random, pool)
    kept = used(tree, set())
    tensors = {key: value for key, value in tensors.items() if key in kept}
    head = {"format": "labelrank-model", "format_version": 2, "scikit_learn": "1.9", "tree": tree}
    container.write(path, head, tensors)
    if random.random() < 0.1:
        change_bytes(path, random)
    return name


def change_bytes(path, random):
    """Change some bytes of the file, mostly of its header, and make the checksum right again."""
    data = bytearray(path.read_bytes())
    end = min(len(data), 8 + int.from_bytes(data[:8], "little")) if random.random() < 0.7 else 0
    for place in random.integers(end or len(data), size=1 + random.integers(3)).tolist():
        data[place] = random.integers(256) if random.random() < 0.5 else data[place] ^ 1
    start, stop = container._DIGEST_AT, container._DIGEST_AT + 64
    data[start:stop] = b"0" * 64
    data[start:stop] = hashlib.sha256(data).hexdigest().encode()
    path.write_bytes(data)


def outcome(path, documents, labels):
    """Load the file and use the model; what came of it."""
    try:
        model = persistence.load(path)
    except LabelrankError:
        return "refused"
    said = "answered"
    row = documents[0] if isinstance(documents, list) else documents[:1]
    calls = [
        *((name, documents) for name in (*testing.ANSWERS, "duels") if hasattr(model, name)),
        *((name, row, label) for name in ("why",) for label in (0, labels) if hasattr(model, name)),
        *((name, documents, labels) for name in ("partial_fit",) if hasattr(model, name)),
        *((name, documents) for name in ("predict", "rank") if hasattr(model, name)),
    ]
    for name, *arguments in calls:
        if name == "why":
            names = getattr(model, "label_names_", None)
            arguments[1] = names[0] if isinstance(names, list) and names else 0
        try:
            getattr(model, name)(*arguments)
        except LabelrankError:
            said = "refused later"
    return said


def work(folder, first, last):
    """Worker: announce each file, use it, say what came of it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    bases = pickle.loads((Path(folder) / "bases").read_bytes())
    path = Path(folder) / f"hostile-{os.getpid()}"
    for number in range(first, last):
        name = hostile_file(number, bases, path)
        print(f"begin {number} {name}", flush=True)
        try:
            said = outcome(path, *bases[name][2:])
        except Exception:
            line = traceback.format_exc().strip().splitlines()
            ours = [text.strip() for text in line if "labelrank/" in text][-1:]
            said = "foreign " + json.dumps([line[-1][:200], *ours])
        print(f"end {number} {said}", flush=True)


def attack(n_files, first=0, silence=SILENCE):
    """Counts of outcomes, and the files that were to blame."""
    counts, blamed = Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        bases = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, (model, documents, labels) in models().items():
                bases[name] = (*encoded(model), documents, labels)
        (Path(folder) / "bases").write_bytes(pickle.dumps(bases))
        number, last = first, first + n_files
        while number < last:
            number = _watched(folder, number, last, silence, counts, blamed)
    return counts, blamed


def _watched(folder, first, last, silence, counts, blamed):
    """Run one worker as far as it goes; the number to go on with."""
    command = [sys.executable, __file__, "--work", folder, str(first), str(last)]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    began, text, number = None, b"", first
    patience = time.monotonic() + 120 + silence
    while True:
        ready, _, _ = select.select([worker.stdout], [], [], 0.5)
        chunk = os.read(worker.stdout.fileno(), 65536) if ready else None
        if chunk == b"":
            worker.wait()
            if began is not None:
                counts["crash"] += 1
                blamed.append((*began, f"crash {worker.returncode}"))
                return began[0] + 1
            return number if number > first else last
        for line in (text + (chunk or b"")).split(b"\n")[:-1]:
            patience = time.monotonic() + silence
            kind, numeral, said = line.decode().split(" ", 2)
            if kind == "begin":
                began = (int(numeral), said)
            else:
                counts[said.split(" ")[0] if said[:7] == "foreign" else said] += 1
                if said.startswith("foreign"):
                    blamed.append((*began, said))
                began, number = None, int(numeral) + 1
        text = (text + (chunk or b"")).rsplit(b"\n", 1)[-1]
        if time.monotonic() > patience:
            worker.kill()
            worker.wait()
            counts["hang"] += 1
            blamed.append((*(began or (number, "?")), "hang"))
            return (began[0] if began else number) + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--work", nargs=3)
    asked = parser.parse_args()
    if asked.work:
        return work(asked.work[0], int(asked.work[1]), int(asked.work[2]))
    if asked.only is not None:
        bases = {name: (*encoded(made[0]), *made[1:]) for name, made in models().items()}
        path = Path(tempfile.gettempdir()) / "hostile.labelrank"
        name = hostile_file(asked.only, bases, path)
        print(name, path)
        return print(outcome(path, *bases[name][2:]))
    counts, blamed = attack(asked.files, asked.first)
    for number, name, said in blamed:
        print(number, name, said)
    print(f"{asked.files} files:", ", ".join(f"{n} {what}" for what, n in counts.most_common()))
    return int(bool(blamed))


if __name__ == "__main__":
    sys.exit(main())
