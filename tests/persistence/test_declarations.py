"""Model files know classes by names that never change; older versions of a class are read."""

import importlib
import pkgutil

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import labelrank
from labelrank import BinaryRelevancePerceptron, Rocchio, persistence
from labelrank.declared import array, how_stored, stored, value
from labelrank.errors import InputError, ModelFileError
from labelrank.persistence import container, decode, names
from labelrank.persistence.decode import Contents
from labelrank.persistence.encode import Encoder

X = np.random.default_rng(0).random((30, 4))
Y = (X[:, :3] > 0.5).astype(int)


def _declared():
    """Every class of the package that declares how it is stored."""
    for module in pkgutil.walk_packages(labelrank.__path__, "labelrank."):
        if module.name.endswith("__main__"):
            continue
        for found in vars(importlib.import_module(module.name)).values():
            if isinstance(found, type) and how_stored(found) is not None:
                yield found


def test_each_declared_class_has_its_place_in_the_table():
    for cls in set(_declared()):
        assert names._find(how_stored(cls).name) is cls


def test_no_two_classes_share_a_name():
    classes = set(_declared())
    assert len({how_stored(cls).name for cls in classes}) == len(classes)


def test_files_hold_no_path_of_a_module(tmp_path):
    path = persistence.save(Rocchio().fit(X, Y), tmp_path / "m")
    header = path.read_bytes().split(b"}}")[0]
    assert b"Rocchio" in header
    assert b"learners" not in header
    assert b"_sums" not in header


@persistence.register
@stored("Sorted", 3, values=array("f8", "n"), n_seen=value(int, least=0))
class Sorted(BaseEstimator):
    """A made-up class in its third version."""

    def __init__(self, step=1.0):
        self.step = step


def _counted(old):
    return Contents(old.parameters, {**old.parts, "n_seen": len(old.parts["values"])})


def _renamed(old):
    step = old.parameters.pop("rate")
    return Contents({**old.parameters, "step": step}, {"values": np.sort(old.parts["numbers"])})


def _file(folder, version, parameters, parts):
    encoder = Encoder()
    nodes = {name: encoder.encode(value, name) for name, value in parts.items()}
    tree = {
        "kind": "object", "class": "test_declarations.Sorted", "version": version,
        "parameters": parameters, "parts": nodes,
    }  # fmt: skip
    head = {"format": "labelrank-model", "format_version": 2, "tree": tree}
    container.write(folder / "old", head, encoder.tensors)
    return folder / "old"


@pytest.mark.filterwarnings("ignore:the model was saved with")
def test_older_versions_of_a_class_are_read_step_by_step(tmp_path, monkeypatch):
    older = {("Sorted", 1): _renamed, ("Sorted", 2): _counted}
    monkeypatch.setattr(decode, "OLDER", older)
    path = _file(tmp_path, 1, {"rate": 0.5}, {"numbers": np.array([3.0, 1.0])})
    model = persistence.load(path)
    assert (model.step, model.values.tolist(), model.n_seen) == (0.5, [1.0, 3.0], 2)
    path = _file(tmp_path, 2, {"step": 0.5}, {"values": np.array([3.0])})
    assert persistence.load(path).n_seen == 1


@pytest.mark.parametrize("version", [0, 4, 10**30, True, "1", None])
def test_unknown_versions_of_a_class_are_refused(version, tmp_path):
    path = _file(tmp_path, version, {}, {"values": np.zeros(2), "n_seen": 2})
    with pytest.raises(ModelFileError, match="Sorted has version"):
        persistence.load(path)


def test_the_table_of_older_versions_is_complete():
    for cls in set(_declared()):
        how = how_stored(cls)
        for version in range(1, how.version):
            assert (how.name, version) in decode.OLDER


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"values": np.zeros(2)}, "has no n_seen"),
        ({"values": np.zeros(2), "n_seen": -1}, "below 0"),
        ({"values": np.zeros(2), "n_seen": 1.5}, "n_seen is"),
        ({"values": np.zeros(2), "n_seen": True}, "n_seen is"),
        ({"values": np.zeros((2, 2)), "n_seen": 1}, "shape"),
        ({"values": np.zeros(2, "f4"), "n_seen": 1}, "type float32"),
        ({"values": [1.0], "n_seen": 1}, "no array"),
        ({"values": np.full(2, np.nan), "n_seen": 1}, "not finite"),
        ({"values": np.zeros(2), "n_seen": 1, "more": 1}, "no part 'more'"),
    ],
)
def test_parts_that_are_not_as_declared_are_refused(parts, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        persistence.load(_file(tmp_path, 3, {}, parts))


def test_parts_that_are_not_as_declared_are_not_saved(tmp_path):
    model = Sorted()
    model.values, model.n_seen = np.zeros(3), -1
    with pytest.raises(ModelFileError, match="below 0"):
        persistence.save(model, tmp_path / "m")
    with pytest.raises(ModelFileError, match="is not fitted"):
        persistence.save(Sorted(), tmp_path / "m")


def test_parameters_are_checked_on_loading(tmp_path):
    encoder = Encoder()
    tree = encoder.encode(Rocchio().fit(X, Y), "model")
    tree["parameters"]["alpha"] = -1.0
    head = {"format": "labelrank-model", "format_version": 2, "tree": tree}
    container.write(tmp_path / "m", head, encoder.tensors)
    with pytest.raises(ModelFileError, match="alpha=-1"):
        persistence.load(tmp_path / "m")


def test_broken_sparse_matrices_are_refused_and_not_followed():
    import scipy.sparse as sp

    for change in [("indptr", 3, 10**8), ("indices", 0, 10**6), ("indptr", 0, 1),
                   ("indptr", 2, -5), ("indices", 1, -1)]:  # fmt: skip
        name, place, number = change
        for form in (sp.csr_matrix, sp.csc_array):
            good, bad = sp.csr_array(Y), form(Y.astype(float))
            getattr(bad, name)[place] = number
            with pytest.raises(InputError, match="broken sparse matrix"):
                BinaryRelevancePerceptron().fit(X, bad)
            with pytest.raises(InputError, match="broken sparse matrix"):
                BinaryRelevancePerceptron().fit(bad, good)


def test_the_digest_is_that_of_the_learning_alone(tmp_path):
    learner = Rocchio().fit(X, Y)
    name = persistence.digest(learner)
    learner.predict(X), learner.rank(X), learner.decision_function(X)
    assert persistence.digest(learner) == name
    assert persistence.digest(persistence.load(persistence.save(learner, tmp_path / "m"))) == name
    assert persistence.digest(learner.partial_fit(X[:1], Y[:1])) != name
    assert persistence.digest(Rocchio().fit(X[:-1], Y[:-1])) != name
    assert persistence.digest(Rocchio(alpha=2.0).fit(X, Y)) != name
