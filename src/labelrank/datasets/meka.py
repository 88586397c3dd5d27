"""MEKA data: ARFF that says in its relation name where the targets are.

`-C n`: the first n attributes, `-C -n`: the last n. `-split-number n` and
`-split-percentage p` say how many instances are for training.
"""

import os
import re

import numpy as np

from labelrank.datasets.arff import Table, read_table, write_table
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import Source
from labelrank.datasets.tabular import to_dataset
from labelrank.errors import FormatError

_COUNT = re.compile(r"(?:^|[\s:])-[Cc]\s*(-?\d{1,9})(?!\d)")
_SPLIT = re.compile(r"-split-(number|percentage)\s+(\d{1,9}(?:\.\d{1,9})?)")


def read(
    source: Source,
    *,
    encoding: str | None = None,
    nominal: str = "ordinal",
    targets: str = "auto",
) -> Dataset:
    """Read a MEKA file; the parameters are those of `mulan.read`."""
    table = read_table(source, encoding)
    data = to_dataset(
        table, columns(signed_count(table, source), table, source), name=source.stem,
        where=source.name, limits=source.limits, nominal=nominal, targets=targets,
    )  # fmt: skip
    return with_split(data, table.relation)


def signed_count(table: Table, source: Source) -> int:
    """The number after `-C` in the relation name."""
    match = _COUNT.search(table.relation)
    if match is None:
        raise FormatError(
            f"{source.name}: nothing says which attributes are labels; give xml=..., n_labels=..., "
            "or write '-C n' in the relation name"
        )
    return int(match[1])


def columns(count: int, table: Table, source: Source) -> list[int]:
    """The first `count` attributes, or the last `-count`."""
    width = len(table.attributes)
    if not 1 <= abs(count) <= width:
        raise FormatError(
            f"{source.name}: got {abs(count)} labels, but the file declares {width} attributes"
        )
    return list(range(count)) if count > 0 else list(range(width + count, width))


def with_split(data: Dataset, relation: str) -> Dataset:
    """The data set with `train` and `test` where the relation name states a split."""
    match = _SPLIT.search(relation)
    if match is None:
        return data
    n, given = data.n_instances, float(match[2])
    first = round(n * given / 100) if match[1] == "percentage" else int(given)
    rows = np.arange(n)
    return data.with_split({"train": rows[:first], "test": rows[first:]})


def write(dataset: Dataset, path: str | os.PathLike[str], format: str = "meka") -> None:
    """Write ARFF with the labels first and `-C n` in the relation name."""
    from labelrank.datasets.mulan import table_of

    table, count = table_of(dataset, labels_first=True)
    table.relation = f"{dataset.name}: -C {count}"
    write_table(table, path)
