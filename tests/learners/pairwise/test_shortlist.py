"""Shortlists: what is proposed, what is learned of it, and how it is ranked."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import BinaryRelevancePerceptron, decoding
from labelrank.errors import InputError
from labelrank.learners.pairwise.mistakes import DualPairScorer
from labelrank.learners.pairwise.shortlist import (
    RANKERS,
    CentroidRanker,
    ShortlistScorer,
    check_shortlist,
    make_ranker,
)
from labelrank.relevance import check_relevance
from labelrank.rows import as_rows
from references.pairwise import Reference, random_problem


def shortlisted(X, Y, ranker="centroid", size=4, calibrated=True):
    scorer = unfitted(X.shape[1], Y.shape[1], make_ranker(ranker), size, calibrated)
    scorer.course(as_rows(X), check_relevance(Y))(np.arange(len(X)))
    return scorer


def unfitted(n_features, n_labels, ranker, size, calibrated=True):
    return ShortlistScorer(
        n_features, n_labels, calibrated=calibrated, ordered=False, ranker=ranker, size=size
    )


def problem(seed=0, n=60):
    return random_problem(seed, n=n, d=12, n_labels=10)


class GivenCandidates(DualPairScorer):
    def candidates(self, X, Y):
        return self.given


def test_only_duels_with_candidates_are_learned():
    X, Y = problem()
    candidates = np.random.default_rng(1).integers(0, 10, (60, 3)).astype(np.int32)
    told = np.full_like(Y, np.nan)
    np.put_along_axis(told, candidates.astype(int), 0.0, axis=1)
    told[Y > 0] = 1.0
    slow = Reference(12, 10, calibrated=True, ordered=False)
    slow.learn(X, told, range(60))
    pairs = GivenCandidates(12, 10, calibrated=True, ordered=False)
    pairs.given = candidates
    lesson = pairs.course(as_rows(X), check_relevance(Y))(np.arange(60))
    assert lesson == (slow.trained, slow.mistakes)
    np.testing.assert_array_equal(pairs.margins(as_rows(X)), slow.margins(X))


@pytest.mark.parametrize("calibrated", [True, False])
def test_votes_among_candidates_are_counted_from_their_margins(calibrated):
    X, Y = problem(1)
    pairs = shortlisted(X, Y, calibrated=calibrated)
    candidates = np.array([np.random.default_rng(i).permutation(10)[:4] for i in range(60)])
    votes, sums = pairs.votes_among(as_rows(X), candidates)
    margins = pairs.margins(as_rows(X))
    for i, chosen in enumerate(candidates):
        among = margins[i][np.ix_(*2 * ([*chosen, *([10] if calibrated else [])],))]
        first = np.triu(np.ones_like(among, bool), 1)
        np.testing.assert_array_equal(votes[i], ((among > 0) | ((among == 0) & first)).sum(axis=1))
        np.testing.assert_array_equal(sums[i], among.sum(axis=1))


@pytest.mark.parametrize("ranker", sorted(RANKERS))
@pytest.mark.parametrize("calibrated", [True, False])
def test_proposed_labels_come_first_and_the_rest_as_the_ranker_says(ranker, calibrated):
    X, Y = problem(2)
    scorer = shortlisted(X, Y, ranker, calibrated=calibrated)
    order = decoding.rank(scorer.scores(as_rows(X), "margin"))
    rough = scorer.ranker.decision_function(X.astype(np.float32))
    proposed = decoding.rank(rough, 4)
    np.testing.assert_array_equal(np.sort(order[:, :4]), np.sort(proposed))
    assert (np.diff(np.take_along_axis(rough, order[:, 4:], axis=1)) <= 1e-12).all()


def test_a_shortlist_of_all_labels_ranks_by_all_duels():
    X, Y = problem(3)
    scorer = shortlisted(X, Y, size=50)
    everything = DualPairScorer(12, 10, calibrated=True, ordered=False)
    everything.course(as_rows(X), check_relevance(Y))(np.arange(60))
    np.testing.assert_array_equal(scorer.margins(as_rows(X)), everything.margins(as_rows(X)))
    assert scorer.duels_each == 11 * 10 // 2


def test_a_later_piece_is_learned_by_ranker_and_perceptrons():
    X, Y = problem(4)
    scorer = shortlisted(X[:30], Y[:30])
    before = scorer.scores(as_rows(X), "margin")
    scorer.course(as_rows(X[30:]), check_relevance(Y[30:]))(np.arange(30))
    assert (scorer.scores(as_rows(X), "margin") != before).any()
    together = CentroidRanker().fit(X, Y)
    ours, theirs = scorer.ranker.decision_function(X), together.decision_function(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_a_second_epoch_keeps_the_proposals():
    X, Y = problem(5)
    rows, Y = as_rows(X), check_relevance(Y)
    learn = unfitted(12, 10, make_ranker("centroid"), 4).course(rows, Y)
    first = learn(np.arange(60))
    assert learn(np.arange(60)).trained == first.trained


def test_labels_declared_later_are_proposed_too():
    X, Y = problem(6)
    scorer = shortlisted(X[:30], Y[:30, :6])
    scorer = scorer.widened(10)
    scorer.course(as_rows(X[30:]), check_relevance(Y[30:]))(np.arange(30))
    assert scorer.scores(as_rows(X), "margin").shape == (60, 10)
    assert (decoding.rank(scorer.scores(as_rows(X), "margin"), 4) >= 6).any()


def test_centroids_learned_in_pieces_equal_the_whole():
    X, Y = problem(8)
    whole, pieces = CentroidRanker().fit(X, Y), CentroidRanker()
    for first in (0, 20, 40):
        pieces.partial_fit(X[first : first + 20], Y[first : first + 20])
    np.testing.assert_allclose(pieces.decision_function(X), whole.decision_function(X), atol=1e-6)


def test_centroids_are_compared_by_cosine():
    X, Y = problem(7)
    unit = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    centroid = Y.T @ unit
    centroid /= np.maximum(np.linalg.norm(centroid, axis=1, keepdims=True), 1e-300)
    found = CentroidRanker().fit(X, Y).decision_function(X)
    np.testing.assert_allclose(found, unit @ centroid.T, atol=1e-6)


@pytest.mark.parametrize(
    "wrong", ["centroid", ("centroid",), ("centroid", 0), ("centroid", True), ("trees", 5), (3, 5)]
)
def test_anything_but_ranker_and_size_is_refused(wrong):
    check_shortlist(("knn", 5))
    check_shortlist((BinaryRelevancePerceptron(), 5))
    with pytest.raises(InputError, match="shortlist"):
        check_shortlist(wrong)


def test_candidates_out_of_range_are_refused():
    X, Y = problem(9)
    scorer = shortlisted(X, Y)
    for bad in (np.full((60, 2), 10), np.zeros((3, 2)), np.zeros(60)):
        with pytest.raises(InputError, match="candidates"):
            scorer.votes_among(as_rows(X), bad)


def test_sparse_and_dense_rows_are_the_same():
    X, Y = problem(10)
    ours, theirs = shortlisted(X, Y), shortlisted(sp.csr_array(X).toarray(), Y)
    np.testing.assert_array_equal(
        ours.scores(as_rows(sp.csr_array(X)), None), theirs.scores(as_rows(X), None)
    )
