"""Perceptrons with one weight vector a label (000)."""

from labelrank.catalog.entry import Entry

_PAPER = "Loza Mencía & Fürnkranz 2008 (000)"
_AS_IN_PAPER = {"shuffle": False, "init": "random"}

ENTRIES = (
    Entry(
        name="BR",
        learner="labelrank.learners.perceptron:BinaryRelevancePerceptron",
        paper=_PAPER,
        summary="Binary relevance: one perceptron a label, each on its own",
        settings=_AS_IN_PAPER,
    ),
    Entry(
        name="BR+",
        learner="labelrank.learners.perceptron:BinaryRelevancePerceptron",
        paper=_PAPER,
        summary="Binary relevance with passive-aggressive steps, averaged weights, several epochs",
        settings={"epochs": 5, "averaging": "averaged", "step": "pa", "shuffle": True},
        improves="BR",
    ),
    Entry(
        name="MMP",
        learner="labelrank.learners.perceptron:MulticlassMultilabelPerceptron",
        paper="Crammer & Singer 2003, as in 000",
        summary="One perceptron a label, moved together by the errors of the ranking",
        settings=_AS_IN_PAPER,
    ),
)
