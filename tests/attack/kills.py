"""`kill -9` at random moments of `fit -o` over a good model: it is the old one or the new one."""

import numpy as np

from attack import commands
from labelrank.atomic import check_writable

SILENCE = commands.SILENCE
prepare = commands.prepare


def attempt(number, prepared, folder):
    said = commands.tried(
        "fit", "SIGKILL", prepared, folder, np.random.default_rng(number), is_new=number % 8 == 0
    )
    check_writable(folder / "case" / "model.labelrank")
    litter = [path.name for path in (folder / "case").glob(".*")]
    return f"lost: {litter} stays" if litter and not said.startswith("lost") else said
