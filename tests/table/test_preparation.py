"""Tables as features: learned once, found by name, each row alone."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from labelrank import Tagger, persistence
from labelrank.errors import FarValueWarning, InputError, ModelFileError
from labelrank.table import TablePreparation, columns_of, take
from labelrank.table.cells import CellError
from labelrank.table.parts import NumberPart, bent

N = 60
_random = np.random.default_rng(0)
WORDS = np.array(["refund", "printer", "login", "slow", "invoice", "screen"])
TABLE = {
    "age": [None if k % 7 == 0 else float(x) for k, x in enumerate(_random.normal(40, 9, N))],
    "colour": [["red", "green", "blue", None][k] for k in _random.integers(4, size=N)],
    "opened": [dt.datetime(2023, 1, 1) + dt.timedelta(hours=int(h))
               for h in _random.integers(12000, size=N)],
    "Subject": [" ".join(_random.choice(WORDS, 4)) + f" {k}x" for k in range(N)],
    "point": [list(map(float, row)) for row in _random.normal(size=(N, 3))],
    "member": [bool(b) for b in _random.integers(2, size=N)],
    "row id": list(range(100, 100 + N)),
    "kind": ["ticket"] * N,
}  # fmt: skip


@pytest.fixture(scope="module")
def fitted():
    return TablePreparation().fit(TABLE)


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def test_features_are_named_in_words_of_the_table(fitted):
    names = fitted.get_feature_names_out().tolist()
    assert names[:6] == [
        "age", "age is missing", "colour = blue", "colour = green", "colour = red",
        "colour is missing",
    ]  # fmt: skip
    assert {"opened: days", "opened: year", "opened: month = 3", "opened: hour = 14"} <= set(names)
    assert {"opened: weekday = Monday", "Subject: refund", "point[2]", "member = true"} <= set(
        names
    )
    assert not [name for name in names if name.startswith(("row id", "kind"))]
    assert fitted.transform(TABLE).shape == (N, len(names)) == (N, fitted.n_columns_)


def test_the_first_rows_are_what_a_hand_would_write():
    table = {"size": [1.0, 2.0, 3.0, None], "colour": ["red", "blue", "red", None]}
    X = TablePreparation().fit_transform(table)
    z = np.sqrt(1.5)
    assert X.round(12).tolist() == np.round([
        [-z, 0, 0, 1, 0], [0, 0, 1, 0, 0], [z, 0, 0, 1, 0], [0, 1, 0, 0, 1],
    ], 12).tolist()  # fmt: skip


def test_a_value_never_met_is_no_value_or_one_of_the_rare_ones():
    table = {"town": ["a"] * 4 + ["b"] * 3 + ["c", "d", "e"]}
    new = {"town": ["c", "new", "a", None]}
    assert TablePreparation().fit(table).transform(new)[1].tolist() == [0, 0, 0, 0, 0]
    capped = TablePreparation(max_categories=2).fit(table)
    assert capped.get_feature_names_out().tolist() == ["town = a", "town = b", "town = (other)"]
    assert capped.transform(new).tolist() == [[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 0, 0]]
    assert "all but the 2 most frequent are taken as one" in capped.columns_[0].why


def test_missing_columns_are_named_and_refused(fitted):
    short = {name: cells for name, cells in TABLE.items() if name not in ("age", "colour")}
    with pytest.raises(InputError, match="columns 'age', 'colour' are not in the table"):
        fitted.transform(short)
    renamed = {"Age" if name == "age" else name: cells for name, cells in TABLE.items()}
    with pytest.raises(InputError, match=r"column 'age' is .* did you mean Age\?"):
        fitted.transform(renamed)
    used = {k: v for k, v in TABLE.items() if k not in ("row id", "kind")}
    assert (fitted.transform(used) != fitted.transform(TABLE)).nnz == 0


@pytest.mark.parametrize(
    "mistake", ["1O", "1e999", "inf", float("inf"), 10**5000, True, [1.0]], ids=range(7)
)
def test_a_cell_that_is_no_number_is_named_or_a_gap(mistake):
    table = {"n": [*range(0, 40, 2)], "colour": ["red", "blue"] * 10}
    new = {"n": [3, mistake], "colour": ["red", "red"]}
    with pytest.raises(CellError, match="in row 2 of column 'n', which holds numbers; mend it"):
        TablePreparation().fit(table).transform(new)
    lenient = TablePreparation(mistakes="gap").fit(table)
    gap = lenient.transform({"n": [3, None], "colour": ["red", "red"]})
    assert lenient.transform(new).tolist() == gap.tolist()
    wrong = {**table, "n": [mistake, *table["n"][1:]]}
    assert TablePreparation(mistakes="gap").fit(wrong).get_feature_names_out()[1] == "n is missing"


def test_mistakes_in_other_columns_are_named(fitted):
    for name, cell, what in [
        ("opened", "soon", "dates"), ("point", [1.0], "vectors of 3 numbers"),
        ("point", [1.0, "x", 2.0], "vectors of 3 numbers"), ("colour", ["red"], "single values"),
        ("Subject", {"a": 1}, "single values"),
    ]:  # fmt: skip
        broken = {**take(TABLE, slice(2)), name: [TABLE[name][0], cell]}
        with pytest.raises(CellError, match=f"in row 2 of column '{name}', which holds {what}"):
            fitted.transform(broken)


def test_a_number_in_a_unit_stays_in_it():
    preparation = TablePreparation().fit({"share": ["5 %", "10 %", "15 %", "7 %"]})
    with pytest.raises(CellError, match=r"which holds numbers written as 1234\.5%"):
        preparation.transform({"share": [0.05]})


def test_wild_numbers_leave_the_others_apart_and_stay_small():
    values = [*np.linspace(0, 1, 50), 1e9, -1e300, 1.7e308]
    X = TablePreparation().fit_transform({"n": values})
    assert np.abs(X).max() <= 15
    assert X[49] - X[0] > 0.05
    assert (np.argsort(X[:, 0]) == np.argsort(values)).all()
    heavy = np.exp(3 * _random.normal(size=2000))
    X = TablePreparation().fit_transform({"n": heavy})
    assert (abs(X.mean()) < 1e-9, abs(X.std() - 1) < 1e-9) == (True, True)
    assert np.abs(X).max() < 10


def test_normal_numbers_are_standardised():
    values = _random.normal(5, 3, 5000)
    X = TablePreparation().fit_transform({"n": values})[:, 0]
    z = (values - values.mean()) / values.std()
    inner = np.abs(z) < 2.5
    np.testing.assert_allclose(X[inner], z[inner], atol=0.05)


def test_tiny_and_shifted_numbers_are_told_apart():
    for values in ([1e-320, 2e-320, 3e-320, 0.0], [1e15, 1e15 + 1, 1e15 + 2, 1e15 + 3]):
        X = TablePreparation().fit_transform({"n": values})
        assert np.isfinite(X).all()
        assert len(np.unique(X)) == 4


def test_a_rare_one_among_zeros_is_not_blown_up():
    X = TablePreparation().fit_transform({"n": [0.0] * 9999 + [1.0]})
    assert np.abs(X).max() <= 10


def test_bent_values_keep_their_order():
    values = np.array([-1e300, -50, -3.0, -1, 0, 3.0, 3.0001, 1e18, np.finfo(float).max])
    assert (np.diff(bent(values)[:-1]) > 0).all()


def test_texts_numbers_and_vectors_have_rows_of_the_same_length(fitted):
    X = dense(fitted.transform(TABLE)).astype(float)
    names = fitted.get_feature_names_out()
    for chosen in ([n.startswith("Subject: ") for n in names], [n[:6] == "point[" for n in names]):
        assert np.mean(np.square(X[:, chosen]).sum(axis=1)) == pytest.approx(1.0, rel=1e-5)


def test_one_text_column_gives_the_features_of_plain_texts():
    from labelrank.text import TextVectorizer

    X = TablePreparation().fit_transform({"Subject": TABLE["Subject"], "id": list(range(N))})
    plain = TextVectorizer().fit_transform(TABLE["Subject"])
    assert X.dtype == plain.dtype == np.float32
    assert (plain != X).nnz == 0


def test_several_texts_are_told_apart():
    texts = ["refund please now " + word for word in WORDS]
    table = {"Subject": texts, "Body": texts[::-1]}
    names = TablePreparation().fit(table).get_feature_names_out()
    assert {"Subject: refund", "Body: refund"} <= set(names)


def frames():
    frame = pd.DataFrame(TABLE)
    yield "pandas", frame
    yield "pandas of its own types", frame.convert_dtypes()
    yield "categorical pandas", frame.astype({"colour": "category"})
    zoned = frame.copy()
    zoned["opened"] = zoned["opened"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    yield "zoned pandas", zoned
    table = pl.DataFrame(TABLE)
    yield "polars", table
    yield "categorical polars", table.with_columns(pl.col("colour").cast(pl.Categorical))
    yield "objects", pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in TABLE.items()})
    yield "strings", {
        **TABLE, "age": ["" if x is None else repr(x) for x in TABLE["age"]],
        "opened": [str(day) for day in TABLE["opened"]],
        "member": [str(member).upper() for member in TABLE["member"]],
        "point": [str(row) for row in TABLE["point"]],
    }  # fmt: skip


@pytest.mark.parametrize("frame", [f for _, f in frames()], ids=[name for name, _ in frames()])
def test_every_kind_of_frame_has_the_same_features(fitted, frame):
    np.testing.assert_array_equal(dense(fitted.transform(frame)), dense(fitted.transform(TABLE)))
    learned = TablePreparation().fit(frame)
    np.testing.assert_array_equal(dense(learned.transform(TABLE)), dense(fitted.transform(TABLE)))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_order_and_company_never_change_a_row(fitted, data):
    rows = np.array(data.draw(st.permutations(range(N))))[: data.draw(st.integers(0, N))]
    names = data.draw(st.permutations(list(TABLE)))
    columns = columns_of(TABLE)
    table = take({name: columns[name] for name in names}, rows)
    table.update({f"more {k}": [k] * len(rows) for k in range(data.draw(st.integers(0, 2)))})
    size = data.draw(st.integers(1, N))
    expected = dense(fitted.transform(TABLE))[rows]
    np.testing.assert_array_equal(dense(fitted.transform(table)), expected)
    for start in range(0, len(rows), size):
        batch = take(table, slice(start, start + size))
        np.testing.assert_array_equal(
            dense(fitted.transform(batch)), expected[start : start + size]
        )


def test_columns_that_are_all_gaps_in_a_batch_are_gaps(fitted):
    batch = {**take(TABLE, slice(3)), "age": [None] * 3, "colour": [None] * 3, "opened": [""] * 3,
             "point": [None] * 3, "Subject": [None] * 3}  # fmt: skip
    X, names = dense(fitted.transform(batch)), fitted.get_feature_names_out().tolist()
    flags = {name: X[:, k].all() for k, name in enumerate(names) if X[:, k].any()}
    assert set(flags) <= {"age is missing", "colour is missing", "member = true", "member = false"}
    assert flags["age is missing"]


def test_no_row_has_no_features(fitted):
    for empty in (take(TABLE, slice(0)), pd.DataFrame(TABLE)[:0], pl.DataFrame(TABLE)[:0]):
        assert fitted.transform(empty).shape == (0, fitted.n_columns_)
    with pytest.raises(InputError, match="table without rows"):
        TablePreparation().fit(take(TABLE, slice(0)))


def test_a_table_without_use_is_refused_with_the_reasons():
    with pytest.raises(InputError, match=r"no column of the table is of use .'kind': one value"):
        TablePreparation().fit({"kind": ["a", "a"]})
    with pytest.raises(InputError, match="got list where a table is wanted"):
        TablePreparation().fit(["a text"])


def test_it_is_a_transformer_among_others():
    y = [colour == "red" for colour in TABLE["colour"]]
    pipeline = make_pipeline(TablePreparation(), LogisticRegression(C=100)).fit(
        pd.DataFrame(TABLE), y
    )
    assert pipeline.score(pd.DataFrame(TABLE), y) == 1.0
    copy = clone(TablePreparation({"age": "ignore"}, max_categories=3))
    assert copy.get_params()["roles"] == {"age": "ignore"}
    fitted = copy.fit(TABLE)
    assert fitted.n_features_in_ == len(TABLE)
    assert fitted.feature_names_in_.tolist() == list(TABLE)
    assert "age" not in fitted.get_feature_names_out()
    frame = (
        TablePreparation({"Subject": "ignore"}).set_output(transform="pandas").fit_transform(TABLE)
    )
    assert frame.columns[0] == "age"


def test_a_stored_preparation_gives_the_same_bits(fitted, tmp_path):
    loaded = persistence.load(persistence.save(fitted, tmp_path / "p"))
    np.testing.assert_array_equal(dense(loaded.transform(TABLE)), dense(fitted.transform(TABLE)))
    assert loaded.columns_ == fitted.columns_
    assert persistence.digest(loaded) == persistence.digest(fitted)


def _changed(fitted, **parts):
    changed = clone(fitted)
    vars(changed).update(vars(fitted) | parts)
    return changed


def test_a_hostile_preparation_is_refused(fitted, tmp_path):
    first = fitted.parts_[0]
    assert type(first) is NumberPart
    for parts in (
        {"parts_": fitted.parts_[1:]},
        {"parts_": [first._replace(column="colour"), *fitted.parts_[1:]]},
        {"parts_": [first._replace(column="nowhere"), *fitted.parts_[1:]]},
        {"parts_": [first._replace(spread=0.0), *fitted.parts_[1:]]},
        {"parts_": [first._replace(deviation=-1.0), *fitted.parts_[1:]]},
        {"weights_": -fitted.weights_},
        {"columns_": fitted.columns_[1:]},
        {"columns_": [fitted.columns_[0]._replace(form="(a+)+"), *fitted.columns_[1:]]},
        {"columns_": [fitted.columns_[0]._replace(role="text"), *fitted.columns_[1:]]},
    ):
        path = persistence.save(_changed(fitted, **parts), tmp_path / "p")
        with pytest.raises(ModelFileError, match="not sound"):
            persistence.load(path)


def test_one_row_is_answered_as_in_a_crowd():
    random = np.random.default_rng(0)
    colours = random.choice(["red", "green", "blue"], 200).tolist()
    labels = [["warm"] if colour == "red" else ["cold"] for colour in colours]
    tagger = Tagger().fit({"size": random.random(200), "colour": colours}, labels)
    assert tagger.predict({"size": [0.5], "colour": ["red"]}) == [["warm"]]
    crowd = {"size": [0.5] * 3, "colour": ["red", "blue", "green"]}
    assert tagger.predict(crowd) == [["warm"], ["cold"], ["cold"]]
    assert tagger.predict(pl.DataFrame(crowd).select("colour", "size")) == tagger.predict(crowd)


def test_yes_and_no_are_one_feature():
    table = {"sick": ["t", "f", "f", None], "goitre": ["ja", "nein", "ja", "ja"],
             "sex": ["F", "M", "M", "F"]}  # fmt: skip
    preparation = TablePreparation().fit(table)
    names = preparation.get_feature_names_out().tolist()
    assert names == ["sick = t", "sick is missing", "goitre = ja", "sex = F", "sex = M"]
    assert preparation.transform(table)[:, :3].tolist() == [
        [1, 0, 1], [0, 0, 0], [0, 0, 1], [0, 1, 1],
    ]  # fmt: skip


def dated(n=600):
    """Dates of three years, and labels: weekend, summer, and one by chance."""
    random = np.random.default_rng(5)
    days = [dt.date(2021, 1, 1) + dt.timedelta(int(k)) for k in random.integers(0, 1096, n)]
    weekend = [day.weekday() > 4 for day in days]
    summer = [day.month in (6, 7, 8) for day in days]
    return {"day": days}, np.column_stack([weekend, summer, random.random(n) < 0.3]).astype(int)


def test_parts_of_dates_are_features_where_labels_depend_on_them():
    table, Y = dated()

    def parts(y):
        names = TablePreparation().fit(table, y).get_feature_names_out()
        return {name.partition(": ")[2].partition(" =")[0] for name in names}

    assert parts(None) == {"days", "year", "day", "month", "weekday"}
    assert parts(Y) == parts(sp.csr_array(Y)) == {"days", "month", "weekday"}
    assert parts(Y[:, :1]) == {"days", "weekday"}
    assert parts(Y[:, 2:]) == {"days"}
    assert parts(Y[:, 0]) == parts(None)  # no column per label
    assert parts(np.where(Y, Y, np.nan)[:, 2:]) == {"days"}


def test_labels_met_once_keep_no_part_of_a_date():
    table, _ = dated(200)
    names = TablePreparation().fit(table, np.eye(200)).get_feature_names_out()
    assert names.tolist() == ["day: days"]


def test_categories_that_are_strange_in_most_rows_are_told():
    preparation = TablePreparation().fit({"colour": ["red", "blue", "red", "green"]})
    with pytest.warns(UserWarning, match="one row in ten, or more, has a value in column .col"):
        preparation.transform({"colour": ["RED", "BLUE", "red"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        preparation.transform({"colour": ["red", *["blue"] * 10, "purple", None]})


@pytest.mark.parametrize("spelled", [("Yes", "NO"), ("true", "false"), (True, False), (1, 0)])
def test_yes_and_no_mean_the_same_in_any_spelling(spelled):
    preparation = TablePreparation().fit({"member": ["yes", "no", "yes", "no"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = preparation.transform({"member": list(spelled)})
    assert (made == preparation.transform({"member": ["yes", "no"]})).all()
    with pytest.warns(UserWarning, match="has a value in column 'member' that the model"):
        preparation.transform({"member": ["perhaps"]})


def test_letters_that_look_the_same_are_the_same():
    preparation = TablePreparation().fit({"colour": ["gr\u00fcn", "rot"] * 3})
    made = preparation.transform({"colour": ["gru\u0308n", "\u200frot\u200b"]})
    assert (made == preparation.transform({"colour": ["gr\u00fcn", "rot"]})).all()


def test_names_say_what_holds_of_a_row():
    table = {"plan": ["Basic", "Pro", "Team", None], "age": [1, 2, 3, 4]}
    preparation = TablePreparation().fit(table)
    row = preparation.transform({"plan": ["Pro"], "age": [2]})
    assert preparation.names_in(row).tolist() == [
        "plan is not Basic", "plan = Pro", "plan is not Team", "plan is given", "age",
    ]  # fmt: skip


def test_numbers_far_outside_what_was_learned_are_told_with_the_first_row():
    preparation = TablePreparation().fit({"size": [1.0, 2.0, 3.0], "kind": ["a", "b", "a"]})
    with pytest.warns(
        FarValueWarning, match=r"'size': 2 of 4 values are far .*1 to 3., first in row 2"
    ):
        preparation.transform({"size": [2.5, 1e30, -40.0, None], "kind": ["a"] * 4})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        preparation.transform({"size": [23.0, -19.0, None], "kind": ["a"] * 3})


def test_a_model_that_did_not_keep_the_range_tells_nothing():
    part = NumberPart("size", "", 2.0, 1.0, 0.0, 1.0, False)
    assert not part.are_far(np.array([1e30])).any()
