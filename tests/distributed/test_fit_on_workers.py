"""Learning from parts gives what one machine learns from the whole: uneven, empty, one-row parts,
and a label that one part alone has."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import (
    BinaryRelevanceLogistic,
    BinaryRelevancePerceptron,
    BinaryRelevanceSVM,
    EmbeddingCodingPLM,
    EmbeddingPCAPLM,
    MLkNN,
    MulticlassMultilabelPerceptron,
    NaiveBayesRanker,
    PairwisePerceptron,
    ProSVM,
    RankSVM,
    Rocchio,
    Tagger,
    datasets,
    distributed,
    persistence,
)
from labelrank.errors import FormatError, InputError

EXACT = {
    "naive Bayes of counts": (NaiveBayesRanker(), "bag"),
    "Bernoulli": (NaiveBayesRanker("bernoulli"), "bag"),
    "perceptrons": (BinaryRelevancePerceptron(shuffle=False, random_state=0), "tfidf"),
    "averaged": (
        BinaryRelevancePerceptron(shuffle=False, epochs=3, averaging="averaged", step="pa",
                                  fit_intercept=True, random_state=1), "tfidf"),
    "begun at random": (
        BinaryRelevancePerceptron(shuffle=False, init="random", random_state=3), "hashing"),
    "MMP": (
        MulticlassMultilabelPerceptron(shuffle=False, penalty="random", random_state=0), "tfidf"),
    "pairs": (
        PairwisePerceptron(shuffle=False, representation="primal", calibrated=False, ordered=True,
                           random_state=0), "tfidf"),
    "calibrated pairs": (
        PairwisePerceptron(shuffle=False, representation="primal", averaging="averaged", epochs=2,
                           margin=0.5, fit_intercept=True, random_state=0), "tfidf"),
    "pairs begun at random": (
        PairwisePerceptron(shuffle=False, representation="primal", init="random", random_state=2),
        "tfidf"),
    "SVMs": (BinaryRelevanceSVM(random_state=0, fit_intercept=True), "tfidf"),
    "logistic": (BinaryRelevanceLogistic(random_state=0, class_weight="balanced"), "tfidf"),
    "EP-PLM": (
        EmbeddingPCAPLM(n_components=5, epochs=4, preferences_per_epoch=20, random_state=0),
        "tfidf"),
    "EP-PLM, same instance": (
        EmbeddingPCAPLM(n_components=5, epochs=4, preferences_per_epoch=20, arcs="instance",
                        random_state=0), "tfidf"),
    "EP-PLM+": (
        EmbeddingPCAPLM(n_components=5, epochs=4, preferences_per_epoch=20, update="adagrad",
                        random_state=0), "tfidf"),
    "EC-PLM": (
        EmbeddingCodingPLM(n_components=5, epochs=4, preferences_per_epoch=20, random_state=0),
        "tfidf"),
}  # fmt: skip


def both(folder, learner, representation, client=None):
    """The tagger of one machine, and that of the parts."""
    whole = datasets.load(folder / "whole.jsonl")
    here = Tagger(learner, representation=representation)
    here.fit(whole.texts, whole.Y, label_names=whole.label_names)
    parts = datasets.open_parts(folder / "in")
    there = distributed.fit(Tagger(learner, representation=representation), parts, client)
    return whole, here, there


def assert_one(here, there):
    assert there.label_names_ == here.label_names_
    assert persistence.digest(there.vectorizer_) == persistence.digest(here.vectorizer_)
    assert persistence.digest(there.learner_) == persistence.digest(here.learner_)


@pytest.mark.parametrize("case", EXACT)
def test_parts_give_the_bits_of_the_whole(folder, case):
    whole, here, there = both(folder, *EXACT[case])
    assert_one(here, there)
    assert there.predict(whole.texts[:20]) == here.predict(whole.texts[:20])
    assert there.summary_["n_documents"] == here.summary_["n_documents"] == 241
    for found, wanted in zip(there.learned_rows_, here.learned_rows_, strict=True):
        np.testing.assert_array_equal(found, wanted)


CLOSE = {
    "naive Bayes": NaiveBayesRanker(scores="log_odds"),
    "lengths": NaiveBayesRanker("multinomial_length"),
    "Rocchio": Rocchio(),
}


@pytest.mark.parametrize("case", CLOSE)
def test_sums_of_weights_differ_by_rounding_alone(folder, case):
    whole, here, there = both(folder, CLOSE[case], "tfidf")
    scores = [one.decision_function(whole.texts) for one in (here, there)]
    np.testing.assert_allclose(*scores, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("learner", [
    ProSVM(tol=1e-4, random_state=0, max_rounds=400),
    ProSVM(approximate=True, n_blocks=3, tol=1e-4, random_state=0, fit_intercept=True,
           max_rounds=400),
    RankSVM(tol=1e-4, random_state=0, max_rounds=400),
])  # fmt: skip
def test_blocks_of_rows_reach_the_objective_of_the_whole(folder, learner):
    whole, here, there = both(folder, learner, "tfidf")
    assert there.learner_.objective_ == pytest.approx(here.learner_.objective_, rel=1e-3)
    scores = [one.decision_function(whole.texts) for one in (here, there)]
    assert np.abs(scores[0] - scores[1]).max() < 0.1 * np.abs(scores[0]).max()
    assert there.score(whole.texts, whole.Y) == pytest.approx(
        here.score(whole.texts, whole.Y), abs=0.01
    )


@pytest.mark.parametrize(
    "case", ["naive Bayes of counts", "averaged", "calibrated pairs", "EP-PLM"]
)
def test_a_cluster_gives_the_bits_of_the_whole(folder, client, case):
    _, here, there = both(folder, *EXACT[case], client)
    assert_one(here, there)


def test_a_cluster_gives_the_bits_of_the_blocks_of_this_process(folder, client):
    learner = ProSVM(n_blocks=3, tol=0.01, random_state=0)
    parts = datasets.open_parts(folder / "in")
    here, there = distributed.fit(learner, parts), distributed.fit(learner, parts, client)
    np.testing.assert_array_equal(there.learner_.coef_, here.learner_.coef_)


def test_narrow_blocks_of_labels_reach_the_same_objective(monkeypatch):
    from labelrank.distributed import blocks, engine, labels

    monkeypatch.setattr(labels, "_FOR_DUALS", 1e-9)

    X, Y, _ = datasets.make_linear_preferences(100, n_labels=40, random_state=0)
    learner = BinaryRelevanceSVM(random_state=0).fit(X, Y)
    with engine.here() as small:
        handle = small.keep(blocks.Block, sp.csr_array(X), Y)
        there = BinaryRelevanceSVM(random_state=0)
        learned = blocks.note(small, there, [handle])
        there.note(learned.whole)
        labels.at_once(there, learned, small)
    np.testing.assert_allclose(there.objective_, learner.objective_, rtol=2e-3)
    assert (there.coef_ != learner.coef_).any()


def test_features_of_extreme_text_are_learned_as_they_are(tmp_path):
    rows = ["0,2 0:1 3:2", "1 1:.5", " 2:1", "2 0:.25 1:4"]
    for name, part in (("a", rows[:3]), ("b", []), ("c", rows[3:]), ("whole", rows)):
        (tmp_path / f"{name}.txt").write_text("\n".join([f"{len(part)} 4 3", *part, ""]))
    whole = datasets.load(tmp_path / "whole.txt")
    there = distributed.fit(NaiveBayesRanker(), datasets.open_parts(tmp_path / "?.txt"))
    here = NaiveBayesRanker().fit(whole.X, whole.Y)
    assert persistence.digest(there.learner_) == persistence.digest(here)
    assert there.label_names_ == ["0", "1", "2"]


def test_what_pieces_cannot_learn_is_refused_before_a_part_is_read(folder):
    parts = datasets.open_parts(folder / "in")
    with pytest.raises(InputError, match="got MLkNN, which learns on one machine"):
        distributed.fit(MLkNN(), parts)
    with pytest.raises(InputError, match="shuffle=True, but rows in pieces"):
        distributed.fit(BinaryRelevancePerceptron(), parts)
    with pytest.raises(InputError, match="got representation='dual', but pairs in pieces"):
        distributed.fit(PairwisePerceptron(shuffle=False, representation="dual"), parts)
    with pytest.raises(InputError, match="got no learner"):
        distributed.fit(Tagger(), parts)
    with pytest.raises(InputError, match="alpha"):
        distributed.fit(NaiveBayesRanker(alpha=-1), parts)


def test_svms_that_do_not_fit_a_worker_say_what_to_do(folder, monkeypatch):
    from labelrank.distributed import engine

    monkeypatch.setattr(engine, "available_bytes", lambda: 10_000)
    with pytest.raises(InputError, match=r"needs all 241 rows in one worker.*use ProSVM"):
        distributed.fit(BinaryRelevanceSVM(), datasets.open_parts(folder / "in"))


def test_tables_and_damage_in_the_middle_are_named_by_their_path(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("size,price,labels\n1,2,x\n3,4,y\n")
    with pytest.raises(FormatError, match=r"a\.csv: columns 'size', 'price' are a table"):
        distributed.fit(NaiveBayesRanker(), datasets.open_parts(tmp_path))
    rows = "text,labels\n" + "some words,x\n" * 300
    (tmp_path / "a.csv").write_text(rows)
    (tmp_path / "b.csv").write_text(rows + 'broken,"x\n')
    with pytest.raises(FormatError, match=r"b\.csv, line 302"):
        distributed.fit(NaiveBayesRanker(), datasets.open_parts(tmp_path))
