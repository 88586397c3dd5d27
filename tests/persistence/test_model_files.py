"""Model files that are not exactly what was saved are refused in one sentence."""

import io
import os
import pickle
import stat
import struct
from contextlib import suppress

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.tree import DecisionTreeClassifier

from attack.models import encoded, places, used
from labelrank import BinaryRelevancePerceptron, Tagger, persistence
from labelrank.errors import ModelFileError
from labelrank.persistence import container
from labelrank.persistence.container import parse
from labelrank.persistence.encode import Encoder
from references.hostile_trees import HOSTILE

TEXTS = ["wheat and rye", "crude oil", "rye harvest", "oil tankers and wheat"] * 3
LISTS = [["grain", "trade"], ["oil"], ["grain"], ["oil", "trade"]] * 3


class Box(BaseEstimator):
    """Anything at all, for what estimators rarely hold."""

    def __init__(self, value=None):
        self.value = value


persistence.register(Box)


@pytest.fixture(scope="module")
def tagger():
    return Tagger(max_terms=5).fit(TEXTS, LISTS, name="toy")


@pytest.fixture(scope="module")
def good(tagger, tmp_path_factory):
    return persistence.save(tagger, tmp_path_factory.mktemp("good") / "m.labelrank").read_bytes()


def refused(path, **options):
    """The one sentence with which loading the file is refused."""
    with pytest.raises(ModelFileError) as caught:
        persistence.load(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


def written(folder, data):
    path = folder / "bad.labelrank"
    path.write_bytes(data)
    return path


def forged(folder, document, tensors=None):
    """A file with a right checksum around whatever a hostile author wants in it."""
    path = folder / "forged.labelrank"
    head = {"format": "labelrank-model", "format_version": 2, "scikit_learn": "0.0"}
    container.write(path, {**head, **document}, tensors or {})
    return path


def test_the_same_model_gives_the_same_bytes(tagger, good, tmp_path):
    assert persistence.save(tagger, tmp_path / "again").read_bytes() == good
    loaded = persistence.load(tmp_path / "again")
    assert persistence.save(loaded, tmp_path / "third").read_bytes() == good


def test_any_safetensors_reader_can_open_it(tmp_path):
    learner = BinaryRelevancePerceptron().fit(np.eye(3), np.eye(3))
    with safe_open(persistence.save(learner, tmp_path / "m"), framework="numpy") as file:
        stored = [file.get_tensor(name) for name in file.keys()]  # noqa: SIM118
    blocks = [array for array in stored if array.ndim == 3]  # of labels × features × lanes
    assert np.array_equal(blocks[0][0, :, :3].T, learner.coef_)


def test_inspect_reads_the_header_alone(tagger, good, tmp_path):
    told = persistence.inspect(written(tmp_path, good))
    assert told["model"] == "Tagger"
    assert told["learner"] == "AutoRanker"
    assert (told["n_labels"], told["n_features"], told["format_version"]) == (3, 5, 2)
    assert told["summary"] == tagger.summary_
    assert told["n_bytes"] == len(good)


def test_saving_is_atomic_and_the_file_is_not_secret_nor_open_to_all(tagger, tmp_path):
    path = tmp_path / "m.labelrank"
    persistence.save(tagger, path)
    before = path.read_bytes()
    with pytest.raises(ModelFileError):
        persistence.save(Box(lambda: None), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.labelrank"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_every_cut_is_refused(good, tmp_path):
    cuts = {*range(200), *range(200, len(good), 97), *range(len(good) - 20, len(good))}
    for length in sorted(cuts):
        refused(written(tmp_path, good[:length]))
    refused(written(tmp_path, good + b"\0"))


def test_every_flipped_bit_is_refused(good, tmp_path):
    for position in {*range(250), *range(250, len(good), 31)}:
        for bit in (0, 5, 7):
            damaged = bytearray(good)
            damaged[position] ^= 1 << bit
            refused(written(tmp_path, bytes(damaged)))


def _pickled():
    return pickle.dumps({"weights": [1.0] * 100})


def _foreign():
    return safetensors.numpy.save({"weight": np.zeros((2, 2))}, {"format": "np"})


def _npz():
    file = io.BytesIO()
    np.savez(file, a=np.zeros(3))
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"x", "not a labelrank model file"),
        (_pickled(), "not a labelrank model file"),
        (_foreign(), "not a labelrank model file"),
        (_npz(), "not a labelrank model file"),
        (b"text,labels\nwheat,grain\n" * 20, "not a labelrank model file"),
        (struct.pack("<Q", 2**31) + container._PREFIX + b"0" * 500, "header claims 2147483648"),
        (struct.pack("<Q", 2**64 - 1) + container._PREFIX + b"0" * 500, "header claims"),
        (struct.pack("<Q", 9) + container._PREFIX + b"0" * 500, "end before its header"),
        (struct.pack("<Q", 9000) + container._PREFIX + b"0" * 500, "end before its header"),
    ],
)
def test_other_files_are_refused_by_what_they_are(data, message, tmp_path):
    assert message in refused(written(tmp_path, data))
    with pytest.raises(ModelFileError):
        persistence.inspect(tmp_path / "bad.labelrank")


