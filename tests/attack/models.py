"""Model files changed at random, with a right checksum: none may crash, hang or surprise.

Each file is made from the model of a learner of the catalog. What is loaded answers, explains and
learns on; what it answers must agree with itself, twice.
"""

import copy
import hashlib

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

from labelrank import BaggedRanker, BinaryRelevancePerceptron, Tagger, catalog, persistence, testing
from labelrank.errors import LabelrankError
from labelrank.learners.base import LabelRanker
from labelrank.persistence import container
from labelrank.persistence.encode import Encoder

TEXTS = ["wheat and rye", "crude oil", "rye harvest", "oil tankers and wheat"] * 3
LISTS = [["grain", "trade"], ["oil"], ["grain"], ["oil", "trade"]] * 3
QUICKER = {
    "PC0": {"until_no_error": False}, "PC0R": {"until_no_error": False}, "EC-PLM+": {"epochs": 2},
    "forest": {"n_estimators": 3}, "boosted-trees": {"n_rounds": 3, "min_samples_leaf": 5},
    "bagged EC-PLM": {"n_estimators": 2}, "bagged EP-PLM": {"n_estimators": 2},
}  # fmt: skip
NUMBERS = [-1, 0, 1, 2, 7, 64, 255, 2**15, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 10**30]
FLOATS = [0.0, -0.0, -1.0, 1e-320, 1e30, 1e308, -1e308]
ODD = [None, True, False, -1, "", "x" * 99, [], {}, [0], {"kind": "array"}, 0.5, "linear", "votes"]


def prepare():
    """The tree and arrays of each model, what it reads, and its labels."""
    return {name: (*encoded(made[0]), *made[1:]) for name, made in models().items()}


def attempt(number, bases, folder):
    path = folder / "hostile.labelrank"
    name = hostile_file(number, bases, path)
    said = outcome(path, *bases[name][2:])
    return said if said.startswith(("answered", "refused")) else f"{said} ({name})"


def models():
    """Fitted models by name, each with the documents it reads and their labels."""
    made = {}
    for name in catalog.names():
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
    return disagreement(path, documents) or said if said == "answered" else said


def disagreement(path, documents):
    """How the answers of a model contradict each other, or nothing."""
    first, second = persistence.load(path), persistence.load(path)
    spare = np.full(2**14, 7.25)  # so that memory nobody wrote to is not that of before
    del spare
    before, after = testing.answers(first, documents), testing.answers(second, documents)
    if testing.snapshot(before) != testing.snapshot(after):
        return "wrong: answers differ from one loading to the next"
    if not isinstance(first, LabelRanker) or first.target_.one_class:
        return None
    (scores, members), ranking = before["answer"], before["rank"]
    if not scores.shape == members.shape == ranking.shape == (len(documents), first.n_labels_):
        return "wrong: answers of other shapes than the labels"
    if np.isnan(scores).any():
        return "wrong: scores that are not numbers"
    predicted = before["predict"]
    predicted = predicted.toarray() if sp.issparse(predicted) else predicted
    if not (predicted.astype(bool) == members).all():
        return "wrong: other sets from predict than from answer"
    for row, chosen, order in zip(scores, members, ranking, strict=True):
        n_members = np.count_nonzero(chosen)
        parts = [row[order[:n_members]], row[order[n_members:]]]
        sorted_ = all((part[1:] <= part[:-1]).all() for part in parts)
        if sorted(order) != list(range(len(row))) or not chosen[order[:n_members]].all():
            return "wrong: a ranking that is none, or whose beginning is not the set"
        if not sorted_:
            return "wrong: a ranking that does not sort the scores"
    return None
