"""The verdict: a guess by frequency is a constant answer, judged as any other."""

import numpy as np
import pytest

from labelrank import metrics
from labelrank.evaluation.verdict import CHIEF, beats, chief, guessing, sentence


def constant_answers(Y):
    """What every row is told: the labels by frequency, and the first 1, 2, ... of them."""
    order = np.argsort(-(Y > 0).sum(axis=0), kind="stable")
    scores = np.empty(Y.shape[1])
    scores[order] = -np.arange(Y.shape[1])
    for size in range(1, Y.shape[1] + 1):
        yield np.tile(scores, (len(Y), 1)), np.tile((scores > -size).astype(int), (len(Y), 1))


@pytest.mark.parametrize("unknown", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(8))
def test_the_guess_is_the_best_constant_answer(seed, unknown):
    draw = np.random.default_rng(seed)
    Y = (draw.random((1 + 4 * seed, 7)) < draw.random(7)).astype(float)
    Y[draw.random(Y.shape) < unknown] = np.nan
    answers = [metrics.evaluate(Y, scores, predicted=sets) for scores, sets in constant_answers(Y)]
    best = max(answers, key=lambda found: found["micro_f1"])
    best["average_precision"] = 1 - best["average_precision_loss"]
    found = guessing(Y)
    assert set(CHIEF) < set(found)
    assert found == pytest.approx({name: best[name] for name in found})


def test_the_chief_criteria_are_five_of_all():
    found = chief(metrics.evaluate([[1, 0], [0, 1]], np.array([[2.0, -1.0], [-2.0, 3.0]])))
    assert list(found) == list(CHIEF)
    assert found["average_precision"] == 1.0


@pytest.mark.parametrize(
    ("precision", "recall", "labels", "said"),
    [
        (0.7, 0.65, 3.7, "2.4 of 3.7 labels found per document, 3 of 10 suggestions wrong;"),
        (0.98, 0.5, 1.0, "0.50 of 1.00 labels found per document, 2 of 100 suggestions wrong;"),
        (0.0, 0.0, 2.0, "0.0 of 2.0 labels found per document, no suggestions right;"),
    ],
)
def test_the_sentence_counts_what_was_found_and_what_is_wrong(precision, recall, labels, said):
    guess = {"micro_precision": 0.2, "micro_recall": 0.5}
    told = sentence({"micro_precision": precision, "micro_recall": recall}, guess, labels)
    assert told.startswith(said)
    assert told.endswith("8 of 10 wrong.")


def test_a_model_that_guesses_is_no_better():
    guess = guessing([[1, 0], [1, 1], [1, 0]])
    assert not beats(guess, guess)
    assert beats({"micro_f1": 1.0}, guess)
