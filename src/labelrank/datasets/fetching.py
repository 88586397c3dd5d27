"""Data sets from their public homes (`sources.tsv`), for users who have no data folder.

A file appears under its final name only when it is complete and its checksum is right; what a
cut-off download left (`*.part`) is continued by the next one.
"""

import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from labelrank.datasets.opening import AnyPath
from labelrank.errors import FormatError, LabelrankError, MissingError
from labelrank.resources import meter

_ATTEMPTS = 4
_CHUNK = 1 << 16
_TIMEOUT = (10, 60)


class Source(NamedTuple):
    """One file of a set: where it goes, where it comes from, how large and what it may be."""

    file: str
    url: str
    limit: int
    sha256: str | None


@cache
def addresses() -> dict[str, tuple[Source, ...]]:
    """The public home of every set that has one; the tests visit none of them.

    Examples
    --------
    >>> [source.file for source in addresses()["scene"]]
    ['mulan/scene-train.arff', 'mulan/scene-test.arff', 'mulan/scene.xml']
    """
    table: dict[str, tuple[Source, ...]] = {}
    lines = (files("labelrank.datasets") / "sources.tsv").read_text("utf-8").splitlines()
    for line in lines[1:]:
        name, file, limit, sha256, url = line.split("\t")
        source = Source(file, url, int(limit), None if sha256 == "-" else sha256)
        table[name] = (*table.get(name, ()), source)
    return table


def cache_folder() -> Path:
    """Where fetched sets are kept: `LABELRANK_CACHE`, or the user's cache folder."""
    import platformdirs

    given = os.environ.get("LABELRANK_CACHE")
    return Path(given) if given else Path(platformdirs.user_cache_dir("labelrank")) / "data"


def fetch(name: str, folder: AnyPath | None = None, progress: bool = True) -> Path:
    """Download a named set, unless it is there already; returns the folder to load it from.

    Parameters
    ----------
    name : a key of `addresses()`
    folder : the data folder to put it in; None is the user's cache folder, where `load` looks too
    progress : whether to show a progress bar on standard error
    """
    name = name.lower()
    if name not in addresses():
        raise MissingError(
            f"data set {name!r} has no stable public address in the form labelrank reads; put its "
            "files into a data folder and set LABELRANK_DATA, or fetch one of: "
            + ", ".join(sorted(addresses()))
        )
    target = Path(folder) if folder is not None else cache_folder()
    for source in addresses()[name]:
        retrieve(source, target, progress)
    return target


def retrieve(source: Source, folder: Path, progress: bool = True) -> Path:
    """One file, complete and checked, or an error and nothing under its name."""
    import pooch

    pooch.get_logger().setLevel("WARNING")
    final = folder / source.file
    try:
        pooch.retrieve(
            source.url,
            known_hash=source.sha256 and f"sha256:{source.sha256}",
            fname=final.name,
            path=final.parent,
            downloader=_Downloader(source, final, progress),
        )
    except LabelrankError:
        raise
    except ValueError as error:
        raise FormatError(
            f"{source.url} gave a file whose SHA-256 is not {source.sha256}; the file was thrown "
            "away: try again, or get the set elsewhere if its home has changed"
        ) from error
    except OSError as error:
        raise MissingError(
            f"could not fetch {source.url} into {folder} ({error}); check the connection and the "
            "folder, then run the same command again to go on from there"
        ) from error
    return final


class _Downloader:
    """What pooch calls to fill a file; keeps the received part beside the final name."""

    def __init__(self, source: Source, final: Path, progress: bool) -> None:
        self.source, self.progress = source, progress
        self.part = final.with_name(final.name + ".part")
        self.validator: str | None = None

    def __call__(self, url: str, output_file: Any, _pooch: Any) -> None:
        if self.source.sha256 is None:
            # without a checksum nothing would tell a join of two versions from the real file
            self.part.unlink(missing_ok=True)
        for left in reversed(range(_ATTEMPTS)):
            if self._attempt(url, last=left == 0):
                break
        os.replace(self.part, output_file)

    def _attempt(self, url: str, last: bool) -> bool:
        import requests

        headers = {"Accept-Encoding": "identity", "User-Agent": "labelrank"}
        if self._received():
            headers["Range"] = f"bytes={self._received()}-"
            if self.validator:
                headers["If-Range"] = self.validator
        try:
            with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
                return self._receive(response)
        except requests.RequestException:
            if last:
                raise
            return False

    def _received(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _receive(self, response: Any) -> bool:
        if response.status_code == 416:
            self.part.unlink(missing_ok=True)
            return False
        if response.status_code >= 500:
            response.raise_for_status()
        if response.status_code not in (200, 206):
            raise MissingError(
                f"{self.source.url} answered {response.status_code} {response.reason}; the set has "
                "no such public file any more: get it elsewhere and set LABELRANK_DATA"
            )
        resumed = response.status_code == 206
        self.validator = response.headers.get("ETag")
        done = self._received() if resumed else 0
        expected = done + int(response.headers.get("Content-Length", 0))
        self._within(expected)
        bar = meter(self.source.file, self.progress, expected or None, done=done, in_bytes=True)
        with self.part.open("ab" if resumed else "wb") as file, bar as advance:
            for chunk in response.iter_content(_CHUNK):
                done += len(chunk)
                self._within(done)
                file.write(chunk)
                advance(done, expected or None)
        return True

    def _within(self, size: int) -> None:
        if size > self.source.limit:
            self.part.unlink(missing_ok=True)
            raise FormatError(
                f"{self.source.url} sends more than the {self.source.limit} bytes expected of "
                f"{self.source.file}; nothing was kept: get the set elsewhere"
            )
