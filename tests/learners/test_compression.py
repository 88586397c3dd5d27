"""Primed compressors against compressing every label's text again for each document."""

import bz2
import itertools
import lzma
import zlib

import numpy as np
import pytest

from labelrank import CompressionClassifier, Tagger, ThresholdedRanker, datasets, persistence
from labelrank.errors import InputError
from labelrank.learners.compression import (
    COMPRESSORS,
    compression_distances,
    compression_tree,
)

TEXTS = [
    "wheat and rye prices rise in the north", "crude oil prices fall", "rye harvest near the lake",
    "oil tankers at sea wait for crude oil", "the harvest of wheat and rye was poor",
]  # fmt: skip
Y = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0], [1, 0, 0]])
NEW = ["rye prices rise", "tankers wait for crude oil", "?", "łódź ✓"]
COMPRESS = {
    "zlib": lambda text: zlib.compress(text, 9),
    "bz2": bz2.compress,
    "lzma": lambda text: lzma.compress(text, preset=1),
}


def label_text(k):
    return "".join(text + "\n" for text, row in zip(TEXTS, Y, strict=True) if row[k]).encode()


@pytest.mark.parametrize("compressor", COMPRESS)
def test_gains_are_those_of_compressing_everything_again(compressor):
    size = lambda text: len(COMPRESS[compressor](text))  # noqa: E731
    ours = CompressionClassifier(compressor).fit(TEXTS, Y).decision_function(NEW)
    for i, text in enumerate(NEW):
        document = (text + "\n").encode()
        alone = size(document) - size(b"")
        for k in range(3):
            added = size(label_text(k) + document) - size(label_text(k))
            assert ours[i, k] == (alone - added) / max(alone, 1)


def test_zlib_state_is_copied_exactly_after_megabytes_of_text():
    sample = datasets.load("debtags-sample")
    texts = sample.texts[:1500]
    halves = np.column_stack([np.arange(1500) % 2, np.arange(1500) % 2 == 0]).astype(int)
    ours = CompressionClassifier("zlib").fit(texts, halves).decision_function(texts[:20])
    for k in range(2):
        text = "".join(t + "\n" for t, row in zip(texts, halves, strict=True) if row[k]).encode()
        whole = len(zlib.compress(text, 9))
        for i in range(20):
            document = (texts[i] + "\n").encode()
            alone = len(zlib.compress(document, 9)) - len(zlib.compress(b"", 9))
            added = len(zlib.compress(text + document, 9)) - whole
            assert ours[i, k] == (alone - added) / alone


@pytest.mark.parametrize("compressor", ["zstd", *COMPRESS])
def test_documents_go_to_the_label_that_shares_their_words(compressor):
    learner = CompressionClassifier(compressor).fit(TEXTS, Y[:, :2])
    assert learner.rank(NEW[:2], top=1).tolist() == [[0], [1]]


def test_pieces_equal_the_whole_and_threads_change_nothing():
    whole = CompressionClassifier().fit(TEXTS, Y)
    pieces = CompressionClassifier(n_jobs=2)
    for i in range(5):
        pieces.partial_fit(TEXTS[i : i + 1], Y[i : i + 1])
    np.testing.assert_array_equal(whole.decision_function(NEW), pieces.decision_function(NEW))


def test_only_the_latest_bytes_are_kept():
    short = CompressionClassifier(max_bytes=len(label_text(2)) - 5).fit(TEXTS, Y)
    assert short._texts[2].tobytes() == label_text(2)[5:]


def test_bz2_finds_what_stands_far_back_in_the_text_of_a_label():
    """50,000 bytes back; a document is a part of the text of its label that no other holds."""
    random = np.random.default_rng(0)
    texts = ["".join(random.choice(list("abcdefghijklmnop"), 60_000)) for _ in range(4)]
    learner = CompressionClassifier("bz2").fit(texts, np.eye(4))
    for start in (2_000, 5_000):
        scores = learner.decision_function([text[start : start + 3_000] for text in texts])
        assert scores.argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_new_labels_start_without_text():
    late = CompressionClassifier().partial_fit(TEXTS[:2], Y[:2, :2])
    late.partial_fit(TEXTS[2:], Y[2:], classes=np.arange(3))
    assert late.decision_function(NEW).shape == (4, 3)


