"""Targets of several classes as labels: one label of each block."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import (
    AutoRanker,
    BinaryRelevanceLogistic,
    BlockClassifier,
    ClassifierChain,
    ForestRanker,
    IndependentClassifiers,
    TargetColumns,
    ViterbiClassifierChain,
    metrics,
    persistence,
)
from labelrank.errors import InputError
from labelrank.learners.auto.blocks import as_codes, as_labels, first_of_blocks, members, shared
from labelrank.testing import check_learner

BLOCKS = [3, 2]


def targets(n=240, seed=0):
    """Two targets, of three and two classes, the second of which follows the first."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    first = np.digitize(X[:, 0] + 0.1 * random.normal(size=n), [-0.5, 0.5])
    second = (np.abs(X[:, 1]) + (first == 1) > 1).astype(int)
    return X, np.column_stack([first, second])


def test_codes_become_labels_and_come_back():
    codes = np.array([[2.0, 0.0], [np.nan, 1.0], [1.0, -2.0], [0.0, -1.0]])
    Y = as_labels(codes, BLOCKS)
    np.testing.assert_array_equal(as_codes(Y, BLOCKS), [[2, 0], [np.nan, 1], [1, -2], [0, np.nan]])
    with np.errstate(all="raise"):
        assert as_labels(codes[:1], BLOCKS).toarray().tolist() == [[0, 0, 1, 1, 0]]


def test_the_best_label_of_each_block_is_taken():
    scores = np.array([[0.1, 0.3, 0.2, -5.0, -4.0]])
    assert first_of_blocks(scores, BLOCKS).tolist() == [[1, 1]]
    assert members(scores, BLOCKS).tolist() == [[False, True, False, False, True]]
    np.testing.assert_allclose(shared(np.array([[0.2, 0.6, 0.0, 0.3, 0.1]]), BLOCKS),
                               [[0.25, 0.75, 0, 0.75, 0.25]], atol=1e-9)  # fmt: skip


@pytest.mark.parametrize("chain", [IndependentClassifiers, ClassifierChain, ViterbiClassifierChain])
def test_the_path_of_a_chain_scores_first(chain):
    X, codes = targets()
    alone = chain(targets="classes").fit(X[:160], codes[:160])
    inside = TargetColumns(chain(), sizes=BLOCKS).fit(X[:160], as_labels(codes, BLOCKS)[:160])
    path = alone.predict(X)
    np.testing.assert_array_equal(first_of_blocks(inside.decision_function(X), BLOCKS), path)
    chosen = inside.predict(X)
    np.testing.assert_array_equal(first_of_blocks(chosen.toarray(), BLOCKS), path)


def test_a_class_that_no_row_has_is_never_taken_and_unknown_targets_state_nothing():
    X, codes = targets()
    codes = codes.astype(float)
    codes[codes[:, 0] == 1, 0] = np.nan
    learner = BlockClassifier(ForestRanker(20, random_state=0), targets="classes").fit(X, codes)
    assert set(learner.predict(X)[:, 0]) == {0, 2}


@pytest.mark.parametrize("criterion", ["exact_match", "hamming_score"])
def test_auto_is_as_good_as_chains_and_forests_alone(criterion):
    X, codes = targets(600)
    auto = BlockClassifier(AutoRanker(criterion), random_state=0).fit(X[:300], codes[:300])
    judge = getattr(metrics, criterion)
    found = judge(codes[300:], auto.predict(X[300:]))
    others = [ViterbiClassifierChain(targets="classes"), IndependentClassifiers(targets="classes"),
              BlockClassifier(ForestRanker(random_state=0))]  # fmt: skip
    for other in others:
        alone = judge(codes[300:], other.fit(X[:300], codes[:300]).predict(X[300:]))
        assert found >= alone - 0.03
    assert auto.estimator_.held_out_["criterion"] == criterion
    tried = {trial["name"] for trial in auto.estimator_.trials_ if trial["score"] is not None}
    assert {"Viterbi chain", "classifier chain", "forest"} <= tried


def test_classes_of_any_name_come_back_with_their_probabilities(tmp_path):
    X, codes = targets()
    names = np.array(["low", "middle", "top"])[codes]
    learner = BlockClassifier(AutoRanker("exact_match", fast=True), random_state=0).fit(X, names)
    answer = learner.predict(X)
    assert set(answer[:, 0]) == {"low", "middle", "top"}
    assert set(answer[:, 1]) <= {"low", "middle"}
    chances = learner.predict_proba(X)
    assert [one.shape[1] for one in chances] == [3, 2]
    for block, classes, chosen in zip(chances, learner.column_classes_, answer.T, strict=True):
        np.testing.assert_allclose(block.sum(axis=1), 1.0)
        place = np.searchsorted(classes, chosen)[:, None]
        own = np.take_along_axis(block, place, axis=1)
        np.testing.assert_allclose(own[:, 0], block.max(axis=1))
    loaded = persistence.load(persistence.save(learner, tmp_path / "targets.labelrank"))
    np.testing.assert_array_equal(loaded.predict(X), answer)
    assert loaded.score(X, names) == metrics.exact_match(
        np.searchsorted(["low", "middle", "top"], names),
        np.searchsorted(["low", "middle", "top"], answer),
    )


def test_a_judge_of_targets_asks_for_targets():
    X, codes = targets(60)
    for wrong in (AutoRanker("exact_match"), AutoRanker("hamming_score")):
        with pytest.raises(InputError, match="put AutoRanker into a BlockClassifier"):
            wrong.fit(X, as_labels(codes, BLOCKS))
    for blocks in ([3, 1], [], [0, 5], "ab", 5, [2.5, 2.5]):
        with pytest.raises(InputError, match=r"give the number of (labels|classes) of each"):
            AutoRanker("exact_match", sizes=blocks).fit(X, as_labels(codes, BLOCKS))
    with pytest.raises(InputError, match="give a label ranker"):
        BlockClassifier(ClassifierChain()).fit(X, codes)


def test_labels_in_one_block_are_ranked_by_any_criterion():
    X, codes = targets()
    Y = as_labels(codes, BLOCKS)
    auto = AutoRanker("ranking_loss", sizes=BLOCKS, fast=True, random_state=0).fit(X, Y)
    assert (auto.predict(X).sum(axis=1) == 2).all()
    assert metrics.ranking_loss(Y, auto.decision_function(X)) < 0.2
    np.testing.assert_allclose(auto.link(auto.decision_function(X))[:, :3].sum(axis=1), 1.0)


@pytest.mark.parametrize("learner", [
    BlockClassifier(BinaryRelevanceLogistic()), BlockClassifier(ForestRanker(10)),
])  # fmt: skip
def test_the_promises_of_all_learners_are_kept(learner):
    check_learner(learner)


def test_relevance_is_learned_as_targets_of_two_classes():
    X, codes = targets()
    Y = sp.csr_array((codes > 0).astype(int))
    learner = BlockClassifier(ForestRanker(20, random_state=0)).fit(X, Y)
    assert (learner.predict(X) != Y).nnz < 10
