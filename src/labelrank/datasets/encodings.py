"""The encoding of a text file: its byte order mark, UTF-8, or what else it may be."""

import re

from labelrank.datasets.opening import byte_order_mark
from labelrank.errors import FormatError

WESTERN = "windows-1252"
_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH, _LETTER = re.compile(rb"[\x80-\xff]"), re.compile(rb"[A-Za-z]")
# Western text has few letters outside ASCII; Russian or Greek text in one byte per letter has many.
_MOST_HIGH = 0.3
_HEAD, _FEW = 1 << 12, 8


def found(content: bytes, name: str) -> str | None:
    """The encoding of the content; None where it is UTF-8 or has a byte order mark.

    >>> found("Käse".encode("latin-1"), "f"), found("Käse".encode(), "f")
    ('windows-1252', None)
    """
    if byte_order_mark(content):
        return None
    wide = _wide(content[:_HEAD])
    if wide:
        return wide
    try:
        content.decode()
    except UnicodeDecodeError as error:
        if not is_western(content):
            line = content.count(b"\n", 0, error.start) + 1
            raise FormatError(
                f"{name}, line {line}: not utf-8 text, nor of Western Europe; give its encoding, "
                "e.g. 'windows-1251'"
            ) from error
        return western(content)
    return None


def western(content: bytes) -> str:
    """The encoding of Western Europe that has all these bytes."""
    try:
        content.decode(WESTERN)
    except UnicodeDecodeError:
        return "latin-1"
    return WESTERN


def is_western(content: bytes) -> bool:
    """Whether bytes that are not UTF-8 may be text of Western Europe, not damaged UTF-8."""
    n_high = len(_HIGH.findall(content))
    sequences = _SEQUENCE.findall(content)
    n_single = n_high - sum(map(len, sequences))
    n_letters = len(_LETTER.findall(content))
    return len(sequences) <= n_single and n_high <= _MOST_HIGH * (n_high + n_letters)


def _wide(head: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of mostly Latin text is zero."""
    half = len(head) // 2
    if half >= _FEW and head[1::2].count(0) > 0.4 * half and not head[::2].count(0):
        return "utf-16-le"
    if half >= _FEW and head[::2].count(0) > 0.4 * half and not head[1::2].count(0):
        return "utf-16-be"
    return None
