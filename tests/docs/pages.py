"""Run the commands of a page as its reader does, and compare what they print with what it shows.

A page is a script: `console` blocks hold commands behind `$` with their output, `python` blocks
share one namespace, a block with a file's name (rst: its caption, Markdown: behind the language)
is that file, and a `text` block right after Python code is what the code prints. All of it runs
from top to bottom in one empty folder, in a terminal of 80 columns, without the data folder.
`...` stands for any words; numbers may differ by a twentieth, and times and sizes by anything.

    python tests/docs/pages.py docs/howto/*.rst     writes what is printed into the pages
"""

import contextlib
import io
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import tty
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
MEASURED = rf"{NUMBER} ?(?:ms|s|min|h|KiB|MiB|GiB|MB|GB)\b"
TOLD = {"sh", "toml", "ini", "rst"}  # languages of blocks that are only looked at


@dataclass
class Block:
    """One block of a page: its language, the name of the file that it is, its lines."""

    language: str
    name: str
    start: int
    lines: list[str]
    indent: str = ""
    follows_python: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


@dataclass
class Command:
    """A command with the lines that it is shown to print."""

    typed: list[str]
    shown: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        return "\n".join(self.typed)


def blocks(path: Path) -> list[Block]:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = _fenced(lines) if path.suffix == ".md" else _directives(lines)
    for before, block in itertools.pairwise(found):
        block.follows_python = before.language == "python" and not before.name
    return found


def _fenced(lines: list[str]) -> list[Block]:
    found, opened = [], None
    for number, line in enumerate(lines):
        if line.startswith("```") and opened is None:
            language, _, name = line[3:].partition(" ")
            opened = Block(language or "text", name.strip(), number + 1, [])
        elif line.startswith("```"):
            found.append(opened)
            opened = None
        elif opened is not None:
            opened.lines.append(line)
    return found


def _directives(lines: list[str]) -> list[Block]:
    found = []
    for number, line in enumerate(lines):
        match = re.fullmatch(r"( *)\.\. code-block:: (\w+)", line)
        if match is None:
            continue
        margin, language = match[1] + "   ", match[2]
        end, name = number + 1, ""
        while end < len(lines) and (option := re.fullmatch(rf"{margin}:(\w+): (.+)", lines[end])):
            name = option[2] if option[1] == "caption" else name
            end += 1
        body = []
        for inner in lines[end + 1 :]:
            if inner.strip() and not inner.startswith(margin):
                break
            body.append(inner[len(margin) :])
        while body and not body[-1]:
            body.pop()
        found.append(Block(language, name, end + 1, body, margin))
    return found


def commands(block: Block) -> list[Command]:
    """The commands of a console block; a backslash at the end of a line goes on with the next."""
    found: list[Command] = []
    for line in block.lines:
        if line.startswith("$ "):
            found.append(Command([line[2:]]))
        elif found and not found[-1].shown and found[-1].typed[-1].endswith("\\"):
            found[-1].typed.append(line)
        else:
            found[-1].shown.append(line)
    return found


def differs(printed: str, shown: str) -> str:
    """What is wrong with the text that a page shows; nothing, if it is what was printed."""
    printed, shown = (_settled(text) for text in (printed, shown))
    parts = re.split(rf"({NUMBER}|\.\.\.)", shown)
    pattern = "".join(
        ".*?" if part == "..." else f"({NUMBER})" if k % 2 else re.escape(part)
        for k, part in enumerate(parts)
    )
    match = re.fullmatch(pattern, printed, re.S)
    if match is None:
        return f"printed:\n{printed}\nshown:\n{shown}"
    wanted = [part for part in parts[1::2] if part != "..."]
    for value, want in zip(match.groups(), wanted, strict=True):
        a, b = (float(text.replace(",", "")) for text in (value, want))
        if abs(a - b) > max(0.02, 0.05 * abs(b)):
            return f"printed {value}, shown {want}, in:\n{printed}"
    return ""


def _settled(text: str) -> str:
    """Without what differs between machines: spaces, rules of tables, times and sizes."""
    text = re.sub(MEASURED, "so much", text)
    return re.sub(r"─+", "─", " ".join(text.split()))


