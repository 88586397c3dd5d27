"""One number of a published table beside ours, and how the two compare."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

WITHIN = "within tolerance"
ORDER = "order holds"
OUTSIDE = "outside"
MEASURED = "measured"
UNAVAILABLE = "not available"


@dataclass(frozen=True)
class Record:
    """One cell of a table: the published value (None: not printed) and ours (None: no data).

    A value that is `timed` depends on the machine.

    >>> Record("BR", "one error", published=5.02, ours=5.1).difference
    0.08
    """

    row: str
    column: str
    published: float | None = None
    ours: float | None = None
    note: str = ""
    verdict: str = ""
    timed: bool = False

    @property
    def difference(self) -> float | None:
        """Ours minus the published value."""
        if self.published is None or self.ours is None:
            return None
        return round(self.ours - self.published, 10)


def judge(records: Sequence[Record], tolerance: float, along: str = "row") -> list[Record]:
    """The records with their verdicts.

    A value is "within tolerance" if it differs by at most `tolerance` × the published one. Else
    "order holds" if it compares with every other value of its line (the same `along`: "row" or
    "column") as the published ones do, else it is "outside".

    >>> table = [Record("loss", "BR", 7.6, 9.9), Record("loss", "MMP", 2.8, 3.6)]
    >>> [record.verdict for record in judge(table, tolerance=0.1)]
    ['order holds', 'order holds']
    """
    return [replace(one, verdict=_verdict(one, records, tolerance, along)) for one in records]


def _verdict(record: Record, records: Sequence[Record], tolerance: float, along: str) -> str:
    if record.ours is None or not math.isfinite(record.ours):
        return UNAVAILABLE
    if record.published is None:
        return MEASURED
    if abs(record.ours - record.published) <= tolerance * abs(record.published):
        return WITHIN
    agreed = [
        _sign(record.ours - rival.ours) == _sign(record.published - rival.published)
        for rival in records
        if rival != record and getattr(rival, along) == getattr(record, along)
        if rival.ours is not None and rival.published is not None
    ]
    return ORDER if agreed and all(agreed) else OUTSIDE


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)


def to_json(record: Record, **about: object) -> str:
    """One JSON line: what `about` says of the experiment, then the record.

    >>> to_json(Record("BR", "one error", 5.0, 5.25), experiment="cmlpc-rcv1")[:42]
    '{"experiment": "cmlpc-rcv1", "row": "BR", '
    """
    told = {**about, **asdict(record), "difference": record.difference}
    del told["timed"]
    return json.dumps({key: None if value != value else value for key, value in told.items()})
