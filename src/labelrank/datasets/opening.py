"""A data file or standard input, decompressed within limits, as bytes, text or lines."""

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from labelrank._zstd import zstd
from labelrank.atomic import atomic_write
from labelrank.errors import FormatError, MissingError


@dataclass(frozen=True)
class Limits:
    """The most a reader accepts of each thing.

    Parameters
    ----------
    bytes : of the file once decompressed
    expansion : decompressed bytes a compressed byte, once past 64 MiB
    rows, features, labels : shape of the data
    nonzeros : stored values
    cells : values a table has without the file spelling them out, such as keys left out of
        JSON records, or a first nominal value that sparse rows imply
    line : characters of one line

    Examples
    --------
    >>> from labelrank.datasets.opening import Limits
    >>> Limits(rows=10).check("rows", 11, "tiny.arff")
    Traceback (most recent call last):
    ...
    labelrank.errors.FormatError: tiny.arff: got 11 rows, but the limit is 10; raise Limits(rows=...) if the file is to be trusted
    """  # noqa: E501

    bytes: int = 4 << 30
    expansion: int = 2000
    rows: int = 100_000_000
    features: int = 1 << 26
    labels: int = 1 << 22
    nonzeros: int = (1 << 31) - 1
    cells: int = 1 << 27
    line: int = 1 << 28

    def check(self, what: str, got: float, where: str) -> None:
        """Refuse `got` of `what` if it is more than the limit."""
        allowed = getattr(self, what)
        if got > allowed:
            raise FormatError(
                f"{where}: got {got:.15g} {what}, but the limit is {allowed}; "
                f"raise Limits({what}=...) if the file is to be trusted"
            )

    def bytes_from(self, compressed: int) -> int:
        """Bytes that may come out of so many compressed ones."""
        return min(self.bytes, max(64 << 20, self.expansion * compressed))


COMPRESSED = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, ValueError)
_PIECE = 1 << 20
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Source:
    """One file to read: its name for messages, its content, its limits.

    `path` may be "-" for standard input. Compression is told by the first bytes.
    """

    def __init__(self, path: str | os.PathLike[str], limits: Limits | None = None) -> None:
        self.path = str(path)
        self.limits = limits or Limits()
        self.name = "standard input" if self.path == "-" else self.path

    @property
    def stem(self) -> str:
        """File name without folder and (double) extension."""
        name = Path(self.path).name
        for ending in self.endings[::-1]:
            name = name[: -len(ending)]
        return name or "standard-input"

    @property
    def endings(self) -> list[str]:
        """Extensions that count, in lower case: [".arff", ".xz"]."""
        suffixes = [suffix.lower() for suffix in Path(self.path).suffixes[-2:]]
        return suffixes if suffixes[1:] and suffixes[1] in COMPRESSED else suffixes[-1:]

    @cached_property
    def content(self) -> bytes:
        """All bytes, decompressed."""
        pieces, total = [], 0
        with self.stream() as file:
            while piece := self._piece(file):
                total += len(piece)
                pieces.append(piece)
                self.limits.check("bytes", total, self.name)
        return b"".join(pieces)

    def _piece(self, file: IO[bytes]) -> bytes:
        try:
            return file.read(_PIECE)
        except _DAMAGED as error:
            raise FormatError(
                f"{self.name}: damaged or cut short ({error}); get the file again"
            ) from error

    @contextmanager
    def stream(self) -> Iterator[IO[bytes]]:
        """The decompressed bytes as a file that refuses to give more than the limits allow."""
        with self._raw() as raw:
            head = raw.read(6)
            kind = next((k for magic, k in _MAGIC.items() if head.startswith(magic)), None)
            joined: Any = io.BufferedReader(_Joined(head, raw), _PIECE)
            allowed = self.limits.bytes
            if kind and self.path != "-":
                allowed = self.limits.bytes_from(os.path.getsize(self.path))
            with _decompressed(joined, kind) as plain:
                yield io.BufferedReader(_Bounded(plain, allowed, self.name), _PIECE)

    @contextmanager
    def _raw(self) -> Iterator[Any]:
        if self.path == "-":
            yield getattr(sys.stdin, "buffer", sys.stdin)
            return
        try:
            file = open(self.path, "rb")  # noqa: SIM115
        except IsADirectoryError as error:
            raise FormatError(f"{self.name} is a folder; give the path of a data file") from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise MissingError(
                f"{self.name!r} cannot be read ({reason}); give the path of a readable file"
            ) from error
        with file:
            yield file

    def text(self, encoding: str | None = None, fallback: str | None = None) -> str:
        """The content decoded: by its byte order mark, as UTF-8, else as `fallback`."""
        return decode(self.content, self.name, encoding, fallback)

    def head(self) -> list[str]:
        """The first few lines, decoded leniently, for a guess at the format."""
        start = self.content[: 1 << 16]
        mark = next((codec for bom, codec in _BOMS.items() if start.startswith(bom)), "utf-8")
        return start.decode(mark, errors="replace").splitlines()

    def lines(self, encoding: str | None = None, fallback: str | None = None) -> list[str]:
        """Lines of the text without their ends; a last empty line is not counted."""
        return split_lines(self.text(encoding, fallback), self.name, self.limits)


