"""Criteria: one function each, and `evaluate` for all of them at once."""

# isort: off
from labelrank.metrics import criteria
from labelrank.metrics.classes import exact_match, hamming_score
from labelrank.metrics.criteria import get_scorer, scorers
from labelrank.metrics.curves import (
    auc, average_precision_by_label, break_even_point, precision_recall_curve, reliability,
)  # fmt: skip
from labelrank.metrics.evaluate import evaluate, evaluate_ranking, evaluate_sets
from labelrank.metrics.orders import kendall_tau, kendall_tau_x, spearman, top_agreement_at_k
from labelrank.metrics.ranking import (
    average_precision_loss, coverage, error_set_size, is_error, margin_loss, ndcg_at_k,
    one_error, precision_at_k, pro_loss, ranking_loss,
)  # fmt: skip
from labelrank.metrics.sets import (
    contingency_tables, f1, hamming_loss, jaccard, label_confusion, precision, recall,
    subset_accuracy,
)  # fmt: skip

__all__ = [
    "auc", "average_precision_by_label", "average_precision_loss", "break_even_point",
    "contingency_tables", "coverage", "criteria", "error_set_size", "evaluate",
    "evaluate_ranking", "evaluate_sets", "exact_match", "f1", "get_scorer",
    "hamming_loss", "hamming_score", "is_error", "jaccard", "label_confusion",
    "kendall_tau", "kendall_tau_x", "margin_loss", "ndcg_at_k", "one_error", "precision",
    "precision_at_k", "precision_recall_curve", "pro_loss", "ranking_loss", "recall", "reliability",
    "scorers", "spearman", "subset_accuracy", "top_agreement_at_k",
]  # fmt: skip
