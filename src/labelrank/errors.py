"""The one family of errors: each message says what was got, what was wanted, what to do."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

# Names are near from this likeness on, and alike if they differ by so little in it.
_NEAR, _ALIKE = 0.6, 0.2
_SOME = 8


class LabelrankError(Exception):
    """Any mistake labelrank can explain in one sentence."""


class InputError(LabelrankError, ValueError):
    """Arrays, labels or parameters that no learner or criterion can use."""


class InputTypeError(InputError, TypeError):
    """Input of a type that no learner can use."""


class OutOfTimeError(LabelrankError, TimeoutError):
    """What took longer than there was time for, and was left off."""


class FormatError(LabelrankError, ValueError):
    """A data file that is broken, hostile, too large or of another format."""


class ModelFileError(LabelrankError, ValueError):
    """A model file that is damaged, foreign, newer, or cannot hold what it is given."""


class MissingError(LabelrankError, LookupError):
    """A data set, learner, experiment, file or optional package that is not there."""


class FarValueWarning(UserWarning):
    """Numbers that lie far outside all that a model has learned."""


def nearest(got: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that are nearly what was got, the nearest first; far ones are left out.

    >>> nearest("subjet", ["Subject", "Object", "Body"])
    ['Subject']
    """
    names = {str(name).casefold(): str(name) for name in known}
    wanted = str(got).casefold()
    near = get_close_matches(wanted, names, n=most, cutoff=_NEAR)
    likeness = [SequenceMatcher(None, name, wanted).ratio() for name in near]
    return [
        names[name]
        for name, ratio in zip(near, likeness, strict=True)
        if ratio >= likeness[0] - _ALIKE
    ]


def meant(got: str, known: Iterable[str], most: int = 3) -> str:
    """A question after the known names that are near, or nothing where none is.

    >>> meant("subjet", ["Subject", "Body"])
    'did you mean Subject? '
    >>> meant("zzz", ["Subject", "Body"])
    ''
    """
    near = nearest(got, known, most)
    return f"did you mean {' or '.join(near)}? " if near else ""


def unknown_label(got: object, known: Iterable[object]) -> InputError:
    """The error that a model does not know a label, with the nearest ones, else with some.

    >>> str(unknown_label("gold", ["oil", "grain"]))
    "got label 'gold', which the model does not know; it knows oil, grain"
    """
    names = [str(name) for name in known]
    more = f" and {len(names) - _SOME:,} more" if len(names) > _SOME else ""
    listed = f"it knows {', '.join(names[:_SOME])}{more}"
    told = meant(str(got), names).rstrip() or listed
    return InputError(f"got label {got!r}, which the model does not know; {told}")


def one_sentence(message: str) -> str:
    """scikit-learn's message without its paragraphs of advice."""
    if "contains NaN" in message or "contains infinity" in message:
        return message.split("\n")[0].rstrip(".") + "; fill in or leave out such values first"
    return " ".join(message.split())
