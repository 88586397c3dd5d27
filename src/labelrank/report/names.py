"""The words and arrows that pages and tables use for criteria."""

_LOSSES = ("loss", "error", "coverage")
_SPELLED = {"f1": "F1", "auc": "AUC", "ndcg": "nDCG", "pro": "PRO", "mib": "MiB"}


def words(criterion: str) -> str:
    """The name of a criterion as people write it.

    >>> words("ranking_loss"), words("micro_f1")
    ('ranking loss', 'micro F1')
    """
    return " ".join(_SPELLED.get(word, word) for word in criterion.split("_"))


def arrow(criterion: str) -> str:
    """Whether smaller or larger values are better; nothing for mere counts.

    >>> arrow("ranking_loss"), arrow("micro_f1")
    ('↓', '↑')
    """
    if criterion.endswith("left_out"):
        return ""
    return "↓" if any(loss in criterion for loss in _LOSSES) else "↑"
