"""The encoding of a text file: its byte order mark, UTF-8, or what else it may be."""

import re

from labelrank.datasets.opening import byte_order_mark
from labelrank.errors import FormatError

WESTERN = "windows-1252"
_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH, _HIGH_LETTER = re.compile(rb"[\x80-\xff]"), re.compile(rb"[\xc0-\xff]")
_WORD = re.compile(rb"(?=[A-Za-z\xc0-\xff]{2})[A-Za-z]*[\xc0-\xff][A-Za-z\xc0-\xff]*")
_LETTER = re.compile(rb"[A-Za-z\xc0-\xff]")
_MOST_HIGH, _MOST_SIGNS = 0.7, 0.4
_HEAD, _FEW = 1 << 12, 8


def found(content: bytes, name: str) -> str | None:
    """The encoding of the content; None where it is UTF-8 or has a byte order mark.

    >>> found("Käse".encode("latin-1"), "f"), found("Käse".encode(), "f")
    ('windows-1252', None)
    """
    if byte_order_mark(content):
        return None
    wide = wide_of(content)
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
        return WESTERN
    return None


def is_western(content: bytes) -> bool:
    """Whether bytes that are not UTF-8 may be text of Western Europe, not damaged UTF-8.

    Its words have few letters outside ASCII; a Russian word in one byte per letter has no others.
    """
    n_high = len(_HIGH.findall(content))
    sequences = _SEQUENCE.findall(content)
    words = _WORD.findall(content)
    n_letters = len(_HIGH_LETTER.findall(b"".join(words)))
    is_damaged = len(sequences) > n_high - sum(map(len, sequences))
    n_all = len(_LETTER.findall(content))
    n_signs = n_high - len(_HIGH_LETTER.findall(content))  # many in two bytes per letter
    is_foreign = n_letters > _MOST_HIGH * sum(map(len, words)) or n_signs > _MOST_SIGNS * n_all
    return not (is_damaged or is_foreign) and _decodes(content)


def _decodes(content: bytes) -> bool:
    try:
        content.decode(WESTERN)
    except UnicodeDecodeError:
        return False
    return True


def wide_of(content: bytes) -> str | None:
    """UTF-16 without a mark, told by the start: every second byte of Latin text is zero."""
    head = content[:_HEAD]
    half = len(head) // 2
    if half >= _FEW and head[1::2].count(0) > 0.4 * half and not head[::2].count(0):
        return "utf-16-le"
    if half >= _FEW and head[::2].count(0) > 0.4 * half and not head[1::2].count(0):
        return "utf-16-be"
    return None
