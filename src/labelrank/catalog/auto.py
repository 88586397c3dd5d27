"""The entry that chooses among the others."""

from labelrank.catalog.entry import Entry

ENTRIES = (
    Entry(
        name="auto",
        learner="labelrank.learners.auto.auto:AutoRanker",
        paper="this library",
        summary="Picks learner and cut for the data by a criterion, within a time budget",
    ),
)
