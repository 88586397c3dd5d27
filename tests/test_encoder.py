"""Texts by the vectors of an encoder: a small one of hashed words, and what may go wrong."""

import json
import sys
import zlib
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from labelrank import (
    BinaryRelevanceSVM,
    Tagger,
    TextEncoder,
    TextVectorizer,
    catalog,
    encoder,
    persistence,
)
from labelrank.errors import InputError, MissingError, ModelFileError

TEXTS = ["wheat and rye prices", "crude oil prices", "rye harvest", "oil tankers", "wheat fields"]
LABELS = [["grain", "trade"], ["oil", "trade"], ["grain"], ["oil"], ["grain"]]


class HashedWords:
    """The mean of random vectors, one per word; words are told apart by `salt` and themselves."""

    def __init__(self, size=32, salt=""):
        self.size, self.salt, self.asked = size, salt, []

    def vector(self, word):
        seed = zlib.crc32((self.salt + word).encode())
        return np.random.default_rng(seed).normal(size=self.size)

    def encode(self, texts):
        self.asked.append(len(texts))
        return np.array([np.sum([self.vector(w) for w in t.split()] or [[0] * self.size], axis=0)
                         for t in texts])  # fmt: skip


class StaticModel(HashedWords):
    """Loads what a file says, as `from_pretrained` of model2vec does."""

    @classmethod
    def from_pretrained(cls, path):
        with open(f"{path}/config.json", encoding="utf-8") as file:
            told = json.load(file)
        if "salt" not in told:
            raise ValueError("no salt in\n  the config")
        return cls(salt=told["salt"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a saved model, and a package that loads it in place of the real one."""
    package = ModuleType("model2vec")
    package.__spec__, package.StaticModel = ModuleSpec("model2vec", None), StaticModel
    monkeypatch.setitem(sys.modules, "model2vec", package)
    return written(tmp_path / "small", salt="a")


def written(folder, **told):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", **told}))
    return folder


def lone(learner="BSVM+"):
    return catalog.make(learner, seed=0)


def firsts(tagger):
    """The best label of a text about rye, and of one about oil."""
    return [row[0].label for row in tagger.rank(["rye", "oil"], top=1)]


def test_vectors_have_length_1_and_are_the_same_alone_and_among_others():
    model = HashedWords()
    features = TextEncoder(model, batch_size=2)
    found = features.fit_transform([*TEXTS, ""])
    assert found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1, 1, 1, 1, 0])
    assert max(model.asked) == 2
    for k, text in enumerate(TEXTS):
        np.testing.assert_array_equal(features.transform([text])[0], found[k])
    wanted = model.encode(TEXTS).astype(np.float32)
    as_given = TextEncoder(model, norm=None, weight=2.0).fit_transform(TEXTS)
    np.testing.assert_array_equal(as_given, 2 * wanted)
    assert features.transform([]).shape == (0, 32)


def test_terms_stand_beside_the_vectors():
    features = TextEncoder(HashedWords(), terms=TextVectorizer(), weight=0.5)
    found = features.fit_transform(TEXTS)
    terms = TextVectorizer().fit_transform(TEXTS)
    assert sp.issparse(found)
    assert found.shape == (5, features.n_columns_)
    np.testing.assert_array_equal(found[:, 32:].toarray(), terms.toarray())
    assert np.linalg.norm(found[:, :32].toarray(), axis=1) == pytest.approx(0.5)
    names = features.get_feature_names_out().tolist()
    assert names[:2] == ["embedding[1]", "embedding[2]"]
    assert names[32:] == ["and", "crude", "fields", "harvest", "oil", "prices", "rye", "tankers",
                          "wheat"]  # fmt: skip
    again = features.transform(TEXTS)
    np.testing.assert_array_equal(again.toarray(), found.toarray())


@pytest.mark.parametrize("terms", [None, TextVectorizer()])
def test_a_tagger_learns_from_an_encoder_and_tells_its_reasons(terms):
    vectorizer = HashedWords() if terms is None else TextEncoder(HashedWords(), terms=terms)
    tagger = Tagger(lone(), vectorizer=vectorizer).fit(TEXTS, LABELS)
    assert firsts(tagger) == ["grain", "oil"]
    reason = tagger.why("oil prices", "oil")
    names = tagger.get_feature_names_out()[reason.features]
    assert ("oil" in names) == (terms is not None)
    assert any(name.startswith("embedding[") for name in names)
    score = tagger.decision_function(["oil prices"])[0, tagger.label_names_.index("oil")]
    assert reason.margin == pytest.approx(score, abs=1e-5)
    wanted = "encoder" if terms is None else "encoder and tfidf"
    assert tagger.summary_["representation"] == wanted


def test_a_tagger_learns_in_pieces_from_an_encoder():
    tagger = Tagger(vectorizer=HashedWords())
    for rows in (slice(0, 2), slice(2, 5)):
        tagger.partial_fit(TEXTS[rows], LABELS[rows], label_names=["grain", "oil", "trade"])
    assert firsts(tagger) == ["grain", "oil"]


def test_clones_share_the_encoder():
    features = TextEncoder(HashedWords(), terms=TextVectorizer(max_terms=3), weight=2.0).fit(TEXTS)
    other = clone(features)
    assert other.encoder is features.encoder
    assert (other.weight, other.terms.max_terms) == (2.0, 3)
    assert not hasattr(other, "probe_")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda texts: np.zeros(len(texts)), "one vector per text"),
        (lambda texts: np.zeros((len(texts) + 1, 3)), "one vector per text"),
        (lambda texts: np.zeros((len(texts), 0)), "one vector per text"),
        (lambda texts: np.full((len(texts), 3), np.nan), "NaN or infinity"),
        (lambda texts: np.full((len(texts), 3), 1e300), "NaN or infinity"),
        (lambda texts: [["a", "b"] for _ in texts], "must give numbers"),
        (lambda texts: np.zeros((len(texts), 2 + len(texts))), "the same number for every text"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(made, message):
    model = HashedWords()
    model.encode = made
    with pytest.raises(InputError, match=message):
        TextEncoder(model).fit_transform(TEXTS)


@pytest.mark.parametrize("given", [3, None, HashedWords, object()])
def test_what_cannot_encode_is_refused(given):
    with pytest.raises(InputError, match="give an object with encode"):
        TextEncoder(given).fit(TEXTS)


@pytest.mark.parametrize("documents", [np.eye(5), {"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, 4, 5]}])
def test_an_encoder_reads_texts_alone(documents):
    with pytest.raises(InputError, match="an encoder, which reads texts"):
        Tagger(lone(), vectorizer=HashedWords()).fit(documents, LABELS)


@pytest.mark.parametrize("terms", [None, TextVectorizer()])
def test_a_model_file_keeps_the_folder_of_the_encoder(folder, terms, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tagger = Tagger(lone(), vectorizer=TextEncoder("small", terms=terms)).fit(TEXTS, LABELS)
    path = persistence.save(tagger, tmp_path / "m")
    monkeypatch.chdir(tmp_path.parent)
    loaded = persistence.load(path)
    np.testing.assert_array_equal(loaded.decision_function(TEXTS), tagger.decision_function(TEXTS))
    assert persistence.digest(loaded) == persistence.digest(tagger)
    folder.rename(tmp_path / "gone")
    with pytest.raises(MissingError, match="small"):
        persistence.load(path).predict(["rye"])
    (tmp_path / "gone").rename(tmp_path.parent / "small")
    assert firsts(persistence.load(path)) == ["grain", "oil"]  # below where we are
    (tmp_path.parent / "small").rename(folder)


def test_the_name_of_an_encoder_is_enough_for_a_tagger(folder):
    tagger = Tagger(lone(), vectorizer=str(folder)).fit(TEXTS, LABELS)
    assert firsts(tagger) == ["grain", "oil"]


def test_another_encoder_in_the_place_of_the_first_is_refused(folder, tmp_path):
    tagger = Tagger(lone(), vectorizer=TextEncoder(str(folder))).fit(TEXTS, LABELS)
    path = persistence.save(tagger, tmp_path / "m")
    written(folder, salt="b")
    with pytest.raises(InputError, match=r"got another encoder as .*small"):
        persistence.load(path).predict(["rye"])


def test_an_encoder_without_a_place_is_not_saved_but_its_folder_may_be_told(folder, tmp_path):
    model = StaticModel.from_pretrained(folder)
    tagger = Tagger(lone(), vectorizer=model).fit(TEXTS, LABELS)
    with pytest.raises(ModelFileError, match=r"set .*encoder.* to the folder or name"):
        persistence.save(tagger, tmp_path / "m")
    before = tagger.decision_function(TEXTS)
    tagger.vectorizer = tagger.vectorizer_.encoder = str(folder)
    loaded = persistence.load(persistence.save(tagger, tmp_path / "m"))
    np.testing.assert_array_equal(loaded.decision_function(TEXTS), before)


def test_loading_a_model_file_loads_no_encoder(folder, tmp_path, monkeypatch):
    tagger = Tagger(lone(), vectorizer=TextEncoder(str(folder))).fit(TEXTS, LABELS)
    path = persistence.save(tagger, tmp_path / "m")
    monkeypatch.setattr(StaticModel, "from_pretrained", None)
    assert persistence.load(path).label_names_ == ["grain", "oil", "trade"]


def test_missing_folders_models_and_packages_are_told_in_a_sentence(folder, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    for given, message in [
        (tmp_path / "none", "there is no such folder"),
        ("./none", "there is no such folder"),
        (tmp_path / "empty", "no model is in that folder"),
        (written(tmp_path / "bad"), r"model2vec cannot load \(no salt in the config\)"),
        ("nobody/nothing", "model2vec cannot load"),
    ]:
        with pytest.raises(MissingError, match=message):
            TextEncoder(str(given)).fit(TEXTS)
    monkeypatch.setitem(sys.modules, "model2vec", None)
    monkeypatch.setattr(encoder, "find_spec", lambda name: None)
    for given in (str(folder), "nobody/nothing"):
        with pytest.raises(MissingError, match="is not installed; pip install"):
            TextEncoder(given).fit(TEXTS)


def test_models_of_sentence_transformers_are_loaded_without_their_code(tmp_path, monkeypatch):
    given = {}

    class SentenceTransformer(HashedWords):
        def __init__(self, place, **options):
            super().__init__()
            given.update(options, place=place)

    package = ModuleType("sentence_transformers")
    package.__spec__ = ModuleSpec("sentence_transformers", None)
    package.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    written(tmp_path / "st", salt="")
    (tmp_path / "st" / "config.json").write_text("{}")
    TextEncoder(str(tmp_path / "st")).fit(TEXTS)
    assert given == {
        "place": str((tmp_path / "st").resolve()), "trust_remote_code": False,
        "model_kwargs": {"use_safetensors": True},
    }  # fmt: skip


def test_unit_rows_with_terms_do_not_hurt_a_learner():
    """On topics told by single words, both kinds of features find the labels."""
    random = np.random.default_rng(0)
    words = np.array([[f"w{k}x{j}" for j in range(8)] for k in range(6)])
    topics = random.integers(0, 6, size=(240, 2))
    texts = [" ".join(random.choice(words[row].ravel(), 8)) for row in topics]
    Y = np.zeros((240, 6), int)
    np.put_along_axis(Y, topics, 1, axis=1)
    for terms in (None, TextVectorizer()):
        vectorizer = TextEncoder(HashedWords(64), terms=terms)
        tagger = Tagger(BinaryRelevanceSVM(fit_intercept=True), vectorizer=vectorizer)
        tagger.fit(texts[:180], Y[:180])
        wrong = (tagger.answer(texts[180:]).members != Y[180:]).mean()
        assert wrong < 0.1
