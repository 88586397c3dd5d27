"""Run all examples, or those named: `python examples [NAME...]`; --write keeps what they print."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


def printed(name: str) -> str:
    """What an example prints."""
    command = [sys.executable, str(FOLDER / f"{name}.py")]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603


def main(arguments: list[str]) -> None:
    names = [word for word in arguments if word != "--write"] or NAMES
    for name in names:
        text = printed(name)
        print(f"{name}\n{text}")
        if "--write" in arguments:
            (FOLDER / "output" / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
