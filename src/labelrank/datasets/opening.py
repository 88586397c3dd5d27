"""A data file or standard input, decompressed within limits, as bytes, text or lines."""

import bz2
import contextlib
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from labelrank._zstd import zstd
from labelrank.atomic import NO_WAIT, atomic_write
from labelrank.errors import FormatError, InputError, MissingError
from labelrank.resources import available_bytes


@dataclass(frozen=True)
class Limits:
    """The most a reader accepts of each thing.

    Parameters
    ----------
    bytes : of the file once decompressed
    expansion : decompressed bytes per compressed byte, once past 64 MiB
    text_expansion : the same of text, which becomes much larger once more when it is read
    rows, features, labels : shape of the data
    nonzeros : stored values
    cells : values a table has without the file spelling them out, such as keys left out of
        JSON records, or a first nominal value that sparse rows imply
    line : characters of one line
    """

    bytes: int = 4 << 30
    expansion: int = 2000
    text_expansion: int = 200
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

    def check_shape(self, dataset: Any, where: str) -> None:
        """Refuse a data set of more rows, features or labels than the limits."""
        self.check("rows", dataset.n_instances, where)
        self.check("features", dataset.n_features or 0, where)
        self.check("labels", dataset.n_labels, where)

    def bytes_from(self, compressed: int, *, text: bool = False) -> int:
        """Bytes that may come out of so many compressed ones."""
        most = self.text_expansion if text else self.expansion
        return min(self.bytes, max(64 << 20, most * compressed))