def test_missing_files_folders_and_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "no model file" in refused(tmp_path / "missing")
    assert "is a folder" in refused(tmp_path)
    assert "not a plain file" in refused(tmp_path / "pipe")
    assert "cannot be read" in refused("nul\0byte")


def test_a_file_replaced_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    path = persistence.save(Box(np.zeros(3)), tmp_path / "m")
    verify, left = container.verify, [Box(np.ones(3))]

    def verify_then_replace(*arguments):
        verify(*arguments)
        if left:
            persistence.save(left.pop(), path)

    monkeypatch.setattr(container, "verify", verify_then_replace)
    np.testing.assert_array_equal(persistence.load(path).value, np.ones(3))
    left += [Box(np.full(3, i)) for i in range(99)]
    assert "keeps changing" in refused(path)


def test_limit_on_bytes_is_checked_first(good, tmp_path):
    path = written(tmp_path, good)
    assert "raise max_bytes" in refused(path, max_bytes=len(good) - 1)
    assert persistence.load(path, max_bytes=len(good)).label_names_ == ["grain", "oil", "trade"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"format_version": 3}, "update labelrank"),
        ({"format_version": 1}, "train the model again"),
        ({"format_version": 10**30}, "update labelrank"),
        ({"format_version": 0}, "unknown format"),
        ({"format_version": "1"}, "unknown format"),
        ({"format_version": True}, "unknown format"),
        ({"format": "other"}, "unknown format"),
    ],
)
def test_other_versions_are_refused(document, message, tmp_path):
    assert message in refused(forged(tmp_path, document))


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_contents_with_a_right_checksum_are_refused(case, tmp_path):
    tree, arrays = HOSTILE[case]
    refused(forged(tmp_path, {"tree": tree}, {str(i): a for i, a in enumerate(arrays)}))


def test_vocabulary_must_number_its_terms(tmp_path):
    vectorizer = CountVectorizer().fit(["rye oats"])
    vectorizer.vocabulary_["rye"] = 10**6
    encoder = Encoder()
    tree = encoder.encode(vectorizer, "model")
    assert "number its terms" in refused(forged(tmp_path, {"tree": tree}, encoder.tensors))


@pytest.mark.parametrize(
    ("field", "value"),
    [("left_child", 0), ("left_child", 99), ("right_child", -1), ("right_child", -5),
     ("feature", 2), ("feature", -2), ("left_child", 2)],
)  # fmt: skip
def test_trees_that_would_leave_their_arrays_are_refused(field, value, tmp_path):
    model = DecisionTreeClassifier().fit([[0, 1], [1, 0], [2, 5]], ["a", "b", "c"])
    encoder = Encoder()
    tree = encoder.encode(model, "model")
    state = tree["state"]["tree_"]["state"]
    nodes = state["values"][state["keys"].index("nodes")]
    name = nodes["values"][nodes["keys"].index(field)]["tensor"]
    encoder.tensors[name] = encoder.tensors[name].copy()
    encoder.tensors[name][0] = value
    assert "decision tree" in refused(forged(tmp_path, {"tree": tree}, encoder.tensors))


