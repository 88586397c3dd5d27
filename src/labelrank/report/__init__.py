"""Results as one HTML page that opens anywhere: no network, no other file."""

# isort: off
from labelrank.report.comparison import comparison_page, write_comparison
from labelrank.report.page import (
    Answers, answers, criteria_rows, duration, learner_name, of_tagger, page, ranked_labels, write,
)  # fmt: skip
from labelrank.report.results import (
    ConfusedPair, Confusion, Document, LabelResult, LearningCurve, RankedLabel, Reason, Results,
    arrow, gather, of_parts, of_stream, read_learning_curve, words,
)  # fmt: skip

__all__ = [
    "Answers", "ConfusedPair", "Confusion", "Document", "LabelResult", "LearningCurve",
    "RankedLabel", "Reason", "Results", "answers", "arrow", "comparison_page", "criteria_rows",
    "duration", "gather", "learner_name", "of_parts", "of_stream", "of_tagger", "page",
    "ranked_labels", "read_learning_curve", "words", "write", "write_comparison",
]  # fmt: skip
