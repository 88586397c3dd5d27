"""Files changed at random are answered or refused; `attack.py` tells how, and tries many more."""

import os

from persistence import attack

N_FILES = int(os.environ.get("LABELRANK_ATTACK", "400"))


def test_changed_files_neither_crash_nor_hang_nor_raise_what_is_not_ours():
    counts, blamed = attack.attack(N_FILES, first=10**6)
    assert blamed == []
    assert counts["refused"] + counts["refused later"] + counts["answered"] == N_FILES
    assert counts["answered"] > N_FILES // 10
    assert counts["refused"] > N_FILES // 2
