"""Results as one HTML page that opens anywhere: no network, no other file."""

from labelrank.report.page import arrow, page, words, write
from labelrank.report.results import (
    Document,
    LabelResult,
    RankedLabel,
    Results,
    gather,
    ranked_labels,
)

__all__ = [
    "Document", "LabelResult", "RankedLabel", "Results", "arrow", "gather", "page",
    "ranked_labels", "words", "write",
]  # fmt: skip
