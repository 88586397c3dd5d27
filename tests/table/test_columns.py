"""Frames of pandas, polars and dicts are columns of plain cells."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from labelrank.errors import InputError
from labelrank.table import columns_of, find_roles, is_frame, n_rows, take

COLUMNS = {
    "age": [31, None, 45], "size": [1.5, 2.5, None], "colour": ["red", None, "blue"],
    "member": [True, False, None], "point": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    "opened": [dt.datetime(2024, 1, 1, 12), None, dt.datetime(2024, 2, 1)],
}  # fmt: skip


def frames():
    yield "dict", COLUMNS
    yield "polars", pl.DataFrame(COLUMNS)
    yield "pandas", pd.DataFrame(COLUMNS)
    yield "pandas of its own types", pd.DataFrame(COLUMNS).convert_dtypes()
    yield (
        "categorical polars",
        pl.DataFrame(COLUMNS).with_columns(pl.col("colour").cast(pl.Categorical)),
    )
    yield "categorical pandas", pd.DataFrame(COLUMNS).astype({"colour": "category"})
    zoned = pd.DataFrame(COLUMNS)
    zoned["opened"] = zoned["opened"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    yield "zoned pandas", zoned
    yield (
        "zoned polars",
        pl.DataFrame(COLUMNS).with_columns(
            pl.col("opened").dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")
        ),
    )


@pytest.mark.parametrize("frame", [f for _, f in frames()], ids=[name for name, _ in frames()])
def test_all_frames_have_the_same_columns(frame):
    assert is_frame(frame)
    assert find_roles(frame) == find_roles(COLUMNS)
    assert n_rows(columns_of(frame)) == 3
    assert columns_of(columns_of(frame)).keys() == COLUMNS.keys()


@pytest.mark.parametrize("rows", [slice(1, 3), np.array([1, 2])])
def test_rows_are_taken_from_every_kind_of_column(rows):
    taken = take(columns_of(pl.DataFrame(COLUMNS)), rows)
    assert list(taken["colour"]) == [None, "blue"]
    np.testing.assert_array_equal(taken["size"], [2.5, np.nan])


def test_foreign_cells_become_plain_ones():
    cells = [
        np.int64(3),
        np.float32(0.5),
        Decimal("1.5"),
        pd.NA,
        pd.NaT,
        np.str_("x"),
        np.bool_(True),
    ]
    assert columns_of({"a": cells})["a"] == [3, 0.5, 1.5, None, None, "x", True]
    assert list(map(type, columns_of({"a": cells})["a"]))[:3] == [int, float, float]
    others = [pd.Timestamp("2024-01-01"), dt.timedelta(hours=1), dt.time(10), (1, 2), np.ones(2)]
    plain = [dt.datetime(2024, 1, 1), 3600.0, "10:00:00", [1, 2], [1.0, 1.0]]
    assert columns_of({"a": others})["a"] == plain
    assert columns_of({"a": np.array([1, "x", None], object)})["a"] == [1, "x", None]


@pytest.mark.parametrize("documents", [["a text"], np.eye(2), "text", [["a", "b"]]])
def test_lists_and_matrices_are_no_frames(documents):
    assert not is_frame(documents)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"a": [1, 2], "b": [1]}, "got 2 cells in column 'a' but 1 in 'b'"),
        ({"a": "text"}, "got str as column 'a'"),
        ({"a": 5}, "got int as column 'a'"),
        ({"a": [1], None: [2]}, "column 2 of the table has no name"),
        ({"a": [1], " ": [2]}, "column 2 of the table has no name"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns named 'a'"),
        ({"a": np.zeros((1, 2, 3))}, "got an array of shape .1, 2, 3. as column 'a'"),
    ],
)
def test_a_broken_frame_is_refused_in_a_sentence(frame, message):
    with pytest.raises(InputError, match=message):
        columns_of(frame)
