"""Writes `commands.rst`, the reference of the command line, from the commands themselves."""

import re
from collections import Counter
from pathlib import Path

from typer.main import get_command

from labelrank.cli import COMMANDS, app

HERE = Path(__file__).parent
MANY = 4  # an option that so many commands share is described once, at the end
INTRODUCTION = """\
Commands
========

``labelrank COMMAND --help`` says the same in the terminal. Options that many commands share are
described once, :ref:`at the end <shared-options>`. They mean the same everywhere.
"""


def sections(name):
    """The arguments and options of a command with their help, under the titles of `--help`."""
    command = loaded(name)
    return command.sections(command.context_class(command, info_name=name))


def loaded(name):
    group = get_command(app)
    return group.get_command(group.context_class(group), name)


def shared():
    """Options that many commands have with the same words, under the titles of `--help`."""
    met, titles = Counter(), {}
    for name in COMMANDS:
        for title, options in sections(name).items():
            for option in options if title != "Arguments" else ():
                met[option] += 1
                titles.setdefault(option, title)
    found = {}
    for option, count in met.items():
        if count >= MANY:
            found.setdefault(titles[option], []).append(option)
    return found


def page():
    """The whole page."""
    common = shared()
    parts = [INTRODUCTION, *(described(name, common) for name in COMMANDS)]
    title = "Options that many commands share"
    parts.append(f".. _shared-options:\n\n{title}\n{'-' * len(title)}\n")
    parts.append(".. program:: labelrank\n")
    for title, options in common.items():
        parts += [f".. rubric:: {title}\n", *map(entry, options)]
    return "\n".join(parts)


def described(name, common):
    """One command: what it does, an example, its own options, the names of the shared ones."""
    command = loaded(name)
    everywhere = {option for options in common.values() for option in options}
    parts = [f"{name}\n{'-' * len(name)}\n", *paragraphs(command.help)]
    examples = "".join(f"   $ {line}\n" for line in command.epilog.splitlines())
    parts += [f".. code-block:: console\n\n{examples}", f".. program:: labelrank {name}\n"]
    also = []
    for options in sections(name).values():
        parts += [entry(option) for option in options if option not in everywhere]
        also += [option[0] for option in options if option in everywhere]
    names = ", ".join(f":option:`{one} <labelrank {one}>`" for one in map(longest, also))
    return "\n".join([*parts, f"Shared: {names}.\n"])


def paragraphs(text):
    return [literally(" ".join(part.split())) + "\n" for part in text.split("\n\n")]


def longest(spelled):
    """`--out` of `-o, --out FILE`."""
    return re.search(r"--[\w-]+", spelled)[0]


def entry(option):
    """An option or argument as Sphinx takes it: every spelling with its value."""
    spelled, said = option
    *others, last = spelled.split(", ")
    value = last.partition(" ")[2]
    spelled = ", ".join([*(f"{one} {value}".strip() for one in others), last])
    return f".. option:: {spelled}\n\n   {literally(said)}\n"


def literally(said):
    """Options, commands and values in quotes as literals; nothing else is markup."""
    said = re.sub(r"[*|`]", r"\\\g<0>", said)
    literal = r"(--[a-z-]+|labelrank [a-z]+|'[^']+'|(?<!\w)[a-z]+_[a-z0-9]+)"
    return re.sub(literal, lambda match: f"``{match[0].strip(chr(39))}``".replace("\\", ""), said)


def write():
    """Write the page where it differs from what is there."""
    place, text = HERE / "commands.rst", page()
    if not place.exists() or place.read_text(encoding="utf-8") != text:
        place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
