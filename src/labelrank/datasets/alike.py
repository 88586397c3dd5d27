"""Matrices with named columns, read as those were that a model has learned: by name."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.arff import Table, has_codes
from labelrank.datasets.dataset import Dataset
from labelrank.errors import FormatError, meant

Reading = Mapping[str, Any]


def reading_of(table: Table, columns: Sequence[int]) -> dict[str, Any]:
    """What other files need to be read alike: the names of these columns, and coded values."""
    kinds = [table.attributes[k] for k in columns]
    values = {one.name: list(one.values) for one in kinds if has_codes(one)}
    return {"features": [one.name for one in kinds], "values": values}


def in_order(dataset: Dataset, reading: Reading | None) -> Dataset:
    """The data set with the columns of X that were learned, by name; others are left out."""
    learned, names = (reading or {}).get("features"), dataset.feature_names
    if not learned or dataset.X is None or names is None or names == learned:
        return dataset
    for known in (names, learned):
        name, n = Counter(known).most_common(1)[0]
        if n > 1:
            raise FormatError(f"{dataset.name}: column {name!r} occurs twice; rename one")
    place = {name: k for k, name in enumerate(names)}
    missing = [name for name in learned if name not in place]
    if missing:
        listed = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise FormatError(
            f"{dataset.name}: no column{'s' * (len(missing) > 1)} {listed}, which the model has "
            f"learned; {meant(missing[0], names)}give the columns that it has learned"
        )
    X = dataset.X[:, [place[name] for name in learned]]
    parts: Any = {part: in_order(one, reading) for part, one in dataset.parts.items()}
    X = sp.csr_array(X) if sp.issparse(X) else X
    return replace(dataset, X=X, feature_names=list(learned), **parts)


def recode(table: Table, columns: Sequence[int], reading: Reading | None, where: str) -> None:
    """Give the values of nominal attributes the codes that they had where they were learned."""
    learned = (reading or {}).get("values")
    if reading is None or learned is None:
        return
    names = set(reading.get("features") or ())
    for k in columns:
        one = table.attributes[k]
        values = tuple(learned.get(one.name, ()))
        if one.name not in names or one.values == values or not (values or has_codes(one)):
            continue
        got = ("{" + ",".join(one.values[:5]) + "}") if one.values else one.kind
        wanted = ("{" + ",".join(values[:5]) + "}") if values else "numbers, or no and yes"
        told = f"{where}: attribute {one.name!r} is {got}, but the model has learned {wanted}"
        _recode(table, k, values, told)


def _recode(table: Table, k: int, values: tuple[str, ...], told: str) -> None:
    one, code = table.attributes[k], {value: float(at) for at, value in enumerate(values)}
    if not one.values and values == tuple(map(str, range(len(values)))):
        return  # the number is the code
    if not (one.values and values):
        raise FormatError(f"{told}; declare it so")
    codes = np.array([code.get(value, np.nan) for value in one.values])
    if sp.issparse(table.values) and codes[0] != 0:
        raise FormatError(f"{told}, and sparse rows leave out the first value; declare it so")
    cells = table.values.data if sp.issparse(table.values) else table.values[:, k]
    chosen = ~np.isnan(cells)
    if sp.issparse(table.values):
        chosen &= table.values.indices == k
    before = cells[chosen].astype(np.int64)
    strange = np.isnan(codes[before])
    if strange.any():
        raise FormatError(
            f"{told}; leave out the rows with {one.values[before[strange][0]]!r}, or fit a model "
            "that has them"
        )
    cells[chosen] = codes[before]
    table.attributes[k] = replace(one, values=values)
