"""How to compare learners: splits, learning curves, tests of significance."""

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
    "CurvePoint",
    "StratifiedFolds",
    "friedman_nemenyi",
    "paired_t_test",
    "prequential",
    "rank_totals",
    "robustness",
    "wilcoxon",
]
