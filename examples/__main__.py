"""Run all examples, or those named: `python examples [NAME...]`; --write keeps what they make.

An example prints text and draws one picture, NAME.png, in the folder where it runs.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
PICTURES = FOLDER.parent / "docs" / "_static" / "gallery"
NAMES = sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


def printed(name: str, folder: str) -> str:
    """What an example prints when it runs in a folder."""
    command = [sys.executable, str(FOLDER / f"{name}.py")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)  # noqa: S603
    return done.stdout


def keep(name: str, text: str, folder: str) -> None:
    """Put text and picture where the gallery shows them."""
    (FOLDER / "output" / f"{name}.txt").write_text(text, encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    shutil.copyfile(Path(folder) / f"{name}.png", PICTURES / f"{name}.png")


def main(arguments: list[str]) -> None:
    names = [word for word in arguments if word != "--write"] or NAMES
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            text = printed(name, folder)
            print(f"{name}\n{text}")
            if "--write" in arguments:
                keep(name, text, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
