"""Text representations against the same mathematics written out by hand."""

import re
from collections import Counter
from math import log, sqrt

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from labelrank.errors import InputError
from labelrank.text import TextVectorizer, make_vectorizer

TEXTS = [
    "Wheat wheat wheat wheat and rye",
    "Rye prices and oil prices",
    "Oil, and nothing but oil",
    "and",
]


def words(text):
    return re.findall(r"\w\w+", text.lower())


def document_frequency(texts):
    return Counter(term for text in texts for term in set(words(text)))


def oracle_counts(texts, terms):
    return np.array([[Counter(words(text))[term] for term in terms] for text in texts], float)


def terms_of(vectorizer):
    return vectorizer.get_feature_names_out().tolist()


def test_bag_counts_and_set_marks_every_term():
    terms = sorted(document_frequency(TEXTS))
    bag, presence = make_vectorizer("bag"), make_vectorizer("set")
    counts = oracle_counts(TEXTS, terms)
    np.testing.assert_array_equal(bag.fit_transform(TEXTS).toarray(), counts)
    np.testing.assert_array_equal(presence.fit_transform(TEXTS).toarray(), counts > 0)
    assert terms_of(bag) == terms_of(presence) == terms


def test_tfidf_is_the_smoothed_formula_with_unit_length():
    frequency = document_frequency(TEXTS)
    terms = sorted(frequency)
    weights = [log((1 + len(TEXTS)) / (1 + frequency[term])) + 1 for term in terms]
    expected = oracle_counts(TEXTS, terms) * weights
    expected /= np.array([[sqrt(sum(row**2))] for row in expected])
    found = make_vectorizer("tfidf").fit_transform(TEXTS).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_sublinear_counts_are_one_plus_the_logarithm():
    terms = sorted(document_frequency(TEXTS))
    counts = oracle_counts(TEXTS, terms)
    expected = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    found = make_vectorizer("bag", sublinear_tf=True).fit_transform(TEXTS).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("size", range(1, 8))
def test_top_terms_are_those_in_most_documents_then_alphabetical(size):
    frequency = document_frequency(TEXTS)
    best = sorted(frequency, key=lambda term: (-frequency[term], term))[:size]
    vectorizer = make_vectorizer("bag", max_terms=size).fit(TEXTS)
    assert terms_of(vectorizer) == sorted(best)
    np.testing.assert_array_equal(
        vectorizer.transform(TEXTS).toarray(), oracle_counts(TEXTS, sorted(best))
    )


def test_repetition_in_one_document_does_not_make_a_term_frequent():
    vectorizer = make_vectorizer("bag", max_terms=3).fit(TEXTS)
    assert terms_of(vectorizer) == ["and", "oil", "rye"]


def test_terms_and_weights_come_from_the_training_texts_only():
    vectorizer = make_vectorizer("tfidf", max_terms=2).fit(TEXTS)
    before = vectorizer.transform(TEXTS[:2]).toarray()
    vectorizer.transform(["barley barley oats"] * 50)
    np.testing.assert_array_equal(vectorizer.transform(TEXTS[:2]).toarray(), before)
    assert vectorizer.transform(["barley oats"]).nnz == 0


@pytest.mark.parametrize("representation", ["tfidf", "bag", "set", "hashing"])
def test_features_are_float32_and_the_same_each_time(representation):
    vectorizer = make_vectorizer(representation, max_terms=64)
    first = vectorizer.fit_transform(TEXTS)
    again = vectorizer.transform(TEXTS)
    assert first.dtype == again.dtype == np.float32
    np.testing.assert_array_equal(first.toarray(), again.toarray())
    assert len(terms_of(vectorizer)) == first.shape[1]
    assert vectorizer.transform([]).shape == (0, first.shape[1])


def test_hashing_treats_every_piece_of_a_stream_alike():
    whole = make_vectorizer("hashing", max_terms=1024).fit_transform(TEXTS)
    for i, text in enumerate(TEXTS):
        alone = make_vectorizer("hashing", max_terms=1024).fit_transform([text])
        np.testing.assert_array_equal(alone.toarray(), whole[[i]].toarray())
    assert (whole.data > 0).all()
    np.testing.assert_allclose(np.sqrt(whole.power(2).sum(axis=1)), 1, rtol=1e-6)


def test_a_refused_fit_leaves_the_vectoriser_as_it_was():
    vectorizer = TextVectorizer("tfidf").fit(TEXTS)
    before, features = dict(vars(vectorizer)), vectorizer.transform(TEXTS).toarray()
    for texts in ([], ["?"], ["fine", None]):
        with pytest.raises(InputError):
            vectorizer.fit(texts)
    assert vars(vectorizer) == before
    np.testing.assert_array_equal(vectorizer.transform(TEXTS).toarray(), features)


