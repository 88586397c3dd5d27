"""The one family of errors: each message says what was got, what was wanted, what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class LabelrankError(Exception):
    """Any mistake labelrank can explain in one sentence."""


class InputError(LabelrankError, ValueError):
    """Arrays, labels or parameters that no learner or criterion can use."""


class InputTypeError(InputError, TypeError):
    """Input of a type that no learner can use."""


class FormatError(LabelrankError, ValueError):
    """A data file that is broken, hostile, too large or of another format."""


class ModelFileError(LabelrankError, ValueError):
    """A model file that is damaged, foreign, newer, or cannot hold what it is given."""


class MissingError(LabelrankError, LookupError):
    """A data set, learner, experiment, file or optional package that is not there."""


def meant(got: str, known: Iterable[str], most: int = 3) -> str:
    """A question after the known names that are near, or nothing where none is.

    >>> meant("subjet", ["Subject", "Body"])
    'did you mean Subject? '
    >>> meant("zzz", ["Subject", "Body"])
    ''
    """
    names = {str(name).casefold(): str(name) for name in known}
    near = get_close_matches(got.casefold(), names, n=most, cutoff=0.5)
    return f"did you mean {' or '.join(names[one] for one in near)}? " if near else ""


def one_sentence(message: str) -> str:
    """scikit-learn's message without its paragraphs of advice."""
    if "contains NaN" in message or "contains infinity" in message:
        return message.split("\n")[0].rstrip(".") + "; fill in or leave out such values first"
    return " ".join(message.split())
