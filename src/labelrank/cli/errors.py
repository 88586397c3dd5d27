"""Where every mistake of a command becomes one sentence and an exit code. An error that is not
caught here is a defect of labelrank, and its traceback is wanted."""

import errno
import functools
import os
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import typer

from labelrank.errors import LabelrankError
from labelrank.interrupts import TerminatedError

WRONG_INPUT, INTERRUPTED, BROKEN_PIPE, TERMINATED = 2, 130, 141, 143
# What the library calls otherwise than the command line does.
_FLAGS = {
    "random_state": "seed",
    "format": "input-format",
    "n_labels": "labels",
    "roles": "column",
    "n_jobs": "jobs",
}
_ANY = re.compile(r"\broles=\{\.\.\.\}")
_OPTION = re.compile(
    r"\b(format|encoding|separator|sheet|(?:text|label|id)_column|n_labels|labels_file|label_separator"
    r"|merge_spellings|roles|decimal|max_terms|n_jobs|representation|criterion|budget|random_state)=(?=\S)"
)


# What it advises to those who write programs, and what those who type commands can do instead.
_ADVICE = {
    "put it into a CalibratedRanker, which learns them from held-out folds":
        "learn with --threshold tuned, or without --learner, to have them learned from rows held "
        "out",
    "put it into scikit-learn's CalibratedClassifierCV, or use a learner of labelrank":
        "learn with one of labelrank learners",
    "put AutoRanker into a BlockClassifier, or ask for": "use --criterion",
    "put it into a ThresholdedRanker": "give --threshold",
    "load the whole and split it by evaluation.StratifiedFolds": "give --part all",
    " and catalog.names() list all": " lists all",
    " and metrics.criteria.names() list all": " lists all",
    "register the class with labelrank.persistence.register": "name it by --learner MODULE:CLASS",
    "give a list of texts (one column of a table), or no encoder":
        "name one column by --text-column, or leave out --encoder",
    "give one that labelrank has saved":
        "give MODEL, a file that labelrank fit wrote, and then DATA",
    "has no predict_proba": "has no probabilities",
}  # fmt: skip


def explained(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with its errors turned into sentences on standard error."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_output()
            raise typer.Exit(BROKEN_PIPE) from None
        except TerminatedError:
            _stop("asked to end", TERMINATED)
        except KeyboardInterrupt:
            _stop("interrupted", INTERRUPTED)
        except MemoryError:
            _stop("out of memory; give fewer instances, features or labels", WRONG_INPUT)
        except OSError as error:
            if error.errno == errno.EBADF:
                _forget_output()
                _stop("standard output is closed; give it a place, such as > answers", WRONG_INPUT)
            reason = (error.strerror or str(error)).lower()
            _stop(f"{error.filename}: {reason}" if error.filename else reason, WRONG_INPUT)
        except (LabelrankError, ValueError) as error:
            _stop(as_typed(" ".join(str(error).split())), WRONG_INPUT)

    return run


def as_typed(sentence: str) -> str:
    """The sentence in the words of the command line: `--text-column ...` for `text_column=...`."""
    for advice, typed in _ADVICE.items():
        sentence = sentence.replace(advice, typed)

    def flag(option: re.Match[str]) -> str:
        return f"--{_FLAGS.get(option[1], option[1]).replace('_', '-')} "

    sentence = sentence.replace("graded=True", "--graded")
    return _OPTION.sub(flag, _ANY.sub("--column NAME=ROLE", sentence))


def _forget_output() -> None:
    """Let standard output go nowhere, so that the last flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop(sentence: str, code: int) -> NoReturn:
    typer.echo(f"labelrank: {sentence}", err=True)
    raise typer.Exit(code)
