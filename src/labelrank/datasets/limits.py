"""How large a data file may turn out to be, checked before memory is taken for it."""

from dataclasses import dataclass

from labelrank.errors import FormatError


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
    >>> from labelrank.datasets.limits import Limits
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
