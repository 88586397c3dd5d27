"""Which document a person should look at next."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import BinaryRelevanceSVM, CorrectedRanker
from labelrank.errors import InputError
from labelrank.queueing import SHARES, next_documents
from labelrank.testing import snapshot

RANDOM = np.random.default_rng(0)
X = RANDOM.random((60, 8)) * (RANDOM.random((60, 8)) < 0.6)
Y = (X[:, :4] > 0.5).astype(int)
RANKER = CorrectedRanker(BinaryRelevanceSVM(random_state=0).fit(X, Y)).partial_fit(X[:3], Y[:3])
WAYS = ["mixed", *SHARES]


@pytest.mark.parametrize("by", WAYS)
def test_every_document_comes_once_and_the_same_seed_gives_the_same_queue(by):
    queue = next_documents(RANKER, X, 60, seen=Y[:9], by=by, random_state=4)
    assert sorted(queue.tolist()) == list(range(60))
    again = next_documents(RANKER, sp.csr_array(X), 60, seen=Y[:9], by=by, random_state=4)
    if by != "near":  # where sums of a sparse and a dense matrix may differ in the last bit
        np.testing.assert_array_equal(queue, again)
    first = next_documents(RANKER, X, 7, seen=Y[:9], by=by, random_state=4)
    np.testing.assert_array_equal(queue[:7], first)


def test_the_first_is_the_nearest_to_the_cut_and_copies_of_it_come_late():
    nearest = int(np.abs(RANKER.decision_function(X)).min(axis=1).argmin())
    twice = np.vstack([X, X[nearest]])
    queue = next_documents(RANKER, twice, 61, by="near").tolist()
    assert queue[0] in (nearest, 60)
    assert set(queue[-30:]) & {nearest, 60}


def test_a_label_that_was_never_seen_comes_first():
    seen = np.repeat([[1, 1, 1, 0]], 50, axis=0)
    queue = next_documents(RANKER, X, 5, seen=seen, by="rare")
    scores = RANKER.decision_function(X)
    assert scores[queue, 3].min() >= np.sort(scores[:, 3])[-5:].min()


def test_the_mixed_queue_keeps_its_shares():
    near, rare, mixed = (
        next_documents(RANKER, X, 20, seen=Y[:9], by=by).tolist()
        for by in ("near", "rare", "mixed")
    )
    assert mixed[0] == near[0]
    assert rare[0] in mixed[:3]


def test_random_order_depends_on_the_seed_alone():
    first, second = (next_documents(RANKER, X, 9, random_state=seed).tolist() for seed in (0, 1))
    assert first != second
    assert first == next_documents(RANKER, X, 9).tolist()


@pytest.mark.parametrize(("n", "by", "words"), [
    (61, "random", "n=61 of 60 documents"), (-1, "random", "n=-1"), (2.0, "random", "n=2.0"),
    (1, "best", "got by='best'; use 'mixed', 'near'"),
])  # fmt: skip
def test_what_cannot_be_is_refused(n, by, words):
    with pytest.raises(InputError, match=words):
        next_documents(RANKER, X, n, by=by)


def test_asking_changes_nothing():
    given = (RANKER, X, Y)
    before = snapshot(given)
    next_documents(*given[:2], 10, seen=Y, by="mixed")
    assert snapshot(given) == before