def test_a_tagger_hands_over_the_texts_and_survives_a_model_file(tmp_path):
    names = [["grain", "trade"], ["oil", "trade"], ["grain"], ["oil"], ["grain"]]
    tagger = Tagger(CompressionClassifier()).fit(TEXTS, names)
    assert tagger.predict(NEW[:2]) == [["grain"], ["oil"]]
    again = persistence.load(persistence.save(tagger, tmp_path / "m.labelrank"))
    np.testing.assert_array_equal(again.decision_function(NEW), tagger.decision_function(NEW))


def test_its_cut_can_be_tuned():
    learner = ThresholdedRanker(CompressionClassifier(), cv=2, random_state=0)
    learner.fit(TEXTS * 3, np.vstack([Y] * 3))
    assert np.isfinite(learner.threshold_)
    assert learner.predict(TEXTS).shape == (5, 3)


@pytest.mark.parametrize("X", [np.eye(2), "one text", [["a"], ["b"]], [1, 2], None, ...])
def test_features_are_refused(X):
    with pytest.raises(InputError, match="list of"):
        CompressionClassifier().fit(X, [[1, 0], [0, 1]])


def test_zstd_knows_what_stood_thousands_of_bytes_ago():
    random = np.random.default_rng(0)
    early, late = (" ".join(map(str, random.integers(0, 10**9, 400))) for _ in range(2))
    learner = CompressionClassifier("zstd").fit([early, late], [[1], [1]])
    assert learner.decision_function([early[:200]])[0, 0] > 0.8


def test_a_text_fills_no_block_of_bz2_so_that_the_document_is_in_the_same():
    """In another block nothing of the text would help: the gain would be 0, or less."""
    letters = np.random.default_rng(0).integers(97, 123, 1_000_000).astype(np.uint8)
    text = letters.tobytes().decode()
    for level in (1, 9):
        learner = CompressionClassifier("bz2", level=level, max_bytes=10**9)
        learner.fit([text, "nothing"], [[1, 0], [0, 1]])
        assert len(learner._texts[0]) == 80_000 * level
        gains = learner.decision_function([text[-20_000:]])[0]
        assert gains[0] > gains[1] + 0.1


@pytest.mark.parametrize(("level", "reach"), [(3, 900_000), (9, 1_800_000), (19, 3_800_000)])
def test_zstd_looks_back_as_far_as_it_is_said_to(level, reach):
    letters = np.random.default_rng(0).integers(97, 123, 4_000_000).astype(np.uint8)
    text = letters.tobytes()
    size = COMPRESSORS["zstd"].primed(text, level)
    assert size(text[-reach : 400 - reach]) < 60
    if level < 19:
        assert size(text[-2 * reach - 500_000 :][:400]) > 200


def test_distances_by_compression_are_their_formula_and_the_tree_finds_the_languages():
    texts = [
        "all human beings are born free and equal in dignity and rights " * 2,
        "human beings are endowed with reason and conscience and should act " * 2,
        "alle menschen sind frei und gleich an würde und rechten geboren " * 2,
        "die menschen sind mit vernunft und gewissen begabt und sollen handeln " * 2,
    ]
    size = lambda text: len(lzma.compress(text, preset=1)) - len(lzma.compress(b"", preset=1))  # noqa: E731
    raw = [(text + "\n").encode() for text in texts]
    distances = compression_distances(texts)
    for a, b in itertools.combinations(range(4), 2):
        joint = (size(raw[a] + raw[b]) + size(raw[b] + raw[a])) / 2
        low, high = sorted((size(raw[a]), size(raw[b])))
        assert distances[a, b] == pytest.approx((joint - low) / high)
    assert np.array_equal(distances, distances.T)
    tree = compression_tree(texts, "zlib")
    assert {frozenset(row[:2]) for row in tree[:2]} == {frozenset({0, 1}), frozenset({2, 3})}
    with pytest.raises(InputError, match="use one of"):
        compression_distances(texts, "rar")
