"""Where the files of a named set are: a data folder, the folder of fetched sets, an archive."""

import io
import os
import tarfile
from pathlib import Path

from labelrank.datasets.fetching import addresses, cache_folder
from labelrank.datasets.limits import Limits
from labelrank.datasets.opening import COMPRESSED, Source
from labelrank.datasets.registry import Entry
from labelrank.errors import FormatError, MissingError


class Content(Source):
    """Bytes already in memory, to be read as a file called `name`."""

    def __init__(self, name: str, content: bytes, limits: Limits | None = None) -> None:
        super().__init__(name, limits)
        self.content = content


class Folders:
    """Finds the files of one set, compressed or not, in the first folder that has them."""

    def __init__(
        self,
        entry: Entry,
        data: str | os.PathLike[str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.name, self.files, self.limits = entry.name, entry.files, limits
        given = data if data is not None else os.environ.get("LABELRANK_DATA")
        self.folders = [*([Path(given)] if given else []), cache_folder()]

    def find(self, file: str) -> Path | None:
        """Path of a file given without its compression."""
        endings = ("", *COMPRESSED)
        paths = (folder / (file + ending) for folder in self.folders for ending in endings)
        return next((path for path in paths if path.is_file()), None)

    def path(self, file: str) -> Path:
        """As `find`, or an error that says how to get the file."""
        found = self.find(file)
        if found is None:
            raise MissingError(self._missing(file))
        return found

    def complete(self) -> bool:
        """Whether every file of the set, or the archive that holds it, is there."""
        return all(self.find(file) or self.find(_archive(file)) for file in self.files)

    def source(self, file: str) -> Source:
        """The file, to be read within the limits; loose, or out of its archive."""
        if self.find(file) is None and self.find(_archive(file)) is not None:
            return self.members(_archive(file), file)[0]
        return Source(self.path(file), self.limits)

    def members(self, archive: str, *names: str) -> list[Source]:
        """Files of a tar archive, found by the end of their path in it."""
        packed = self.source(archive)
        try:
            with tarfile.open(fileobj=io.BytesIO(packed.content), mode="r:") as tar:
                plain = [member for member in tar if member.isfile()]
                found = [_ending(plain, name) for name in names]
                return [self._member(packed.name, tar, *pair) for pair in zip(found, names)]
        except tarfile.TarError as error:
            raise FormatError(
                f"{packed.name}: not a tar archive ({error}); get it again"
            ) from error

    def _member(
        self, archive: str, tar: tarfile.TarFile, member: tarfile.TarInfo | None, name: str
    ) -> Source:
        file = tar.extractfile(member) if member is not None else None
        if file is None:
            raise FormatError(f"{archive}: there is no {name} in it; get the archive again")
        return Content(f"{archive}/{name}", file.read(), self.limits)

    def _missing(self, file: str) -> str:
        looked = " or ".join(str(folder) for folder in self.folders)
        remedy = "set LABELRANK_DATA (or --data) to the folder that has it"
        if self.name in addresses():
            remedy += f", or get it with 'labelrank datasets --fetch {self.name}'"
        return f"data set {self.name!r} is known, but {file} is not in {looked}; {remedy}"


def _ending(members: list[tarfile.TarInfo], name: str) -> tarfile.TarInfo | None:
    return next((m for m in members if f"/{m.name}".endswith(f"/{name}")), None)


def _archive(file: str) -> str:
    """The archive that may hold a file: the label ranking sets come in one."""
    return "labelranking.tar" if Path(file).parent.name.endswith("labelranking") else file
