"""A model knows again the rows it has learned: whichever of them, in any order, and no others."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import NaiveBayesRanker, Tagger, persistence
from labelrank.declared import Stored
from labelrank.learned import MOST, LearnedRows, Met

LABELS = [["a"], ["b"]]


def texts(n, seed):
    words = np.random.default_rng(seed).integers(0, 500, (n, 6))
    return [" ".join(f"w{k}" for k in row) for row in words]


def dense(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 5))


def sparse(n, seed):
    return sp.random_array((n, 40), density=0.2, rng=np.random.default_rng(seed), format="csr")


def table(n, seed):
    random = np.random.default_rng(seed)
    return {"age": random.normal(size=n), "colour": random.choice(["red", "blue"], n).tolist()}


def rows(documents, chosen):
    if isinstance(documents, dict):
        return {name: np.array(cells)[chosen].tolist() for name, cells in documents.items()}
    return [documents[k] for k in chosen] if isinstance(documents, list) else documents[chosen]


@pytest.mark.parametrize("make", [texts, dense, sparse, table])
@pytest.mark.parametrize("n", [400, 3 * MOST])
def test_rows_are_known_again_shuffled_or_some_and_others_are_not(make, n):
    known = LearnedRows.of(make(n, 0))
    assert len(known.hashes) <= MOST
    order = np.random.default_rng(2).permutation(n)
    for chosen in (np.arange(n), order, order[: n // 4]):
        met = known.meet(rows(make(n, 0), chosen))
        assert met.learned == met.looked_up > 0
        assert known.are_most_of(met)
    assert not known.are_most_of(known.meet(make(n, 1)))


def test_a_third_of_known_rows_is_no_reason_to_warn():
    known = LearnedRows.of(texts(600, 0))
    assert not known.are_most_of(known.meet(texts(600, 0)[:300] + texts(600, 1)))
    assert known.are_most_of(known.meet(texts(600, 0) + texts(300, 1)))


def test_rows_that_are_alike_by_chance_are_not_taken_for_those_learned():
    few = {"size": np.arange(1000) % 30, "colour": ["red", "blue"] * 500}
    known = LearnedRows.of(few)
    for n in (10, 500):
        met = known.meet(rows(few, np.arange(n)))
        assert met.learned == met.looked_up
        assert not known.are_most_of(met)


def test_a_single_row_of_a_small_file_proves_nothing():
    known = LearnedRows.of(texts(4, 0))
    assert not known.are_most_of(known.meet(texts(4, 0)[:1]))
    assert known.are_most_of(known.meet(texts(4, 0)))
    assert not known.are_most_of(Met())


def test_the_form_of_a_row_does_not_matter():
    X = sparse(50, 0)
    wide = sp.hstack([X, sp.csr_array((50, 7))]).astype(np.float32)
    stored_zeros = X.copy()
    stored_zeros.data[::3] = 0.0
    for one, other in ((X, X.toarray()), (X, wide), (stored_zeros, stored_zeros.toarray())):
        met = LearnedRows.of(one).meet(other)
        assert met.learned == 50
    swapped = {"colour": ["red"], "age": [3.0], "other": ["x"]}
    met = LearnedRows.of({"age": [3], "colour": ["red"]}).meet(swapped, ["age", "colour"])
    assert met == (1, 1)


def test_pieces_are_known_as_the_whole():
    whole, pieces = texts(3 * MOST, 0), [slice(None, 900), slice(900, 4000), slice(4000, None)]
    known = LearnedRows.of(whole)
    first, *others = (LearnedRows.of(whole[piece]) for piece in pieces)
    together = sum(others, first)
    assert np.array_equal(together.hashes, known.hashes)
    assert np.array_equal(together.counts, known.counts)


@pytest.mark.parametrize("make", [texts, dense, table])
def test_a_model_file_keeps_it_and_its_digest_is_of_what_was_learned_alone(make, tmp_path):
    X, Y = make(40, 0), LABELS * 20
    learner = None if make is not texts else NaiveBayesRanker()
    tagger = Tagger(learner).fit(X, Y)
    before = persistence.digest(tagger)
    persistence.save(tagger, tmp_path / "m")
    loaded = persistence.load(tmp_path / "m")
    assert loaded.met(X) == (40, 40)
    assert loaded.met(make(40, 1)).learned == 0
    tagger.learned_rows_ = None
    assert persistence.digest(tagger) == before
    persistence.save(tagger, tmp_path / "m")
    assert persistence.load(tmp_path / "m").met(X) == (0, 0)


def test_what_is_learned_later_is_known_too():
    tagger = Tagger().partial_fit(texts(40, 0), LABELS * 20)
    tagger.partial_fit(texts(40, 1), LABELS * 20)
    assert tagger.met(texts(40, 0) + texts(40, 1) + texts(40, 2)) == (120, 80)


def test_a_model_file_of_before_is_read_and_knows_no_rows(tmp_path, monkeypatch):
    tagger = Tagger(NaiveBayesRanker()).fit(texts(40, 0), LABELS * 20)
    now = Tagger._stored
    parts = {name: part for name, part in now.parts.items() if name != "learned_rows_"}
    monkeypatch.setattr(Tagger, "_stored", Stored("Tagger", 1, parts))
    persistence.save(tagger, tmp_path / "old")
    monkeypatch.setattr(Tagger, "_stored", now)
    loaded = persistence.load(tmp_path / "old")
    assert loaded.learned_rows_ is None
    assert loaded.met(texts(40, 0)) == Met()
    assert loaded.rank(texts(5, 1)) == tagger.rank(texts(5, 1))
    loaded.partial_fit(texts(2, 3), LABELS)