@pytest.mark.parametrize("part", ["max_depth", "n_features", "values", "n_classes"])
def test_trees_with_wrong_sizes_are_refused(part, tmp_path):
    model = DecisionTreeClassifier().fit([[0, 1], [1, 0], [2, 5]], ["a", "b", "c"])
    encoder = Encoder()
    tree = encoder.encode(model, "model")
    state = tree["state"]["tree_"]["state"]
    node = state["values"][state["keys"].index(part)]
    if isinstance(node, int):
        state["values"][state["keys"].index(part)] = 0
    else:
        encoder.tensors[node["tensor"]] = encoder.tensors[node["tensor"]][:0]
    assert "decision tree" in refused(forged(tmp_path, {"tree": tree}, encoder.tensors))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}', '{"a": NaN}', "[1e999]", "[" * 10**5, "9" * 10**5, "{", "", "\ud800",
        b"\xff",
    ],
    ids=lambda text: str(text)[:20].encode("ascii", "replace").decode(),
)  # fmt: skip
def test_loose_json_is_refused(text):
    with pytest.raises(ValueError):
        parse(text)


def _raw(header, body=b""):
    header = container._PREFIX + b"0" * 64 + header
    return struct.pack("<Q", len(header)) + header + body


HEADER = rb"\",\"format\":\"labelrank-model\",\"format_version\":2,\"tree\":null}\"}"


@pytest.mark.parametrize(
    "tensors",
    [
        b',"0":{"dtype":"F64","shape":[1000000000000],"data_offsets":[0,8]}}',
        b',"0":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}}',
        b',"0":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}}',
        b',"0":{"dtype":"F64","shape":[-1],"data_offsets":[0,8]}}',
        b',"0":{"dtype":"F64","shape":"1","data_offsets":[0,8]}}',
        b',"0":{"dtype":"OBJECT","shape":[1],"data_offsets":[0,8]}}',
        b',"0":[]}',
        b',"0":' + b"[" * 50_000,
        b"}}}",
    ],
)
def test_declared_shapes_must_fit_the_file(tensors, tmp_path):
    refused(written(tmp_path, _raw(HEADER + tensors, bytes(8))))


def test_another_scikit_learn_is_warned_of(tmp_path):
    with pytest.warns(UserWarning, match=r"saved with scikit-learn 0\.0"):
        persistence.load(forged(tmp_path, {"tree": None}))


FUZZ = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@given(data=st.binary(max_size=400), with_prefix=st.booleans())
@FUZZ
def test_random_bytes_are_refused(data, with_prefix, tmp_path):
    refused(written(tmp_path, _raw(data) if with_prefix else data))


@given(data=st.data())
@FUZZ
def test_random_changes_of_a_good_file_are_refused(data, good, tmp_path):
    start = data.draw(st.integers(0, len(good) - 1))
    stop = data.draw(st.integers(start, min(start + 64, len(good))))
    changed = good[:start] + data.draw(st.binary(max_size=64)) + good[stop:]
    if changed != good:
        refused(written(tmp_path, changed))


KINDS = ["array", "dict", "tuple", "scalar", "object", "sparse", "tree", "generator", "set",
         "random_state", "object_array", "dtype"]  # fmt: skip
KEYS = ["tensor", "items", "keys", "values", "state", "class", "text", "array", "data", "indices",
        "indptr", "shape", "name"]  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(["0", "1", "sklearn.Ridge", "labelrank.Tagger"])
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), inner)
        | st.fixed_dictionaries(
            {"kind": st.sampled_from(KINDS)}, optional=dict.fromkeys(KEYS, inner)
        )
    ),
    max_leaves=12,
)


@given(tree=JSON)
@FUZZ
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_random_trees_give_data_or_a_refusal(tree, tmp_path):
    tensors = {"0": np.zeros(3), "1": np.ones((2, 2), np.int32)}
    path = forged(tmp_path, {"tree": tree}, tensors)
    with suppress(ModelFileError):
        persistence.load(path)


@pytest.mark.filterwarnings("ignore:the model was saved with scikit-learn")
def test_a_file_without_one_of_its_parts_is_refused_or_answers(tagger, tmp_path):
    tree, tensors = encoded(tagger)
    owners = [holder[key] for holder, key in places([tree]) if key == "parts"]
    outcomes = set()
    for parts in owners:
        for name in list(parts):
            part = parts.pop(name)
            kept = {key: tensors[key] for key in used(tree, set())}
            try:
                persistence.load(forged(tmp_path, {"tree": tree}, kept)).predict(TEXTS)
                outcomes.add("answered")
            except ModelFileError:
                outcomes.add("refused")
            parts[name] = part
    assert outcomes == {"answered", "refused"}


def test_a_foreign_file_is_not_blamed_on_its_permissions(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("# not a model\n")
    with pytest.raises(ModelFileError, match="not a labelrank model file") as caught:
        persistence.load(path)
    assert "permissions" not in str(caught.value)
