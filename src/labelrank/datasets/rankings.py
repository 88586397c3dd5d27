"""Label ranking CSV: a line `n,d,q`, then d features and q ranks (1 is best) an instance.

Ranks become grades: rank r of q labels is grade q + 1 - r, so that all labels are relevant, the
best has grade q, and equal ranks stay equal. A rank `?` or NaN is an unknown label.
"""

from collections.abc import Sequence

from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import Source
from labelrank.datasets.pairs import (
    Floats,
    given_names,
    located,
    numbers_in,
    refuse_cut,
    sizes_in,
)
from labelrank.relevance import check_relevance


def read(
    source: Source, *, encoding: str | None = None, label_names: Sequence[str] | None = None
) -> Dataset:
    """Read a label ranking file.

    Parameters
    ----------
    source : Source
    encoding : str or None
    label_names : names of the q labels; "0", "1", ... if None
    """
    lines = source.lines(encoding)
    words = [word.strip() for word in lines[0].split(",")] if lines else []
    n, d, q = sizes_in(words, "instances,features,labels", source)
    rows = [(k, line) for k, line in enumerate(lines[1:], 2) if line.strip()]
    refuse_cut(n, len(rows), source)

    def parse(part: Sequence[str]) -> Floats:
        return _table(part, d, q)

    table = located(parse, [line for _, line in rows], [k for k, _ in rows], source.name)
    Y = check_relevance(q + 1 - table[:, d:])
    names = given_names(label_names, q, source)
    return Dataset(source.stem, table[:, :d].copy(), Y, label_names=names)


def _table(rows: Sequence[str], d: int, q: int) -> Floats:
    for row in rows:
        if row.count(",") != d + q - 1:
            raise ValueError(f"got {row.count(',') + 1} values, but {d} + {q} are wanted")
    table = numbers_in(",".join(rows).replace("?", "nan"), ",", len(rows) * (d + q))
    table = table.reshape(len(rows), d + q)
    ranks = table[:, d:]
    if ((ranks < 1) | (ranks > q)).any():
        raise ValueError(f"got a rank outside 1..{q}; rank 1 is the best label")
    return table
