"""A write that fails leaves the old file and no litter."""

import os

import pytest

from labelrank.atomic import atomic_write, check_writable
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
