"""One number of a published table beside ours, and how the two compare."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

WITHIN = "within tolerance"
ORDER = "order holds"
OUTSIDE = "outside"
MEASURED = "measured"
UNAVAILABLE = "not available"


@dataclass(frozen=True)
class Record:
    """One cell of a table: the published value (None: not printed) and ours (None: no data).

    >>> Record("BR", "one error", published=5.02, ours=5.1).difference
    0.08
    """

    row: str
    column: str
    published: float | None = None
    ours: float | None = None
    note: str = ""
    verdict: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus the published value."""
        if self.published is None or self.ours is None:
            return None
        return round(self.ours - self.published, 10)


def judge(
    records: Sequence[Record], tolerance: float, absolute: float = 0.0, along: str = "row"
) -> list[Record]:
    """The records with their verdicts.

    A value is "within tolerance" if it differs by at most `tolerance` × the published one, or
    by `absolute`. Otherwise "order holds" if it compares with every other value of its line
    (the same `along`: "row" or "column") as the published ones do, else it is "outside".

    >>> table = [Record("loss", "BR", 7.6, 9.9), Record("loss", "MMP", 2.8, 3.6)]
    >>> [record.verdict for record in judge(table, tolerance=0.1)]
    ['order holds', 'order holds']
    """
    return [
        replace(record, verdict=_verdict(record, records, tolerance, absolute, along))
        for record in records
    ]


def _verdict(
    record: Record, records: Sequence[Record], tolerance: float, absolute: float, along: str
) -> str:
    if record.ours is None or not math.isfinite(record.ours):
        return UNAVAILABLE
    if record.published is None:
        return MEASURED
    if abs(record.ours - record.published) <= max(absolute, tolerance * abs(record.published)):
        return WITHIN
    line = [other for other in records if getattr(other, along) == getattr(record, along)]
    return ORDER if _same_order(record, line) else OUTSIDE


def _same_order(record: Record, line: Iterable[Record]) -> bool:
    rivals = [r for r in line if r != record and r.ours is not None and r.published is not None]
    return bool(rivals) and all(
        _sign(record.ours, rival.ours) == _sign(record.published, rival.published)
        for rival in rivals
    )


def _sign(a: float | None, b: float | None) -> int:
    if a is None or b is None:
        return 0
    return (a > b) - (a < b)


def to_json(record: Record, **about: object) -> str:
    """One JSON line: what `about` says of the experiment, then the record.

    >>> to_json(Record("BR", "one error", 5.0, 5.25), experiment="cmlpc-rcv1")[:42]
    '{"experiment": "cmlpc-rcv1", "row": "BR", '
    """
    found = {**about, **asdict(record), "difference": record.difference}
    return json.dumps({key: None if value != value else value for key, value in found.items()})
