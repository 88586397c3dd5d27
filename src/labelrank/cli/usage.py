"""What is typed wrongly, in one sentence: what was got, what was wanted, what to do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from labelrank.errors import nearest

# The numbers that options take, by the word for them in the help.
_NUMBERS: dict[str, tuple[type, str]] = {
    "N": (int, "a whole number"), "CUT": (float, "a number"), "SECONDS": (float, "a number"),
}  # fmt: skip
_UsageError: Any = typer.BadParameter.__mro__[1]


@contextmanager
def explained(command: Any, called: str, args: Sequence[str]) -> Iterator[None]:
    """Let errors of what was typed after `called` be shown as one sentence."""
    typed = list(args)  # the parser takes what it reads
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ != "NoArgsIsHelpError":
            sentence = _sentence(error, command, called, typed)
            error.show = lambda file=None: typer.echo(f"labelrank: {sentence}", err=True)
        raise


def unknown_command(got: str, known: Sequence[str]) -> str:
    """The sentence on a command that is not there."""
    near = _question(nearest(got, known))
    return f"got {got}, which is no command; {near}labelrank --help lists all"


def _sentence(error: Any, command: Any, called: str, args: list[str]) -> str:
    kind, parameter = type(error).__name__, getattr(error, "param", None)
    arguments = [str(one.metavar) for one in command.params if is_argument(one)]
    pieces = " ".join([called, *arguments])
    if kind == "NoSuchOption":
        names = {name.lstrip("-"): name for one in command.params for name in one.opts}
        near = _question([names[one] for one in nearest(error.option_name.lstrip("-"), names)])
        return (
            f"got {error.option_name}, which {called} does not take; {near}"
            f"{called} --help lists its options"
        )
    if kind == "BadOptionUsage":
        given = _of_name(command, error.option_name)
        if given is not None and given.is_flag:
            return f"got {error.option_name} with a value; it takes none"
        value = f" {given.metavar}" if given is not None else " and a value"
        return f"got {error.option_name} without a value; write {error.option_name}{value}"
    if kind == "MissingParameter" and parameter is not None:
        wanted = "" if is_argument(parameter) else f" {_called(parameter)} {parameter.metavar}"
        return f"got no {_called(parameter)}; write {pieces}{wanted}"
    if kind == "BadParameter" and parameter is not None and parameter.metavar in _NUMBERS:
        return _no_number(parameter, args)
    message = error.format_message().rstrip(".")
    return f"{message[:1].lower()}{message[1:]}; write {pieces}"


def _no_number(parameter: Any, args: list[str]) -> str:
    """The sentence on an option of numbers that was given something else."""
    make, words = _NUMBERS[parameter.metavar]
    least = getattr(parameter, "min", getattr(getattr(parameter, "type", None), "min", None))
    given = list(_values(parameter.opts, args))
    wrong = next((one for one in given if not _fits(one, make, least)), "")
    bound = "" if least is None else f" from {least:g}"
    about = (parameter.help or "").rstrip(".")
    return f"got {parameter.opts[0]} {wrong}; give {words}{bound} ({about[:1].lower()}{about[1:]})"


def _fits(text: str, make: Any, least: float | None) -> bool:
    try:
        number = make(text)
    except ValueError:
        return False
    return least is None or bool(number >= least)


def _values(names: Sequence[str], args: list[str]) -> Iterator[str]:
    """What was given to an option, as `--row 3` or `--row=3`."""
    for place, one in enumerate(args):
        name, equals, value = one.partition("=")
        if name in names:
            yield value if equals else "".join(args[place + 1 : place + 2])


def _of_name(command: Any, name: str) -> Any:
    return next((one for one in command.params if name in one.opts), None)


def _called(parameter: Any) -> str:
    return str(parameter.metavar if is_argument(parameter) else parameter.opts[0])


def is_argument(parameter: Any) -> bool:
    """Whether it is found by its place, and no option."""
    return bool(parameter.param_type_name == "argument")


def _question(names: Sequence[str]) -> str:
    return f"did you mean {' or '.join(names)}? " if names else ""