AnyPath = str | os.PathLike[str]
COMPRESSED = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, ValueError)
_PIECE, _LOOK = 1 << 20, 1 << 12
_PIECES = 64  # between two looks at the free memory
_PATIENCE = 10  # seconds
_LINE = 60  # bytes of a short text in memory
ROW = 400  # and of a row of a few of them in a table
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Source:
    """One file to read ("-": standard input), decompressed as its first bytes tell.

    Of an eager one, `must_wait` says that no further line is at hand.
    """

    def __init__(self, path: AnyPath, limits: Limits | None = None, *, eager: bool = False) -> None:
        self.path = str(path)
        self.limits = limits or Limits()
        self.eager, self.must_wait = eager, False
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
        """All bytes, decompressed, if they fit into free memory twice."""
        pieces: list[bytes] = []
        with self.stream() as file:
            while piece := file.read(_PIECE):
                pieces.append(piece)
                if len(pieces) % _PIECES == 0 and 2 * len(pieces) * _PIECE > available_bytes():
                    raise FormatError(
                        f"{self.name}: more than {len(pieces):,} MiB once decompressed, too much "
                        "for the free memory; split the file"
                    )
        return b"".join(pieces)

    @property
    def is_compressed(self) -> bool:
        """Whether the first bytes of the file are those of a compressed one."""
        with self._raw() as raw:
            return raw.read(6).startswith(tuple(_MAGIC))

    @contextmanager
    def stream(self) -> Iterator[IO[bytes]]:
        """The decompressed bytes as a file that refuses to give more than the limits allow."""
        with self._raw() as raw:
            head = io.BytesIO(_start(raw))  # for a look: standard input cannot seek
            more = _at_hand(raw)
            whole: Any = _Readable(lambda size: head.read(size) or more(size))
            kind = next((k for magic, k in _MAGIC.items() if head.getvalue().startswith(magic)), "")
            allowed = self.limits.bytes
            if kind and self.path != "-":
                allowed = self.limits.bytes_from(os.path.getsize(self.path), text=True)
            with _packed(io.BufferedReader(whole, _PIECE), kind, "rb") as plain:
                counted: Any = _Readable(self._counting(plain, allowed))
                yield io.BufferedReader(counted, _PIECE)

    def _counting(self, plain: IO[bytes], allowed: int) -> Callable[[int], bytes]:
        """Read from a decompressor, at most `allowed` bytes: a bomb stops there."""
        total, more = 0, _at_hand(plain)

        def read(size: int) -> bytes:
            nonlocal total
            try:
                piece = more(size)
            except _DAMAGED as error:
                raise FormatError(
                    f"{self.name}: damaged or cut short ({error}); get the file again"
                ) from error
            total += len(piece)
            if total > allowed:
                raise FormatError(
                    f"{self.name}: more than {allowed} bytes once decompressed; "
                    "decompress it first if it is to be trusted, or split it"
                )
            return piece

        return read

    @contextmanager
    def _raw(self) -> Iterator[Any]:
        if self.path == "-":
            yield getattr(sys.stdin, "buffer", sys.stdin)
            return
        try:
            file = _opened(self.path)
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
        self.check_lines(_LINE)
        return decode(self.content, self.name, encoding, fallback)

    def check_lines(self, least: int) -> None:
        """Refuse more lines, of at least so many bytes each once they are read, than memory has."""
        n_lines = self.content.count(b"\n")
        if n_lines * least > available_bytes():
            raise FormatError(
                f"{self.name}: {n_lines:,} lines, which become more than the free memory, "
                f"{n_lines * least / 2**30:.1f} GiB at least; split the file"
            )

    def head(self) -> list[str]:
        """The first few lines, decoded leniently, for a guess at the format."""
        if self.path == "-":
            start = self.content[: 1 << 16]
        else:
            with self.stream() as file:
                start = file.read(1 << 16)
        return start.decode(byte_order_mark(start) or "utf-8", errors="replace").splitlines()

    def lines(self, encoding: str | None = None, fallback: str | None = None) -> list[str]:
        """Lines of the text without their ends; a last empty line is not counted."""
        return self.split(self.text(encoding, fallback))

    def split(self, text: str) -> list[str]:
        """Lines of this text, none longer than the limit."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")  # other Unicode line breaks may stand inside a value
        if not lines[-1]:
            lines.pop()
        self.limits.check("line", max(map(len, lines), default=0), self.name)
        return lines


def _opened(path: str) -> IO[bytes]:
    """The file; a named pipe that nobody writes to is refused, for that may take for ever."""
    if not stat.S_ISFIFO(os.stat(path).st_mode):
        return open(path, "rb")
    with ThreadPoolExecutor(1) as pool:
        file = pool.submit(open, path, "rb")  # waits for a writer
        try:
            return file.result(_PATIENCE)
        except BaseException as error:
            os.close(os.open(path, os.O_WRONLY | NO_WAIT))  # and need not wait any longer
            file.result().close()
            if isinstance(error, TimeoutError):
                raise MissingError(
                    f"{path} is a pipe that nobody has written to for {_PATIENCE} seconds; "
                    "start what writes to it first"
                ) from None
            raise


def _at_hand(file: Any) -> Callable[[int], bytes]:
    """Reads what has come so far, and waits only where nothing has: a pipe may stay open."""
    return getattr(file, "read1", file.read)


def _start(raw: Any) -> bytes:
    """The first bytes: as many as tell whether the file is compressed."""
    more, head = _at_hand(raw), b""
    while piece := more(_LOOK):
        head += piece
        if len(head) >= 6 or not any(magic.startswith(head) for magic in _MAGIC):
            break
    return head


class _Readable(io.RawIOBase):
    """A file whose bytes come from a function of the number wanted."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def _packed(file: Any, kind: str, mode: Any) -> Any:
    """The file as seen through a compression, or as it is where `kind` is empty."""
    if kind == "gz":
        return gzip.GzipFile(filename="", fileobj=file, mode=mode, mtime=0)
    if kind == "bz2":
        return bz2.BZ2File(file, mode)
    if kind == "xz":
        return lzma.LZMAFile(file, mode)
    if kind == "zst" and mode == "wb":
        return zstd.ZstdFile(file, mode, level=10)
    if kind == "zst":
        return zstd.ZstdFile(file, options={zstd.DecompressionParameter.window_log_max: 27})
    return contextlib.nullcontext(file)


def byte_order_mark(content: bytes) -> str | None:
    """The encoding that the first bytes name, if they do."""
    return next((codec for mark, codec in _BOMS.items() if content.startswith(mark)), None)


def decode(content: bytes, name: str, encoding: str | None, fallback: str | None = None) -> str:
    """Text of a file, or a FormatError that names the line where decoding fails."""
    mark = byte_order_mark(content)
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


@contextmanager
def open_to_write(path: AnyPath) -> Iterator[IO[bytes]]:
    """Atomic binary file, compressed as its extension says; "-" is standard output."""
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    kind = COMPRESSED.get(Path(path).suffix.lower(), "")
    with atomic_write(path) as file, _packed(file, kind, "wb") as packed:
        yield packed


def check_choice(what: str, got: str, allowed: Iterable[str]) -> None:
    """Raise InputError unless `got` is one of the allowed words."""
    if got not in allowed:
        raise InputError(f"got {what}={got!r}; use {' or '.join(map(repr, allowed))}")


def check_options(given: Iterable[str], known: Iterable[str], format: str) -> None:
    """Raise InputError for an option that the format does not have."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise InputError(
            f"got option {unknown[0]!r} for the {format} format; "
            f"it has {', '.join(sorted(known)) or 'no options'}"
        )
