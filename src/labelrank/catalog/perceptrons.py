"""Perceptrons: one a label, or one for each pair of labels (000, 002, 003)."""

from labelrank.catalog.entry import Entry

_PAPER = "Loza Mencía & Fürnkranz 2008 (000)"
_AS_IN_PAPER = {"shuffle": False, "init": "random"}
_PAIRWISE = "labelrank.learners.pairwise.perceptron:PairwisePerceptron"
_RIVALS = "Fürnkranz et al. 2008, as in 002"

_EPOCHS_AND_MARGINS = {"epochs": (1, 3, 10), "margin": (None, 0.1, 1.0)}

ENTRIES = (
    Entry(
        name="BR",
        learner="labelrank.learners.perceptron:BinaryRelevancePerceptron",
        paper=_PAPER,
        summary="Binary relevance: one perceptron a label, each on its own",
        settings=_AS_IN_PAPER,
        grid=_EPOCHS_AND_MARGINS,
    ),
    Entry(
        name="BR+",
        learner="labelrank.learners.perceptron:BinaryRelevancePerceptron",
        paper=_PAPER,
        summary="Binary relevance with passive-aggressive steps, averaged weights, several epochs",
        settings={"epochs": 5, "averaging": "averaged", "step": "pa", "shuffle": True},
        improves="BR",
        grid={"epochs": (5, 20), "C": (0.01, 0.1, 1.0)},
    ),
    Entry(
        name="MMP",
        learner="labelrank.learners.perceptron:MulticlassMultilabelPerceptron",
        paper="Crammer & Singer 2003, as in 000",
        summary="One perceptron a label, moved together by the errors of the ranking",
        settings=_AS_IN_PAPER,
        grid={"epochs": (1, 3, 10), "loss": ("is_error", "error_set_size", "average_precision")},
    ),
    Entry(
        name="MLPP",
        learner=_PAIRWISE,
        paper=_PAPER,
        summary="One perceptron for each pair of labels; votes rank the labels",
        settings={"calibrated": False, "tie_break": None, **_AS_IN_PAPER},
        grid=_EPOCHS_AND_MARGINS,
    ),
    Entry(
        name="MLPP+",
        learner=_PAIRWISE,
        paper=_PAPER,
        summary="Pairwise perceptrons, averaged, several epochs, ties broken by margins",
        settings={"calibrated": False, "epochs": 5, "averaging": "averaged"},
        improves="MLPP",
        grid={"epochs": (3, 10, 30), "voting": ("votes", "weighted")},
    ),
    Entry(
        name="CMLPC",
        learner=_PAIRWISE,
        paper="Calibrated multi-label pairwise classification (003)",
        summary="Pairwise perceptrons with the threshold label: a ranking and its relevant part",
        settings={"tie_break": None},
        grid=_EPOCHS_AND_MARGINS,
    ),
    Entry(
        name="CMLPC+",
        learner=_PAIRWISE,
        paper="Calibrated multi-label pairwise classification (003)",
        summary="Calibrated pairwise perceptrons, averaged, several epochs, ties by margins",
        settings={"epochs": 5, "averaging": "averaged"},
        improves="CMLPC",
        grid={"epochs": (3, 10, 30), "voting": ("votes", "weighted")},
    ),
    Entry(
        name="PCn",
        learner=_PAIRWISE,
        paper=_RIVALS,
        summary="Calibrated pairwise perceptrons for a fixed number of epochs (n = 100)",
        settings={"epochs": 100, "tie_break": None},
        grid={"epochs": (10, 30, 100)},
    ),
    Entry(
        name="PC0",
        learner=_PAIRWISE,
        paper=_RIVALS,
        summary="Calibrated pairwise perceptrons until no error, at most 10,000 epochs",
        settings={"until_no_error": True, "tie_break": None},
        grid={"voting": ("votes", "weighted", "coupling")},
    ),
    Entry(
        name="PCnR",
        learner=_PAIRWISE,
        paper=_RIVALS,
        summary="PCn that also learns the order of the relevant labels",
        settings={"epochs": 100, "ordered": True, "tie_break": None},
        needs=("order",),
        grid={"epochs": (10, 30, 100)},
    ),
    Entry(
        name="PC0R",
        learner=_PAIRWISE,
        paper=_RIVALS,
        summary="PC0 that also learns the order of the relevant labels",
        settings={"until_no_error": True, "ordered": True, "tie_break": None},
        needs=("order",),
        grid={"voting": ("votes", "weighted", "coupling")},
    ),
)
