"""The folder of compiled kernels may be full, damaged, open to others or missing: nothing stops."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

resource = pytest.importorskip("resource", reason="limits of a process, which Windows has not")

PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
from labelrank.kernels.random import mix, uniform
print(uniform(1, 2, 3))
"""


def compiled(cache, room=-1, **environment):
    """A process that compiles a kernel: its output and its warnings."""
    environment = {**os.environ, "LABELRANK_CACHE_DIR": str(cache), **environment}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(room)], env=environment, timeout=120,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("cache")).stdout


def test_a_full_disk_is_no_cache(tmp_path, answer):
    done = compiled(tmp_path, room=50)
    assert (done.stdout, done.stderr) == (answer, "")


def test_a_damaged_cache_is_written_anew(tmp_path, answer):
    compiled(tmp_path)
    written = [path for path in tmp_path.rglob("*.nb?") if path.is_file()]
    assert written
    for path in written:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    done = compiled(tmp_path)
    assert (done.stdout, done.stderr) == (answer, "")


def test_without_a_folder_of_its_own_it_warns_and_goes_on(answer):
    done = compiled(Path("/proc/nobody"), HOME="/proc/nobody", XDG_CACHE_HOME="/proc/nobody")
    assert done.stdout == answer
    assert "set LABELRANK_CACHE_DIR" in done.stderr


def test_a_folder_that_others_may_write_holds_no_code_of_ours(tmp_path, answer):
    compiled(tmp_path)
    for path in tmp_path.iterdir():
        path.chmod(0o777)
    done = compiled(tmp_path, HOME="/proc/nobody", XDG_CACHE_HOME="/proc/nobody")
    assert done.stdout == answer
    assert "set LABELRANK_CACHE_DIR" in done.stderr
