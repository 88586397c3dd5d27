"""The reference of the command line is made of the commands, and names them all."""

import importlib.util
import re
from pathlib import Path

import pytest

from labelrank.cli import COMMANDS
from labelrank.cli.help import HIDDEN

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def commands():
    spec = importlib.util.spec_from_file_location("commands", DOCS / "commands.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def described(commands):
    """The text of each command on the page, the shared options under ""."""
    parts = re.split(r"^\.\. program:: labelrank ?(.*)$", commands.page(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_names_every_option_of_a_command(name, commands, described):
    options = [word for one in commands.loaded(name).params for word in one.opts]
    spelled = {word for word in options if word.startswith("--")} - HIDDEN
    assert spelled
    for word in spelled:
        own = re.search(rf"^\.\. option:: .*{word}\b", described[name], re.M)
        shared = f"<labelrank {word}>" in described[name]
        assert own or shared, word
        assert own or re.search(rf"^\.\. option:: .*{word}\b", described[""], re.M), word


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_says_what_a_command_does_and_gives_an_example(name, commands):
    page = commands.page()
    assert f"\n{name}\n{'-' * len(name)}\n" in page
    assert f"   $ {commands.loaded(name).epilog.splitlines()[0]}\n" in page


def test_no_option_is_described_twice_for_a_command(described):
    for text in described.values():
        options = re.findall(r"^\.\. option:: (.*)$", text, re.M)
        assert len(options) == len(set(options))


def test_the_page_of_the_command_line_is_written_when_the_documentation_is_built():
    assert "commands.write()" in (DOCS / "conf.py").read_text(encoding="utf-8")