@pytest.mark.parametrize(
    ("representation", "changes", "reason"),
    [
        ("tfidf", {"terms_": None}, "do not fit the representation"),
        ("hashing", {"terms_": ["rye"]}, "do not fit the representation"),
        ("bag", {"terms_": ["rye", "rye"]}, "distinct"),
        ("bag", {"terms_": ["rye", 3]}, "distinct"),
        ("tfidf", {"idf_": np.ones(1, np.float32)}, "frequencies"),
        ("tfidf", {"idf_": None}, "frequencies"),
        ("bag", {"token_pattern": "("}, "unterminated"),
        ("bag", {"ngram_range": 3}, "unpack"),
        ("hashing", {"ngram_range": (3, 1)}, "ngram_range"),
        ("bag", {"analyzer": "none"}, "none"),
        ("bag", {"norm": "l7"}, "l7"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused_on_loading(representation, changes, reason):
    vectorizer = TextVectorizer(representation).fit(TEXTS)
    vars(vectorizer).update(changes)
    with pytest.raises(ValueError, match=reason):
        vectorizer.after_loading()


def test_ngrams_and_stop_words_pass_through():
    vectorizer = TextVectorizer("bag", ngram_range=(2, 2), stop_words=["and"]).fit(TEXTS[:1])
    assert terms_of(vectorizer) == ["wheat rye", "wheat wheat"]


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ("one string", {}, "wrap it"),
        (["fine", None], {}, "text number 1"),
        ([b"bytes"], {}, "decode bytes"),
        (["a", "?"], {}, "give no features"),
        ([], {}, "no text"),
        ([], {"representation": "hashing"}, "no text"),
        (TEXTS, {"representation": "words"}, "representation='words'"),
        (TEXTS, {"max_terms": 0}, "max_terms=0"),
        (TEXTS, {"norm": "l3"}, "norm='l3'"),
    ],
)
def test_wrong_input_is_explained(texts, options, message):
    with pytest.raises(InputError, match=message):
        TextVectorizer(**options).fit(texts)


PIECES = [TEXTS[:1], [], TEXTS[1:3], ["", "42 !"], TEXTS[3:]]


@pytest.mark.parametrize("representation", ["tfidf", "bag", "set", "hashing"])
@pytest.mark.parametrize("options", [{}, {"max_terms": 3}, {"sublinear_tf": True}])
def test_counts_of_pieces_give_the_terms_weights_and_features_of_the_whole(representation, options):
    whole = make_vectorizer(representation, **options)
    X = whole.fit_transform([text for piece in PIECES for text in piece])
    there = make_vectorizer(representation, **options)
    counted = [there.count(piece) for piece in PIECES]
    first, *others = (one.frequencies() for one in counted)
    there.fit_counts(sum(others, first))
    assert there.terms_ == whole.terms_
    np.testing.assert_array_equal(there.idf_, whole.idf_)
    pieces = [there.weigh(one) for one in counted]
    assert [piece.shape[0] for piece in pieces] == list(map(len, PIECES))
    for part in ("data", "indices"):
        found = np.concatenate([getattr(piece, part) for piece in pieces])
        np.testing.assert_array_equal(found, getattr(X, part))


def test_terms_and_weights_are_those_of_scikit_learn():
    texts = [f"{a} {b} {a} rye" for a in "abcdefgh" for b in ("wheat", "oil", "corn" * 3)] * 3
    options = {"min_df": 4, "max_df": 0.9, "token_pattern": r"\w+"}
    ours = TextVectorizer("tfidf", **options).fit(texts)
    theirs = TfidfVectorizer(dtype=np.float32, **options).fit(texts)
    assert ours.terms_ == theirs.get_feature_names_out().tolist()
    np.testing.assert_array_equal(ours.idf_, theirs.idf_)


def test_bounds_of_documents_that_leave_nothing_or_mean_nothing():
    with pytest.raises(InputError, match="none of 7 terms is in 5 to 4 of them"):
        TextVectorizer(min_df=5).fit(TEXTS)
    with pytest.raises(InputError, match=r"min_df=2\.5; give a whole number"):
        TextVectorizer(min_df=2.5).fit(TEXTS)
    with pytest.raises(InputError, match="they are empty, or stop words only"):
        TextVectorizer().fit(["", "!"])
