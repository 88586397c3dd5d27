"""How long a user waits before anything happens."""

import tempfile
from pathlib import Path

from benchmarks.timing import start_up


def run(quick: bool = False) -> list[dict]:
    empty = start_up("-c", "pass")
    help_page = start_up("-m", "labelrank", "--help")
    imported = start_up("-c", "import labelrank")
    with tempfile.TemporaryDirectory() as folder:
        fit = [
            "-m",
            "labelrank",
            "fit",
            "debtags-sample",
            "--quiet",
            "-o",
            str(Path(folder) / "m"),
        ]
        fitted = start_up(*fit, repeats=2)
    return [
        {"name": "python -c pass", "ours_s": empty},
        {"name": "import labelrank", "ours_s": imported, "target": "<= 0.3 s"},
        {"name": "labelrank --help", "ours_s": help_page, "target": "<= 0.3 s"},
        {"name": "labelrank fit debtags-sample (second run)", "ours_s": fitted, "target": "few s"},
    ]
