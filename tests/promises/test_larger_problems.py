"""Promises that small problems do not put to the test: several blocks of labels, chunks of rows."""

from itertools import product

import numpy as np
import pytest

from labelrank import (
    BinaryRelevancePerceptron,
    EmbeddingCodingPLM,
    EmbeddingPCAPLM,
    InvertedIndexKNN,
    LabelCodes,
    MulticlassMultilabelPerceptron,
    NaiveBayesRanker,
    PairwisePerceptron,
    Rocchio,
    testing,
)

CODES = LabelCodes(6).fit(np.random.default_rng(0).random((90, 70)) < 0.2).codes_
LEARNERS = [
    InvertedIndexKNN(),
    NaiveBayesRanker(),
    Rocchio(),
    MulticlassMultilabelPerceptron(penalty="random", shuffle=False),
    *(make(averaging=averaging, init=init)
      for make in (BinaryRelevancePerceptron, MulticlassMultilabelPerceptron)
      for averaging, init in product((None, "averaged"), ("zeros", "random"))),
    *(PairwisePerceptron(calibrated=calibrated, averaging=averaging, step=step, init=init,
                         representation="primal")
      for calibrated, averaging, step, init
      in product((True, False), (None, "averaged"), ("perceptron", "pa"), ("zeros", "random"))),
    EmbeddingPCAPLM(codes=CODES, preferences_per_epoch=300),
    EmbeddingPCAPLM(codes=CODES, arcs="instance"),
    EmbeddingPCAPLM(codes=CODES, update="adagrad"),
    EmbeddingCodingPLM(6, preferences_per_epoch=300),
    EmbeddingCodingPLM(6, update="adagrad"),
]  # fmt: skip
PROMISES = [
    testing.pieces_equal_the_whole, testing.threads_change_nothing,
    testing.predicting_changes_nothing, testing.saved_is_loaded,
]  # fmt: skip


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: str(learner)[:90])
def test_larger_problems_keep_the_promises(learner):
    case = testing.case(learner, n_instances=600, n_labels=70)
    for promise in PROMISES:
        testing.check_promise(promise, case)
