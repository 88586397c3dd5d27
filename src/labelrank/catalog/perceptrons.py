"""Perceptrons: one per label, or one for each pair of labels."""

from functools import partial
from typing import Any

from labelrank.catalog import row

_PAPER = "Loza Mencía & Fürnkranz 2008"
_CALIBRATED = "Fürnkranz, lecture on text classification"
_RIVALS = "Fürnkranz et al. 2008, as in Xu, Li & Zhou 2013"

_AS_IN_PAPER: dict[str, Any] = {"shuffle": False, "init": "random"}
_EPOCHS_AND_MARGINS = {"epochs": (1, 3, 10), "margin": (None, 0.1, 1.0)}
_EPOCHS_AND_VOTES = {"epochs": (3, 10, 30), "voting": ("votes", "weighted")}
_EPOCHS = {"epochs": (10, 30, 100)}
_VOTES = {"voting": ("votes", "weighted", "coupling")}

_br = partial(row, learner="BinaryRelevancePerceptron", paper=_PAPER)
_pairs = partial(row, learner="PairwisePerceptron")

ENTRIES = (
    _br("BR", summary="Binary relevance: one perceptron per label, each on its own",
        grid=_EPOCHS_AND_MARGINS, **_AS_IN_PAPER),
    _br("BR+", summary="Binary relevance: passive-aggressive steps, averaged, several epochs",
        grid={"epochs": (5, 20), "C": (0.01, 0.1, 1.0)},
        epochs=5, averaging="averaged", step="pa", shuffle=True),
    row("MMP", "MulticlassMultilabelPerceptron",
        "Crammer & Singer 2003, as in Loza Mencía & Fürnkranz 2008",
        "One perceptron per label, moved together by the errors of the ranking",
        {"epochs": (1, 3, 10), "loss": ("is_error", "error_set_size", "average_precision")},
        **_AS_IN_PAPER),
    _pairs("MLPP", paper=_PAPER,
           summary="One perceptron for each pair of labels; votes rank the labels",
           grid=_EPOCHS_AND_MARGINS, calibrated=False, tie_break=None, **_AS_IN_PAPER),
    _pairs("MLPP+", paper=_PAPER,
           summary="Pairwise perceptrons, averaged, several epochs, ties broken by margins",
           grid=_EPOCHS_AND_VOTES, calibrated=False, epochs=5, averaging="averaged"),
    _pairs("CMLPC", paper=_CALIBRATED,
           summary="Pairwise perceptrons with the threshold label: a ranking and its relevant part",
           grid=_EPOCHS_AND_MARGINS, tie_break=None),
    _pairs("CMLPC+", paper=_CALIBRATED,
           summary="Calibrated pairwise perceptrons, averaged, several epochs, ties by margins",
           grid=_EPOCHS_AND_VOTES, epochs=5, averaging="averaged"),
    _pairs("PCn", paper=_RIVALS,
           summary="Calibrated pairwise perceptrons for a fixed number of epochs (n = 100)",
           grid=_EPOCHS, epochs=100, tie_break=None),
    _pairs("PC0", paper=_RIVALS,
           summary="Calibrated pairwise perceptrons until no error, at most 10,000 epochs",
           grid=_VOTES, until_no_error=True, tie_break=None),
    _pairs("PCnR", paper=_RIVALS,
           summary="PCn that also learns the order of the relevant labels",
           grid=_EPOCHS, needs=("order",), epochs=100, ordered=True, tie_break=None),
    _pairs("PC0R", paper=_RIVALS,
           summary="PC0 that also learns the order of the relevant labels",
           grid=_VOTES, needs=("order",), until_no_error=True, ordered=True, tie_break=None),
)  # fmt: skip