class Reader:
    """Works through pages in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.names = folder, {"__name__": "page"}
        self.background: list[subprocess.Popen] = []
        bin_folder = str(Path(sys.executable).parent)
        self.environment = {
            **{key: value for key, value in os.environ.items() if key != "LABELRANK_DATA"},
            "PATH": os.pathsep.join([bin_folder, os.environ.get("PATH", "")]),
            "TERM": "dumb", "COLUMNS": "80", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(folder),
        }  # fmt: skip

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.background:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()

    def write(self, block: Block) -> None:
        (self.folder / block.name).write_text(block.text, encoding="utf-8")

    def python(self, block: Block) -> str:
        """What the code prints."""
        before, printed = Path.cwd(), io.StringIO()
        os.chdir(self.folder)
        sys.path.insert(0, str(self.folder))
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(block.text, f"line {block.start}", "exec"), self.names)
        finally:
            os.chdir(before)
            sys.path.remove(str(self.folder))
        return printed.getvalue()

    def shell(self, line: str) -> str:
        """What a command prints in a terminal; it must succeed. With & it runs until the end."""
        if line.endswith(" &"):
            nowhere = subprocess.DEVNULL
            self.background.append(self._started(f"exec {line[:-2]}", nowhere, nowhere))
            return ""
        with tempfile.TemporaryFile() as errors:
            master, slave = os.openpty()
            tty.setraw(slave)
            process = self._started(line, slave, errors)
            os.close(slave)
            printed = _everything(master)
            assert process.wait() == 0, f"{line}\n{printed}{_content(errors)}"
            return printed

    def _started(self, line: str, stdout: int, stderr: object) -> subprocess.Popen:
        return subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", line], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True,
        )  # fmt: skip


def _everything(master: int) -> str:
    """All that is written to a terminal until nobody holds it open."""
    pieces = []
    with contextlib.suppress(OSError):  # Linux: the last writer has gone
        while piece := os.read(master, 65536):
            pieces.append(piece)
    os.close(master)
    return b"".join(pieces).decode("utf-8")


def _content(errors: object) -> str:
    errors.seek(0)
    return errors.read().decode("utf-8", "replace")


def read(path: Path, folder: Path) -> list[str]:
    """Work through a page; what it shows wrongly, in sentences."""
    wrong, last = [], ""
    with Reader(folder) as reader:
        for block in blocks(path):
            if block.name:
                reader.write(block)
            elif block.language == "python":
                last = reader.python(block)
            elif block.language == "console":
                for command in commands(block):
                    shown = "\n".join(command.shown)
                    printed = reader.shell(command.line)
                    if shown.strip() and (found := differs(printed, shown)):
                        wrong.append(f"{path.name}, line {block.start}: {command.line}\n{found}")
            elif block.language == "text" and block.follows_python:
                if found := differs(last, block.text):
                    wrong.append(f"{path.name}, line {block.start}: {found}")
            else:
                assert block.language in TOLD, f"{path.name}, line {block.start}: what is it?"
    return wrong


def rewritten(path: Path, folder: Path) -> str:
    """The page with what its commands print now, wherever it shows something else."""
    lines, last = path.read_text(encoding="utf-8").splitlines(), ""
    changes: list[tuple[int, int, list[str]]] = []
    with Reader(folder) as reader:
        for block in blocks(path):
            span = (block.start, block.start + len(block.lines))
            if block.name:
                reader.write(block)
            elif block.language == "python":
                last = reader.python(block)
            elif block.language == "console":
                changes.append((*span, _indented(_now(reader, block), block.indent)))
            elif block.language == "text" and block.follows_python and differs(last, block.text):
                changes.append((*span, _indented(last.rstrip().splitlines(), block.indent)))
    for start, end, new in reversed(changes):
        lines[start:end] = new
    return "\n".join(lines) + "\n"


def _now(reader: Reader, block: Block) -> list[str]:
    """A console block with what its commands print; those that show nothing stay silent."""
    lines = []
    for command in commands(block):
        printed = reader.shell(command.line)
        lines += [f"$ {command.typed[0]}", *command.typed[1:]]
        shown = "\n".join(command.shown)
        if shown.strip() and differs(printed, shown):
            text = textwrap.dedent("\n".join(line.rstrip() for line in printed.splitlines()))
            lines += text.strip("\n").splitlines()
        else:
            lines += command.shown
    return lines


def _indented(lines: list[str], margin: str) -> list[str]:
    return [margin + line if line else "" for line in lines]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            text = rewritten(Path(name), Path(folder))
        Path(name).write_text(text, encoding="utf-8")
        print(name)
