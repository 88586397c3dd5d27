"""A write that fails leaves the old file and no litter."""

import errno
import os
import signal
import subprocess
import sys
import types

import pytest

from labelrank.atomic import atomic_write, check_writable, hold
from labelrank.errors import InputError, MissingError


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), atomic_write(path) as file:
        file.writelines([b"half of the new", "text"])
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


def test_a_finished_write_replaces_the_old_file(tmp_path):
    path = tmp_path / "notes"
    path.write_text("old")
    path.chmod(0o640)
    with atomic_write(path, "w") as file:
        file.write("new\n")
        assert path.read_text() == "old"
    assert path.read_bytes() == b"new\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_the_target_of_a_link_is_replaced_not_the_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_write(tmp_path / "link", "w") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_places_that_cannot_hold_a_file_are_named(tmp_path):
    with (
        pytest.raises(MissingError, match="exists and is writable"),
        atomic_write(tmp_path / "no" / "file"),
    ):
        pass
    with pytest.raises(MissingError, match="is a folder"), atomic_write(tmp_path):
        pass
    with pytest.raises(InputError, match="mode"), atomic_write(tmp_path / "file", "a"):
        pass


def test_a_place_is_checked_without_a_trace(tmp_path):
    (tmp_path / "model").write_bytes(b"old")
    for path in (tmp_path / "model", tmp_path / "new", None):
        check_writable(path)
    assert os.listdir(tmp_path) == ["model"]
    assert (tmp_path / "model").read_bytes() == b"old"
    for path in (tmp_path, tmp_path / "model" / "below", tmp_path / "nowhere" / "file"):
        with pytest.raises(MissingError):
            check_writable(path)


WRITER = """
import signal, sys
from labelrank.atomic import atomic_write
with atomic_write(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    signal.pause()
"""


@pytest.fixture
def writer(tmp_path):
    """Another process in the middle of writing `model`."""
    command = [sys.executable, "-c", WRITER, str(tmp_path / "model")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"writing\n"
        yield process
        process.kill()


@pytest.mark.skipif(not hasattr(signal, "pause"), reason="not on Windows")
def test_what_a_killed_process_left_is_cleared_by_the_next(writer, tmp_path):
    writer.kill()
    writer.wait()
    own = {".model.mine.part", ".model.12345678.parts", ".other.12345678.part"}
    for name in own:
        (tmp_path / name).write_text("of somebody")
    assert len(os.listdir(tmp_path)) == 4
    check_writable(tmp_path / "model")
    assert set(os.listdir(tmp_path)) == own


@pytest.mark.skipif(not hasattr(signal, "pause"), reason="not on Windows")
def test_what_another_process_is_writing_is_left_alone(writer, tmp_path):
    (before,) = os.listdir(tmp_path)
    with atomic_write(tmp_path / "model") as file:
        file.write(b"whole")
    assert set(os.listdir(tmp_path)) == {before, "model"}


def test_a_lock_does_without_what_windows_does_not_have(tmp_path, monkeypatch):
    locked = []

    def locking(descriptor, _way, _size):
        if locked:
            raise OSError(errno.EACCES, "locked")
        locked.append((descriptor, os.lseek(descriptor, 0, os.SEEK_CUR)))

    monkeypatch.setitem(sys.modules, "fcntl", None)
    windows = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    with (tmp_path / "cells").open("wb") as file:
        assert hold(file.fileno())
        assert file.tell() == 0
        assert not hold(file.fileno())
    assert locked[0][1] > 2**20
