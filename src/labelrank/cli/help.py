"""How a command explains itself: one line of use, an example, then its options by subject."""

from typing import Any

from typer.core import TyperCommand

from labelrank.cli.usage import explained, is_argument

# Spellings of before: they work, but are not shown.
HIDDEN = frozenset({"--label-delimiter", "--format", "--criteria", "--scorer"})
_FIRST, _LAST = "Options", "Everywhere"


class Command(TyperCommand):
    """A command whose help shows what it needs first; its epilog holds examples."""

    def make_context(
        self, info_name: Any, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        called = f"labelrank {info_name}"
        with explained(self, called, args):
            return super().make_context(info_name, args, parent, **extra)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [one for one in self.get_params(ctx) if is_argument(one)]
        names = [_name(one) if one.required else f"[{_name(one)}]" for one in arguments]
        return [*names, "[OPTIONS]"]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        if self.epilog:
            with formatter.section("For example"):
                formatter.write("".join(f"  {line}\n" for line in self.epilog.splitlines()))
        for title, lines in self.sections(ctx).items():
            with formatter.section(title):
                formatter.write_dl(lines)

    def sections(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Arguments and options with their help, under the titles of their panels."""
        found: dict[str, list[tuple[str, str]]] = {"Arguments": [], _FIRST: []}
        for one in self.get_params(ctx):
            if one.name == "help":
                continue
            title = (
                "Arguments" if is_argument(one) else getattr(one, "rich_help_panel", None) or _FIRST
            )
            found.setdefault(title, []).append((_name(one), _said(one)))
        last = [*found.pop(_LAST, []), ("-h, --help", "Show this and stop.")]
        return {title: lines for title, lines in found.items() if lines} | {_LAST: last}


def _name(parameter: Any) -> str:
    """As it is typed: `DATA`, `-o, --out FILE`."""
    word = str(parameter.metavar or parameter.name.upper())
    if is_argument(parameter):
        return f"{word}..." if parameter.nargs == -1 else word
    spelled = [*parameter.opts, *parameter.secondary_opts]
    names = sorted((name for name in spelled if name not in HIDDEN), key=len)
    return ", ".join(names) + ("" if parameter.is_flag else f" {word}")


def _said(parameter: Any) -> str:
    usual = parameter.default
    if not parameter.show_default or usual is None or usual is False or usual in ("", [], ()):
        return parameter.help or ""
    shown = ", ".join(map(str, usual)) if isinstance(usual, list | tuple) else usual
    return f"{parameter.help} [{shown}]"
