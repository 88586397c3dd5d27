"""Of an instance without a known feature nothing is known; features may not leave their range."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import BinaryRelevanceSVM, Tagger, catalog
from labelrank.errors import InputError
from labelrank.learners.base import LabelRanker

random = np.random.default_rng(0)
X = random.random((60, 8)) * (random.random((60, 8)) < 0.6)
X[:, 0] += 0.1
Y = (X[:, 1:4] + 0.1 * random.random((60, 3)) > [0.5, 0.1, 0.3]).astype(int)
NOTHING = np.zeros((2, 8))
SLOW = {"PC0", "PC0R"}


def made(name):
    learner = catalog.make(name)
    quick = {"n_rounds": 5, "n_chains": 3, "n_estimators": 5, "max_rounds": 5}
    names = learner.get_params()
    learner.set_params(**{k: v for k, v in quick.items() if k in names})
    return learner.set_params(**{name: 0 for name in names if name.endswith("random_state")})


OURS = [
    entry.name for entry in catalog.entries()
    if isinstance(catalog.make(entry.name), LabelRanker) and entry.name not in SLOW
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OURS)
def test_nothing_known_is_ranked_by_the_frequencies(name):
    learner, nothing = made(name), NOTHING
    if name == "compress":
        texts = [" ".join(f"word{j}" for j in np.flatnonzero(row)) for row in X]
        learner.fit(texts, Y)
        nothing = ["", "  \n"]
    else:
        learner.fit(X, Y)
    assert learner.rank(nothing).tolist() == [[1, 0, 2]] * 2
    scores, members = learner.answer(nothing)
    shares = learner.predict_proba(nothing)
    assert (np.diff(scores[:, [2, 0, 1]], axis=1) > 0).all()
    assert (np.diff(shares[:, [2, 0, 1]], axis=1) >= 0).all()
    # The cut: above one half, or as many as there were on average.
    by_number = getattr(learner, "threshold", None) == "cardinality" and not learner.is_calibrated
    assert members.tolist() == [[by_number, True, False]] * 2
    assert np.array_equal(learner.predict(nothing), members)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in OURS if name != "compress"])
@pytest.mark.parametrize("factor", [1e16, 1e200, 1e-25])
def test_features_out_of_range_are_refused(name, factor):
    with pytest.raises(InputError, match="scale the features first"):
        made(name).fit(X * factor, Y)


def test_features_out_of_range_are_refused_when_asked_for_an_answer():
    learner = made("BR").fit(X, Y)
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(InputError, match="scale the features first"):
            learner.rank(form(X * -1e20))
    assert np.isfinite(learner.decision_function(X * 1e-25)).all()  # small beside what it learned


def test_instances_without_features_that_were_learned_are_answered_as_learned():
    rows = np.vstack([X, np.zeros((30, 8))])
    relevance = np.vstack([Y, np.repeat([[0, 0, 1]], 30, axis=0)])
    learns = BinaryRelevanceSVM(fit_intercept=True, random_state=0).fit(rows, relevance)
    assert learns.predict(NOTHING).tolist() == [[0, 0, 1]] * 2
    cannot = BinaryRelevanceSVM(random_state=0).fit(rows, relevance)
    assert cannot.rank(NOTHING).tolist() == [[2, 1, 0]] * 2


def test_where_zero_is_seldom_it_is_a_number_for_those_who_can_learn_it():
    line = np.linspace(-1, 1, 200)[:, None]  # 0 is not among them
    inside = (np.abs(line) < 0.3).astype(int)
    for name in ("kernel", "forest", "boosted-trees"):
        assert made(name).fit(line, inside).predict([[0.0]]).tolist() == [[1]], name


def test_pieces_count_the_labels_as_the_whole():
    whole, pieces = made("BR").fit(X, Y), made("BR")
    for part in np.split(np.arange(60), [1, 20]):
        pieces.partial_fit(X[part], Y[part])
    assert np.array_equal(whole.decision_function(NOTHING), pieces.decision_function(NOTHING))
    unknown = pieces.partial_fit(X[:5], np.full((5, 3), np.nan))
    assert np.array_equal(whole.decision_function(NOTHING), unknown.decision_function(NOTHING))


def test_a_class_vector_is_answered_by_its_most_frequent_class():
    classes = np.where(Y[:, 2] > 0, "rare", np.where(Y[:, 0] > 0, "often", "rare"))
    learner = made("CMLPC+").fit(X, classes)
    names, counts = np.unique(classes, return_counts=True)
    assert learner.predict(NOTHING).tolist() == [names[counts.argmax()]] * 2


def test_a_text_of_unknown_words_gets_the_frequent_labels():
    texts, labels = ["rye and oats", "oil", "rye", "rye grain"], [["grain"], ["oil"], ["grain"], []]
    for name in ("CMLPC+", "BR+"):
        tagger = Tagger(catalog.make(name)).fit(texts, labels)
        assert [place.label for place in tagger.rank(["", "xyzzy"])[1]] == ["grain", "oil"]
        assert tagger.predict([""]) == [[]]


def test_the_reasons_of_an_instance_of_which_nothing_is_known_sum_to_its_score():
    learner = made("BR").fit(X, Y)
    reason = learner.why(NOTHING[:1], 1)
    assert not len(reason.features)
    assert reason.margin == pytest.approx(learner.decision_function(NOTHING)[0, 1])
