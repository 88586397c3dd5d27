"""What the columns of a table are found to be."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from labelrank.errors import InputError
from labelrank.table import GAPS, find_roles
from labelrank.table.cells import CellError, Cells
from labelrank.table.written import numbers_in


def found(cells, name="column", **options):
    return find_roles({name: cells}, **options)[0]


def role(cells, name="column", **options):
    return found(cells, name, **options).role


@pytest.mark.parametrize("gap", [None, float("nan"), *sorted(GAPS), "N/A ", " None"])
def test_gaps_of_every_spelling_are_no_values(gap):
    assert found([1, gap, 2.5, 4]) == ("column", "number", "numbers, 1 gap", "1234.5")
    assert found(["1", gap, "2.5"]).role == "number"
    assert found(["red", gap, "blue"]).why == "2 categories, 1 gap"
    assert role([gap, gap]) == "constant"


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["1.5", "-2", "+3e-2", ".5"], "1234.5"),
        (["1,5", "2"], "1.234,5"),
        (["1.234,5", "2.000"], "1.234,5"),
        (["1,234.5", "2"], "1,234.5"),
        (["1,234", "2,345"], "1,234.5"),
        (["0,123", "0,456"], "1.234,5"),
        (["1 234", "2\u00a0345,5"], "1 234,5"),
        (["1'234.5", "2\u2019345"], "1'234.5"),
        (["5 %", "3.5%"], "1234.5%"),
        (["$1,000", "-$2", "$ 3"], "1,234.5$"),
        (["1.000,50 €", "3 €"], "1.234,5€"),
    ],
)
def test_the_whole_column_decides_how_numbers_are_written(cells, form):
    assert found(cells)[1:] == ("number", found(cells).why, form)


def test_a_comma_before_three_digits_is_decimal_where_the_caller_says_so():
    assert found(["1,234", "2,345"], decimal=",").form == "1.234,5"
    assert found(["1,234.5", "2,345"], decimal=",").form == "1,234.5"
    assert found(["1.234", "2.345"], decimal=",").form == "1234.5"


@pytest.mark.parametrize("mistake", ["1O", "1e999", "inf", "1_000", float("inf"), True])
def test_one_mistake_among_numbers_is_named(mistake):
    with pytest.raises(CellError, match="row 3 of column 'age', where 19 of 20 cells are numbers"):
        found([*range(2), mistake, *range(0, 34, 2)], "age")
    assert role([1, 2, mistake]) == "category"


def test_a_huge_number_is_named_in_few_words():
    assert role([1, 2, 10**5000]) == "category"
    with pytest.raises(CellError, match="a whole number of 5,001 digits in row 20"):
        found([*range(19), 10**5000])


def test_units_are_of_all_cells_or_make_categories():
    assert role(["5 %", "3 kg", "2"]) == "category"
    assert role(["€5", "$5", "€6"]) == "category"


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["2024-01-31", "2024-2-1T10:30Z", "2024-02-01 10:30:05.123+02:00"], ""),
        (["2024/01/31", "2024/02/01"], ""),
        (["31.1.2024", "01.02.2024 10:30"], ""),
        (["1/2/2024", "13/2/2024"], "day first"),
        (["1/2/2024", "1/13/2024 3:05 PM"], "month first"),
        (["1-2-2024", "13-2-2024"], "day first"),
        (["30 Jan 2024", "2 February 2024 10:30"], ""),
        (["Jan 30, 2024", "March 2nd 2024"], ""),
        (["30-Jan-24", "01-Dez-1999"], ""),
        (["30. Januar 2024", "1. März 2024"], ""),
        (["30.01.24", "31.12.99"], ""),
        (["01/30/24", "02/03/24"], "month first"),
        ([dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 5, tzinfo=dt.UTC), "2024-01-03"], ""),
        (np.array(["2024-01-01", "NaT", "2024-05-01"], "M8[D]"), ""),
    ],
)
def test_dates_of_many_kinds(cells, form):
    assert found(cells)[1::2] == ("date", form)


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        ("30 Jan 2024", "2024-01-30"), ("September 3rd, 2024", "2024-09-03"),
        ("30.01.24", "2024-01-30"), ("31.12.99", "1999-12-31"), ("1. Okt. 2024", "2024-10-01"),
        ("5 May 68", "2068-05-05"), ("30 Jan 2024 10:30", "2024-01-30T10:30"),
    ],
)  # fmt: skip
def test_months_by_name_and_short_years_are_read(cell, day):
    values, bad = Cells([cell, "2024-01-01"]).instants("")
    assert (values[0], bad.tolist()) == (np.datetime64(day, "s"), [False, False])


@pytest.mark.parametrize("cells", [["1.2.10", "3.4.11"], ["30 Jane 2024", "31 Jane 2024"],
                                   ["31.02.24", "30.02.24"], ["May 5", "June 7"]])  # fmt: skip
def test_what_is_no_date_is_not_taken_for_one(cells):
    assert role(cells) in ("category", "text")


def test_an_open_order_of_day_and_month_is_said():
    assert found(["1/2/2024", "3/4/2024"]).why == "dates, taken as month first (they leave it open)"


@pytest.mark.parametrize(
    "mistake", ["2024-02-30", "2024-13-01", "soon", "2024-01-01 24:00", "2024"]
)
def test_one_mistake_among_dates_is_named(mistake):
    days = [f"2024-01-{day:02}" for day in range(1, 20)]
    with pytest.raises(CellError, match="row 20 of column 'opened', where 19 of 20 cells"):
        found([*days, mistake], "opened")


def test_distinct_dates_are_no_identifier():
    assert role([f"2024-01-{day:02}" for day in range(1, 29)], "key") == "date"


@pytest.mark.parametrize(
    "cells",
    [[[1, 2.5], [3, 4], None], ["[1, 2]", "[3, 4.5]", "?"], np.eye(3), [(1, 2), np.ones(2)]],
)
def test_lists_of_numbers_are_vectors(cells):
    assert role(cells) == "vector"


@pytest.mark.parametrize("odd", [[1], [1, 2, 3], [1, "two"], [1, float("inf")], [1, [2]]])
def test_a_vector_that_differs_is_named(odd):
    with pytest.raises(CellError, match="row 3 of column 'column', which is no vector of 2"):
        found([[1, 2], [3, 4], odd])


def test_lists_of_names_and_objects_are_left_out_and_said():
    assert found([["a"], [], None])[1:3] == ("ignored", "lists of names are no feature")
    assert found([{}, {"a": 1}])[1:3] == ("ignored", "cells of type dict are no feature")
    assert found([b"x", b"y"])[1:3] == ("ignored", "cells of type bytes are no feature")


SENTENCES = ["the cat sat down", "a dog barks at me", "nobody came to us", "we all went home"]


def test_several_words_and_many_values_are_text():
    assert role(SENTENCES) == "text"
    assert role(SENTENCES * 30) == "category"
    assert role(["我们今天去公园散步吧", "他昨天买了一本新书", "天气很好我们去玩"]) == "text"
    assert role(["red", "green", "blue"]) == "category"


def test_a_usual_name_lowers_the_bar_for_texts():
    assert role(["good phone", "bad battery", "ok"], "Review") == "text"
    assert role(["Mr", "Mrs", "Dr"] * 20, "title") == "category"
    assert role(SENTENCES[:2] * 100, "question") == "category"
    assert role(["only this one"], "text") == "text"


def test_values_of_their_own_in_each_row_are_identifiers():
    assert found([f"n{k}" for k in range(20)])[1:3] == ("id", "every row has another value")
    assert role([f"n{k}" for k in range(19)]) == "category"
    assert found([f"n{min(k, 98)}" for k in range(100)]).why == "nearly every row has another value"
    assert found([5, 3, *range(6, 24), 4]).why == "consecutive whole numbers"


def test_a_name_makes_an_identifier_only_of_distinct_values():
    for name in ("id", "user_id", "userId", "UUID", "e-mail", "image_url"):
        assert role([17, 4, 99], name) == "id"
        assert role(["a", "b", "c"], name) == "id"
    assert role([17, 4, 17, 4], "user_id") == "category"
    assert role([0.5, 1.5, 2.25], "key") == "number"
    assert role([3, 5, 9], "acid") == role([3, 5, 9], "valid") == "number"


def test_measured_whole_numbers_stay_numbers_though_they_are_distinct():
    assert role(np.random.default_rng(0).choice(10**6, 50, replace=False)) == "number"


def test_one_value_is_constant_unless_gaps_vary():
    for cells in (["a", "a"], [1, 1.0], [True, True], ["2024-01-01"] * 3, np.ones(4)):
        assert found(cells)[1:3] == ("constant", "one value only")
    assert found(["a", None])[1:3] == ("category", "one value, 1 gap")
    assert found([1, None])[1:3] == ("category", "one value, 1 gap")


def test_the_user_overrules():
    assert found([1, 2, 3], given={"column": "category"})[1:3] == ("category", "as given")
    assert role(["a", "b"], given={"column": "ignore"}) == "ignored"
    assert role(["a", "b"], given={"column": "id"}) == "id"
    assert role(list(range(30)), "id", given={"id": "number"}) == "number"
    assert role([20240131, 20240201], given={"column": "date"}) == "date"
    assert role(["red", None], given={"column": "text"}) == "text"


@pytest.mark.parametrize(
    ("cells", "given", "message"),
    [
        ([1, 2], {"colum": "text"}, "role for 'colum', but the table has no such column"),
        ([1, 2], {"column": "words"}, "got role 'words' for 'column'; use one of text, number"),
        (["1", "x"], {"column": "number"}, "got 'x' in row 2 of column 'column', which is no numb"),
        (["2024-01-01", "x"], {"column": "date"}, "got 'x' in row 2"),
        ([[1], {}], {"column": "category"}, "got .1. in row 1"),
        ([[1, 2], [1]], {"column": "vector"}, "got .1. in row 2"),
    ],
)
def test_a_role_that_cannot_be_is_refused(cells, given, message):
    with pytest.raises(InputError, match=message):
        found(cells, given=given)


def test_digits_of_one_length_with_zeros_before_them_are_names():
    assert found(["01067", "10115", "99084", "01067"]).why == "3 categories"
    assert role(["5", "07", "12"]) == role(["0.5", "1.5"]) == role(["10", "12", "15"]) == "number"
    assert role([*["12", "34"] * 4, "05"], "n") == "category"


def test_numbers_without_end_do_not_make_a_category_of_numbers():
    cells = ["inf", "-1.5", "0.25", "1e999", "3.5", "0.75", "2.5", "1.25"]
    with pytest.raises(CellError, match="got 'inf' in row 1 of column 'x'"):
        find_roles({"x": cells, "y": ["a", "b"] * 4})


@pytest.mark.parametrize(("cells", "values"), [
    (["1.5 kg", "2 kg", "-.5kg"], [1.5, 2, -0.5]), (["1.234,5 EUR", "2,5 EUR"], [1234.5, 2.5]),
    (["3 °C", "4 °C"], None), (["5 kg", "300 g"], None), (["12 m2", "7 m2"], [12, 7]),
])  # fmt: skip
def test_numbers_with_one_unit_are_numbers(cells, values):
    column = found(cells * 4)
    assert (column.role == "number") == (values is not None)
    if values is not None:
        assert numbers_in(pl.Series(cells), column.form).tolist() == values


def test_numbers_with_a_unit_count_no_rows():
    assert role([f"{k} kg" for k in range(1, 40)]) == "number"
    assert role([str(k) for k in range(1, 40)]) == "id"
