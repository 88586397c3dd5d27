"""Perceptrons one a label (000)."""

from labelrank.catalog.entry import Entry

_PAPER = "Loza Mencía & Fürnkranz 2008 (000)"

ENTRIES = (
    Entry(
        name="BR",
        learner="labelrank.learners.perceptron:BinaryRelevancePerceptron",
        paper=_PAPER,
        summary="Binary relevance: one perceptron a label, each on its own",
    ),
    Entry(
        name="BR+",
        learner="labelrank.learners.perceptron:BinaryRelevancePerceptron",
        paper=_PAPER,
        summary="Binary relevance with passive-aggressive steps, averaged weights, several epochs",
        settings={"epochs": 5, "averaging": "averaged", "step": "pa", "shuffle": True},
        improves="BR",
    ),
)
