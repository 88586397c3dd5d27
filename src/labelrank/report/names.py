"""The words and arrows that pages and tables use for criteria."""

from labelrank.errors import InputError
from labelrank.metrics import criteria

_SPELLED = {"f1": "F1", "auc": "AUC", "ndcg": "nDCG", "pro": "PRO", "mib": "MiB"}


def words(criterion: str) -> str:
    """The name of a criterion as people write it.

    >>> words("ranking_loss"), words("micro_f1")
    ('ranking loss', 'micro F1')
    """
    return " ".join(_SPELLED.get(word, word) for word in criterion.split("_"))


def arrow(criterion: str) -> str:
    """Whether smaller or larger values are better; nothing for counts and unknown names.

    >>> arrow("ranking_loss"), arrow("micro_f1")
    ('↓', '↑')
    """
    try:
        return {1: "↑", -1: "↓", 0: ""}[criteria.get(criterion).direction]
    except InputError:
        return ""
