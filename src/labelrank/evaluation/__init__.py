"""How to compare learners: comparisons, splits, learning curves, tests of significance."""

from labelrank.evaluation.capacity import CapacityPoint, capacity_curve, draw_capacity
from labelrank.evaluation.compare import compare
from labelrank.evaluation.learning import LearningPoint, learning_curve
from labelrank.evaluation.prequential import CurvePoint, prequential
from labelrank.evaluation.significance import (
    friedman_nemenyi,
    paired_t_test,
    rank_totals,
    robustness,
    wilcoxon,
)
from labelrank.evaluation.splits import StratifiedFolds

__all__ = [
    "CapacityPoint",
    "CurvePoint",
    "LearningPoint",
    "StratifiedFolds",
    "capacity_curve",
    "compare",
    "draw_capacity",
    "friedman_nemenyi",
    "learning_curve",
    "paired_t_test",
    "prequential",
    "rank_totals",
    "robustness",
    "wilcoxon",
]
