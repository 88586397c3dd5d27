"""The catalogue of promises, run over every learner of the catalog and over the wrappers."""

import pytest

from labelrank import (
    BaggedRanker,
    BinaryRelevancePerceptron,
    CalibratedRanker,
    ChainEnsemble,
    ChainSearch,
    GradedClassifier,
    MulticlassMultilabelPerceptron,
    PairwisePerceptron,
    Rocchio,
    Tagger,
    ThresholdedRanker,
    TwoStageRanker,
    catalog,
    testing,
)

# What makes slow learners quick, and changes nothing else.
QUICKER = {
    "PC0": {"until_no_error": False},
    "PC0R": {"until_no_error": False},
    "EC-PLM+": {"epochs": 3},
    "forest": {"n_estimators": 10},
    "boosted-trees": {"n_rounds": 10, "min_samples_leaf": 5},
    "bagged EC-PLM": {"n_estimators": 2},
    "bagged EP-PLM": {"n_estimators": 2},
}
FOREIGN = ("one-vs-all", "trees", "SVM-linear")
# Promises that learners do not make: promise, reason, learners.
LEFT_OUT = [
    ("unknown_labels_state_nothing", "each instance moves the average of the weights",
     ("BR+", "EC-PLM+", "EP-PLM+")),
    ("unknown_labels_state_nothing", "an instance may be a neighbor, whatever its labels",
     ("kNN", "kNN+")),
    ("unknown_labels_state_nothing", "each document counts among all documents",
     ("Rocchio", "Rocchio+", "NB-length", "tagger of prototypes", "a cut per label")),
    ("every_form_of_X_gives_the_same_answer", "it reads sparse features as words",
     ("BoosTexter",)),
    ("every_form_of_X_gives_the_same_answer", "scikit-learn reads X in its own way", FOREIGN),
    ("every_form_of_Y_gives_the_same_answer", "scikit-learn reads Y in its own way", FOREIGN),
    ("refusals_leave_no_trace", "scikit-learn's fit is not all or nothing", FOREIGN),
    ("pieces_equal_the_whole", "the first piece fixes the codes",
     ("EC-PLM+", "EP-PLM", "EP-PLM+", "bagged EP-PLM")),
    ("pieces_equal_the_whole", "the first piece chooses the representation",
     ("CMLPC", "PC0", "PC0R")),
    ("pieces_equal_the_whole", "each piece is ranked by what the ranker knows then",
     ("pairwise shortlist",)),
]  # fmt: skip
WRAPPERS = {
    "bagged perceptron": lambda: BaggedRanker(BinaryRelevancePerceptron(), n_estimators=2),
    "thresholded perceptron": lambda: ThresholdedRanker(MulticlassMultilabelPerceptron()),
    "pairwise primal": lambda: PairwisePerceptron(representation="primal"),
    "pairwise dual": lambda: PairwisePerceptron(representation="dual"),
    "pairwise shortlist": lambda: PairwisePerceptron(shortlist=("centroid", 3)),
    "two stages": lambda: TwoStageRanker(catalog.make("BSVM"), catalog.make("RankSVM")),
    "tagger": lambda: Tagger(catalog.make("BR")),
    "tagger of prototypes": lambda: Tagger(Rocchio()),
    "chain search": ChainSearch,
    "chain ensemble": ChainEnsemble,
    "graded": GradedClassifier,
    "calibrated perceptron": lambda: CalibratedRanker(BinaryRelevancePerceptron()),
    "calibrated chain": lambda: CalibratedRanker(catalog.make("CC")),
    "a cut per label": lambda: ThresholdedRanker(Rocchio(), per_label=True),
    "shrunk cuts": lambda: ThresholdedRanker(catalog.make("BR"), strategy="shrunk"),
    "as many as expected": lambda: ThresholdedRanker(catalog.make("BR"), strategy="count"),
    "best cut": lambda: ThresholdedRanker(catalog.make("BSVM"), strategy="best"),
    "cut naive Bayes": lambda: ThresholdedRanker(catalog.make("NB"), strategy="fixed"),
}
CASES = {}


def made(name):
    if name not in CASES:
        make = WRAPPERS.get(name, lambda: catalog.make(name, **QUICKER.get(name, {})))
        CASES[name] = testing.case(make())
    return CASES[name]


def _left_out(promise, name):
    return any(promise == left and name in names for left, _, names in LEFT_OUT)


PAIRS = [
    (promise, name)
    for name in [*catalog.names(), *WRAPPERS]
    for promise in testing.PROMISES
    if not _left_out(promise.__name__, name)
]


@pytest.mark.parametrize(
    ("promise", "name"), PAIRS, ids=[f"{promise.__name__}-{name}" for promise, name in PAIRS]
)
def test_promise(promise, name):
    testing.check_promise(promise, made(name))
