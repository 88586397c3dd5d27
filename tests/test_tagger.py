"""The whole model: texts or features in, ranked label names out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelrank import (
    BinaryRelevancePerceptron,
    BinaryRelevanceSVM,
    MLkNN,
    MulticlassMultilabelPerceptron,
    RelevanceBinarizer,
    Tagger,
    __version__,
    persistence,
    tagger,
)
from labelrank.errors import InputError
from labelrank.text import TextVectorizer

WORDS = {"grain": "wheat rye barley", "oil": "crude barrel tanker", "trade": "export tariff duty"}
NAMES = sorted(WORDS)


def documents(n=60, seed=0):
    rng = np.random.default_rng(seed)
    lists = [list(rng.choice(NAMES, size=rng.integers(1, 3), replace=False)) for _ in range(n)]
    lists = [[str(label) for label in labels] for labels in lists]
    texts = [" ".join(WORDS[label] for label in labels) + " report" for labels in lists]
    return texts, lists


@pytest.fixture(scope="module")
def fitted():
    return Tagger().fit(*documents(), name="toy")


def test_learns_labels_that_words_give_away(fitted):
    texts, lists = documents(seed=1)
    assert [sorted(labels) for labels in fitted.predict(texts)] == [sorted(x) for x in lists]
    assert fitted.score(texts, lists) == 1.0


def test_ranking_has_all_labels_and_begins_with_the_set(fitted):
    texts, _ = documents(seed=1)
    scores = fitted.decision_function(texts)
    for row, ranked, labels in zip(scores, fitted.rank(texts), fitted.predict(texts), strict=True):
        assert sorted(label for label, _, _ in ranked) == fitted.label_names_ == NAMES
        assert [r.label for r in ranked if r.in_set] == [r.label for r in ranked[: len(labels)]]
        assert [r.label for r in ranked[: len(labels)]] == labels
        assert [r.score for r in ranked] == sorted(row.tolist(), reverse=True)
    assert all(len(ranked) == 2 for ranked in fitted.rank(texts, top=2))


@pytest.mark.parametrize(
    "learner",
    [
        MulticlassMultilabelPerceptron(random_state=0),
        OneVsRestClassifier(LogisticRegression(C=100)),
        RandomForestClassifier(n_estimators=10, random_state=0),
    ],
)
def test_other_learners_answer_in_the_same_form(learner):
    model = Tagger(learner).fit(*documents())
    ranked = model.rank(["wheat rye barley"], top=1)[0][0]
    assert ranked.label == "grain"
    assert ranked.in_set
    assert model.predict(["wheat rye barley"])[0][0] == "grain"
    assert model.decision_function(["wheat", "crude"]).shape == (2, 3)


def test_answers_do_not_depend_on_the_size_of_batches(fitted, monkeypatch):
    texts, _ = documents(seed=2)
    whole = fitted.rank(texts), fitted.predict(texts)
    monkeypatch.setattr(tagger, "_SCORES_AT_ONCE", 7)
    assert (fitted.rank(texts), fitted.predict(texts)) == whole
    assert fitted.predict([]) == fitted.rank([]) == []


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_feature_matrices_need_no_vectoriser(form):
    texts, lists = documents()
    dense = TextVectorizer().fit_transform(texts).toarray()
    learner = BinaryRelevancePerceptron(epochs=5, random_state=0)
    by_text, by_matrix = (Tagger(learner).fit(X, lists) for X in (texts, form(dense)))
    assert by_matrix.vectorizer_ is None
    assert by_matrix.predict(form(dense)) == by_text.predict(texts)
    assert by_matrix.get_feature_names_out()[0] == "x0"
    assert "wheat" in by_text.get_feature_names_out()


def test_relevance_matrix_equals_label_lists():
    texts, lists = documents()
    by_lists = Tagger().fit(texts, lists)
    Y = by_lists.relevance(lists)
    for matrix in (Y, Y.toarray()):
        by_matrix = Tagger().fit(texts, matrix, label_names=NAMES)
        assert by_matrix.rank(texts) == by_lists.rank(texts)
    assert Tagger().fit(texts, Y).label_names_ == ["0", "1", "2"]


def test_ordered_lists_become_grades():
    texts, _ = documents(2)
    model = Tagger(ordered=True).fit(texts, [["b", "a"], ["c"]])
    assert model.relevance([["c", "a", "b"]]).toarray().tolist() == [[2, 1, 3]]


def test_corrections_change_the_answer():
    texts, lists = documents()
    model = Tagger(BinaryRelevancePerceptron(margin=1.0, random_state=0)).fit(texts, lists)
    assert model.predict(["wheat rye barley"]) == [["grain"]]
    model.partial_fit(["wheat rye barley"] * 10, [["oil"]] * 10)
    assert model.predict(["wheat rye barley"]) == [["oil"]]
    assert model.summary_["n_documents"] == len(texts) + 10


def test_pieces_of_a_stream_equal_the_whole():
    texts, lists = documents()
    learner = BinaryRelevancePerceptron(averaging="averaged")
    whole = Tagger(learner, representation="hashing", max_terms=256)
    pieces = clone(whole)
    whole.partial_fit(texts, lists, label_names=NAMES)
    for start in range(0, len(texts), 7):
        part = slice(start, start + 7)
        pieces.partial_fit(texts[part], lists[part], label_names=NAMES)
    np.testing.assert_array_equal(pieces.decision_function(texts), whole.decision_function(texts))


def test_new_labels_are_refused_ignored_or_added():
    texts, lists = documents()
    more = ["bronze copper zinc"] * 30, [["metal"]] * 30
    model = Tagger(representation="hashing").partial_fit(texts, lists)
    with pytest.raises(InputError, match="metal"):
        model.partial_fit(*more)
    model.set_params(new_labels="ignore")
    with pytest.warns(UserWarning, match="metal"):
        model.partial_fit(*more)
    assert model.label_names_ == NAMES
    model.set_params(new_labels="add").partial_fit(*more)
    assert model.label_names_ == [*NAMES, "metal"]
    assert model.predict(["copper"]) == [["metal"]]
    assert model.predict(["wheat rye barley report"]) == [["grain"]]


def test_summary_says_what_the_model_is(fitted):
    summary = fitted.summary_
    assert (summary["data"], summary["n_documents"], summary["n_labels"]) == ("toy", 60, 3)
    assert summary["n_features"] == len(fitted.get_feature_names_out())
    assert summary["learner"] == "AutoRanker"
    assert summary["representation"] == "tfidf"
    assert summary["labelrank"] == __version__
    assert summary["seconds"] >= 0


def test_why_hands_names_to_the_learner_as_indices():
    class Explaining(BinaryRelevancePerceptron):
        def why(self, x, label, over=None):
            return x.shape, label, over

    model = Tagger(Explaining()).fit(*documents())
    width = len(model.get_feature_names_out())
    assert model.why("wheat", "oil") == ((1, width), 1, None)
    assert model.why("wheat", "oil", over="trade") == ((1, width), 1, 2)
    with pytest.raises(InputError, match="label 'gold', which the model does not know"):
        model.why("wheat", "gold")


def test_fit_forgets_and_does_not_touch_its_parameters():
    learner = BinaryRelevancePerceptron(random_state=0)
    model = Tagger(learner).fit(*documents())
    assert not hasattr(learner, "classes_")
    model.fit(["red blue", "green"], [["x"], ["y"]])
    assert model.label_names_ == ["x", "y"]
    assert model.summary_["n_documents"] == 2


NEGATIVE = np.full((1, 3), -1.0)


@pytest.mark.parametrize("action", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    "piece",
    [
        (["red"], [["x"], ["y"]]),
        (["red", 3], [["oil"], ["grain"]]),
        (["red"], NEGATIVE),
        (["red"], sp.csr_array(NEGATIVE)),
        (np.full((1, 2), np.nan), [["oil"]]),
    ],
)
@pytest.mark.parametrize("before", [[], [documents()]])
def test_a_refused_piece_leaves_no_trace(action, piece, before):
    model = Tagger()
    for known in before:
        model.fit(*known)
    attributes = dict(vars(model))
    scores = [model.decision_function(texts) for texts, _ in before]
    with pytest.raises(InputError):
        getattr(model, action)(*piece)
    assert vars(model) == attributes
    for (texts, _), old in zip(before, scores, strict=True):
        np.testing.assert_array_equal(model.decision_function(texts), old)


def test_a_label_that_is_refused_leaves_no_trace():
    model = Tagger().partial_fit(*documents())
    attributes = dict(vars(model))
    with pytest.raises(InputError, match="gold"):
        model.partial_fit(["red"], [["gold"]])
    assert vars(model) == attributes


def test_answers_and_reasons_take_features_in_place_of_texts(fitted):
    texts, lists = documents(seed=3)
    before = dict(vars(fitted))
    X = fitted.features(texts)
    assert np.shares_memory(fitted.features(X).data, X.data)
    assert fitted.rank(X) == fitted.rank(texts)
    assert fitted.predict(X) == fitted.predict(texts)
    assert fitted.why(X[:1], "oil").margin == fitted.why(texts[0], "oil").margin
    scores, members = fitted.answer(X)
    np.testing.assert_array_equal(scores, fitted.decision_function(texts))
    sets = [{fitted.label_names_[k] for k in np.flatnonzero(row)} for row in members]
    assert sets == [set(labels) for labels in fitted.predict(texts)]
    assert fitted.answer([]).scores.shape == fitted.answer([]).members.shape == (0, 3)
    assert vars(fitted) == before


def test_whole_sets_reach_beyond_the_top():
    texts, lists = documents()
    model = Tagger(BinaryRelevancePerceptron(random_state=0)).fit(texts, lists)
    for top in (1, 2):
        for short, ranked in zip(model.rank(texts, top, whole_sets=True), model.rank(texts)):
            size = max(top, sum(place.in_set for place in ranked))
            assert short == ranked[:size]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda m: m.fit(["one text"], [["a"], ["b"]]), "1 documents but labels of 2"),
        (lambda m: m.fit("text", [["a"]]), "wrap it"),
        (lambda m: m.fit(["text here"], ["label"]), "wrap it"),
        (lambda m: m.fit(["text here"], np.ones((1, 2)), label_names=["a"]), "name each once"),
        (lambda m: m.fit(*documents()).predict(np.ones((1, 2))), "a list of texts"),
        (lambda m: m.fit(np.eye(2), [["a"], ["b"]]).predict(["x"]), "a feature matrix"),
        (lambda m: m.set_params(new_labels="maybe").fit(*documents()), "new_labels='maybe'"),
        (
            lambda m: m.set_params(learner=MLkNN(1)).fit(*documents()).why("wheat", "oil"),
            "cannot explain",
        ),
        (
            lambda m: m.set_params(learner=LogisticRegression()).partial_fit(*documents()),
            "cannot learn in pieces",
        ),
    ],
)
def test_wrong_use_is_explained(action, message):
    with pytest.raises(InputError, match=message):
        action(Tagger())


@pytest.mark.parametrize(
    "strange",
    [sp.coo_array(np.ones(2)), sp.csr_array(np.ones(2)), np.array(3.0),
     memoryview(np.zeros((2, 2, 2))), None, 3.0, int],
    ids=lambda value: f"{type(value).__name__}-{getattr(value, 'shape', '')}",
)  # fmt: skip
def test_what_is_no_list_of_texts_or_labels_is_refused(strange):
    texts, lists = ["wheat rye", "crude oil"], [["grain"], ["oil"]]
    tagger = Tagger(BinaryRelevancePerceptron()).fit(texts, lists)
    with pytest.raises(InputError, match="got "):
        tagger.predict(strange)
    with pytest.raises(InputError, match="got "):
        tagger.partial_fit(texts, strange)
    with pytest.raises(InputError, match="got "):
        RelevanceBinarizer().fit(strange)


def test_unfitted_tagger_says_so():
    with pytest.raises(NotFittedError):
        Tagger().predict(["text"])


def test_without_a_learner_it_tries_several_and_in_pieces_takes_one_that_learns_so():
    texts, lists = documents()
    assert type(Tagger().fit(texts, lists).learner_).__name__ == "AutoRanker"
    pieces = Tagger().partial_fit(texts, lists).partial_fit(texts, lists)
    assert isinstance(pieces.learner_, BinaryRelevancePerceptron)


@pytest.mark.parametrize(("prefer", "words"), [
    ([[("rye", "gold")]], "label 'gold', which the model does not know"),
    ([[("rye", float("nan"))]], "label nan, which"),
    ([[("rye", "rye")]], "over itself"),
    ([[(None, None)]], "the threshold over itself"),
    ([[("rye", "oil"), ("oil", None), (None, "rye")]], "contradict"),
    ([["ry"]], "list of pairs"),
    ([[("rye", "oil")], []], "a row each"),
])  # fmt: skip
def test_preferences_that_say_nothing_leave_the_tagger_as_it_was(prefer, words):
    tagger = Tagger(BinaryRelevanceSVM(random_state=0)).fit(["rye", "oil"], [["rye"], ["oil"]])
    before = persistence.digest(tagger)
    with pytest.raises(InputError, match=words):
        tagger.learn_arcs(["rye and oil"], prefer)
    assert persistence.digest(tagger) == before


@pytest.mark.parametrize(("how", "labels"), [("add", 3), ("ignore", 2)])
def test_preferences_may_name_new_labels(how, labels):
    tagger = Tagger(BinaryRelevanceSVM(random_state=0), new_labels=how)
    tagger.fit(["rye", "oil"], [["rye"], ["oil"]])
    tagger.learn_arcs(["rye and oil"], [[("gold", None), ("oil", "rye")]])
    assert len(tagger.label_names_) == labels
    ranked = [place.label for place in tagger.rank(["rye and oil"])[0]]
    assert ranked.index("oil") < ranked.index("rye")
    assert ("gold" in tagger.predict(["rye and oil"])[0]) == (how == "add")


def test_a_text_without_any_word_teaches_no_preference_and_says_so():
    tagger = Tagger(BinaryRelevanceSVM(random_state=0)).fit(["rye", "oil"], [["rye"], ["oil"]])
    with pytest.warns(UserWarning, match="no feature"):
        tagger.learn_arcs(["!"], [[("oil", "rye")]])
    assert not tagger.learner_.steps_[0].coefficients.any()


def test_a_word_that_was_not_met_in_training_carries_a_correction(tmp_path):
    tagger = Tagger(BinaryRelevanceSVM(random_state=0))
    tagger.fit(["rye and oats", "oil and sea"], [["rye"], ["oil"]])
    before = tagger.decision_function(["oil", "zzz", "oil yyy"])
    tagger.learn_arcs(["oil zzz"], [[("rye", None), (None, "oil")]])
    assert tagger.predict(["oil zzz"]) == [["rye"]]
    loaded = persistence.load(persistence.save(tagger, tmp_path / "m"))
    after = loaded.decision_function(["oil", "zzz", "oil yyy"])
    assert after[1, 1] > before[1, 1]
    np.testing.assert_allclose(after[2] - after[0], before[2] - before[0])
    reason = loaded.why("oil zzz", "rye", over="oil")
    assert reason.margin == pytest.approx(
        reason.contributions.sum() + reason.shares.sum() + reason.constant
    )
    assert len(loaded.get_feature_names_out()) == loaded.learner_.n_features_in_
    assert loaded.summary_["n_features"] == 5


def test_what_is_known_weighs_as_before_beside_words_that_are_not():
    vectorizer = TextVectorizer().fit(["rye and oats", "oil and sea", "rye oil"])
    texts = ["rye zzz zzz", "yyy", "oil and rye", ""]
    wide = vectorizer.overflowing(texts, 64)
    np.testing.assert_array_equal(wide[:, :5].toarray(), vectorizer.transform(texts).toarray())
    behind = wide[:, 5:].toarray()
    rarest = vectorizer.idf_.max()
    rye = vectorizer.idf_[vectorizer.terms_.index("rye")]
    assert behind[0].max() == pytest.approx(2 * rarest / rye)
    assert behind[1].max() == pytest.approx(1.0)
    assert not behind[2:].any()
