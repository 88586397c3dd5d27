"""The options that several commands share, each described once."""

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that labelrank fit wrote.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Jobs = Annotated[int | None, typer.Option(help="How many to run side by side, 1 by default.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No remarks, no progress bars.")]
