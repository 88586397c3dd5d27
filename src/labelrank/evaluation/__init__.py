"""How to compare learners: comparisons, splits, learning curves, tests of significance."""

from labelrank.evaluation.cell import StratifiedFolds
from labelrank.evaluation.compare import compare
from labelrank.evaluation.curves import (
    CapacityPoint,
    CurvePoint,
    LearningPoint,
    capacity_curve,
    draw_capacity,
    learning_curve,
    prequential,
)
from labelrank.evaluation.pool import ordered_map
from labelrank.evaluation.statistics import (
    friedman_nemenyi,
    paired_t_test,
    rank_totals,
    robustness,
    wilcoxon,
)

__all__ = [
    "CapacityPoint", "CurvePoint", "LearningPoint", "StratifiedFolds", "capacity_curve", "compare",
    "draw_capacity", "friedman_nemenyi", "learning_curve", "ordered_map", "paired_t_test",
    "prequential", "rank_totals", "robustness", "wilcoxon",
]  # fmt: skip