class _Joined(io.RawIOBase):
    """Bytes already taken for a look, then the rest: standard input cannot seek."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._head or self._rest.read(len(buffer))
        self._head = piece[len(buffer) :] if self._head else b""
        taken = piece[: len(buffer)]
        buffer[: len(taken)] = taken
        return len(taken)


class _Bounded(io.RawIOBase):
    """Counts what comes out of a decompressor and stops a bomb."""

    def __init__(self, plain: IO[bytes], allowed: int, name: str) -> None:
        self._plain, self._allowed, self._name, self._total = plain, allowed, name, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._plain.read(len(buffer))
        except _DAMAGED as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(
                f"{self._name}: damaged or cut short ({error}); get the file again"
            ) from error
        self._total += len(piece)
        if self._total > self._allowed:
            raise FormatError(
                f"{self._name}: more than {self._allowed} bytes once decompressed; "
                "raise Limits(bytes=..., expansion=...) if the file is to be trusted"
            )
        buffer[: len(piece)] = piece
        return len(piece)


def _decompressed(raw: Any, kind: str | None) -> Any:
    if kind == "gz":
        return gzip.GzipFile(fileobj=raw)
    if kind == "bz2":
        return bz2.BZ2File(raw)
    if kind == "xz":
        return lzma.LZMAFile(raw)
    if kind == "zst":
        return zstd.ZstdFile(raw, options={zstd.DecompressionParameter.window_log_max: 27})
    return raw


def decode(
    content: bytes, name: str, encoding: str | None = None, fallback: str | None = None
) -> str:
    """Text of a file, or a FormatError that names the line where decoding fails."""
    mark = next((codec for bom, codec in _BOMS.items() if content.startswith(bom)), None)
    codec = encoding or mark or "utf-8"
    try:
        text = content.decode(codec)
    except LookupError as error:
        raise FormatError(f"{name}: encoding {codec!r} is not known; use e.g. 'utf-8'") from error
    except UnicodeDecodeError as error:
        if fallback is None or encoding or mark:
            line = content.count(b"\n", 0, error.start) + 1
            raise FormatError(
                f"{name}, line {line}: not {codec} text; give its encoding, e.g. 'latin-1'"
            ) from error
        text = content.decode(fallback)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise FormatError(f"{name}, line {line}: a zero byte; this is not a text file")
    return text


def split_lines(text: str, name: str, limits: Limits) -> list[str]:
    """Lines by \\n, \\r\\n or \\r alone: other Unicode line breaks may stand inside a value."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    limits.check("line", max(map(len, lines), default=0), name)
    return lines


@contextmanager
def open_to_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Atomic binary file, compressed as its extension says; "-" is standard output."""
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    kind = COMPRESSED.get(Path(path).suffix.lower())
    with atomic_write(path) as file:
        if kind is None:
            yield file
        else:
            with _compressed(file, kind) as packed:
                yield packed


def _compressed(file: IO[bytes], kind: str) -> Any:
    if kind == "gz":
        return gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
    if kind == "bz2":
        return bz2.BZ2File(file, "wb")
    if kind == "xz":
        return lzma.LZMAFile(file, "wb")
    return zstd.ZstdFile(file, "wb", level=10)
