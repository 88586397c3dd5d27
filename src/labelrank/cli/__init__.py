"""The command line: a module per command, imported when called; `COMMANDS` holds their names.
Modules import what is heavy inside their functions, for `labelrank --help` reads all of them."""

import importlib
import os
import sys
import warnings
from typing import Any

import typer
from typer import Option
from typer.core import TyperGroup

from labelrank.cli.errors import WRONG_INPUT, as_typed, explained
from labelrank.cli.help import Command
from labelrank.cli.options import grouped
from labelrank.cli.usage import explained as explained_usage
from labelrank.cli.usage import unknown_command
from labelrank.errors import FarValueWarning
from labelrank.interrupts import raise_when_terminated

COMMANDS = (
    "demo", "learners", "criteria", "datasets", "fit", "predict", "evaluate", "explain", "learn",
    "convert", "tune", "compare", "reproduce",
)  # fmt: skip


class _OnDemand(TyperGroup):
    """Finds a command by importing its module."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def make_context(
        self, info_name: Any, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        with explained_usage(self, "labelrank", args):
            return super().make_context(info_name, args, parent, **extra)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            typer.echo(f"labelrank: {unknown_command(args[0], COMMANDS)}", err=True)
            raise typer.Exit(WRONG_INPUT)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in self.commands:
            module = importlib.import_module(f"{__name__}.{cmd_name}")
            single = typer.Typer(add_completion=False, rich_markup_mode=None)
            made = explained(grouped(getattr(module, cmd_name)))
            single.command(cmd_name, cls=Command, epilog=module.EXAMPLE)(made)
            self.commands[cmd_name] = typer.main.get_command(single)
        return self.commands[cmd_name]


app = typer.Typer(
    cls=_OnDemand, add_completion=False, rich_markup_mode=None, no_args_is_help=True,
    pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip


@app.callback(invoke_without_command=True)
def _labelrank(
    version: bool = Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Multi-label classification and label ranking by learning preferences."""
    if version:
        from labelrank import __version__

        typer.echo(f"labelrank {__version__}")
        raise typer.Exit


def main() -> None:
    _occupy_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names and texts are written whatever the locale says
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="replace")
    warnings.showwarning = _warn  # type: ignore[assignment]
    warnings.simplefilter("ignore", FarValueWarning)  # told once per file, not for each batch
    raise_when_terminated()
    app(prog_name="labelrank")


def _occupy_closed_streams() -> None:
    """Put something in the place of closed standard streams, or the next file opened gets it.

    Input is empty then, and writing output is refused, for answers may not vanish unsaid.
    """
    ways = {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
    for number, (name, way) in enumerate(ways.items()):
        if getattr(sys, name) is None and os.open(os.devnull, way) == number:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _warn(message: Warning | str, *_: Any) -> None:
    sys.stderr.write(f"labelrank: warning: {as_typed(str(message))}\n")
