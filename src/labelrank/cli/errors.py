"""Where every mistake of a command becomes one sentence and an exit code. An error that is not
caught here is a defect of labelrank, and its traceback is wanted."""

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import typer

from labelrank.errors import LabelrankError

WRONG_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


def explained(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with its errors turned into sentences on standard error."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
            sys.stdout.flush()
        except BrokenPipeError:  # standard output goes nowhere, so that the last flush cannot fail
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None
        except KeyboardInterrupt:
            _stop("interrupted", INTERRUPTED)
        except MemoryError:
            _stop("out of memory; give fewer instances, features or labels", WRONG_INPUT)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            _stop(f"{error.filename}: {reason}" if error.filename else reason, WRONG_INPUT)
        except (LabelrankError, ValueError) as error:
            _stop(" ".join(str(error).split()), WRONG_INPUT)

    return run


def _stop(sentence: str, code: int) -> NoReturn:
    typer.echo(f"labelrank: {sentence}", err=True)
    raise typer.Exit(code)
