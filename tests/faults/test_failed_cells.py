"""A learner that refuses a data set costs its own cells, and is never forgotten."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import FitFailedWarning

from labelrank.datasets import Dataset
from labelrank.errors import InputError
from labelrank.evaluation import cell, compare


class Picky(BaseEstimator):
    """Refuses data whose first feature is negative somewhere; counts how often it is asked."""

    fits = 0
    fault = ValueError("got negative values;\n   give others")

    def __init__(self, refuses=True):
        self.refuses = refuses

    def fit(self, X, Y):
        self.n_labels_ = Y.shape[1]
        if len(X) > 40:
            Picky.fits += 1
        if self.refuses and X[:, 0].min() < 0:
            raise Picky.fault
        return self

    def decision_function(self, X):
        return np.ones((X.shape[0], self.n_labels_))

    def predict(self, X):
        return np.ones((X.shape[0], self.n_labels_), int)


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(Picky, "fits", 0)


@pytest.fixture
def data():
    return [made("good", 0.0), made("bad", -1.0)]


def made(name, lowest):
    Y = sp.csr_array(np.tile([[1.0, 0.0], [0.0, 1.0]], (50, 1)))
    return Dataset(name, np.arange(100.0)[:, None] + lowest, Y, label_names=["a", "b"])


def lines_of(folder):
    return [json.loads(line) for line in (folder / "cells.jsonl").read_text().splitlines()]


def failing(data, **options):
    """Three folds of both data sets; the row below zero is in all training parts but one."""
    with pytest.warns(FitFailedWarning, match="2 of 12 cells failed, first picky on bad"):
        return compare(data, {"picky": Picky(), "all": Picky(False)}, cv=3, **options)


def test_the_frame_has_nan_and_the_reason_and_all_the_other_values(data):
    frame = failing(data, criteria=["micro_f1"])
    failed = frame.filter(frame["value"].is_nan())
    assert failed["reason"].unique().to_list() == ["got negative values; give others"]
    assert failed.select("dataset", "learner").unique().rows() == [("bad", "picky")]
    assert failed["fold"].n_unique() == 2
    whole = frame.filter(frame["reason"].is_null(), criterion="micro_f1")
    assert whole.height == 10
    assert whole["value"].is_finite().all()


def test_processes_side_by_side_report_the_same_failures(data):
    alone = failing(data, criteria=["micro_f1"])
    beside = failing(data, criteria=["micro_f1"], jobs=2)
    where = ["dataset", "learner", "fold", "criterion", "reason"]
    assert alone.select(where).equals(beside.select(where))


def test_a_failure_is_stored_and_tried_again_only_on_demand(data, tmp_path):
    first = failing(data, out=tmp_path)
    stored = [line for line in lines_of(tmp_path) if "error" in line]
    assert [line["error"] for line in stored] == ["got negative values; give others"] * 2
    assert len(lines_of(tmp_path)) == 12
    fits = Picky.fits
    again = failing(data, out=tmp_path)
    assert Picky.fits == fits
    assert again.equals(first, null_equal=True)
    failing(data, out=tmp_path, retry=True)
    assert Picky.fits == fits + 2
    assert len(lines_of(tmp_path)) == 14


def test_a_cell_that_works_after_all_takes_the_place_of_its_failure(data, tmp_path, monkeypatch):
    failing(data, out=tmp_path)
    monkeypatch.setattr(Picky, "fit", lambda self, X, Y: setattr(self, "n_labels_", 2) or self)
    frame = compare(data, {"picky": Picky(), "all": Picky(False)}, cv=3, out=tmp_path, retry=True)
    assert frame["reason"].null_count() == frame.height
    told = []
    again = compare(data, {"picky": Picky(), "all": Picky(False)}, cv=3, out=tmp_path,
                    progress=lambda *n: told.append(n))  # fmt: skip
    assert told == [(12, 12)]
    assert again["reason"].null_count() == again.height


def test_other_settings_are_other_cells_and_tried(data, tmp_path):
    failing(data, out=tmp_path)
    frame = compare(data, {"picky": Picky(False)}, cv=3, out=tmp_path)
    assert frame["reason"].null_count() == frame.height


def test_want_of_memory_is_told_but_tried_again_by_the_next_run(data, tmp_path, monkeypatch):
    monkeypatch.setattr(Picky, "fault", MemoryError())
    frame = failing(data, out=tmp_path)
    assert frame["reason"].drop_nulls().unique().to_list() == ["out of memory"]
    assert len(lines_of(tmp_path)) == 10
    fits = Picky.fits
    failing(data, out=tmp_path)
    assert Picky.fits == fits + 2


def test_a_defect_is_a_failure_that_names_its_place(data, monkeypatch):
    monkeypatch.setattr(Picky, "fault", KeyError("weights"))
    frame = failing(data)
    (reason,) = frame["reason"].drop_nulls().unique()
    assert reason.startswith("KeyError: 'weights' (test_failed_cells.py, line ")


def test_where_every_cell_fails_there_is_nothing_to_compare(data, tmp_path):
    sentence = "all 2 cells failed, first picky on bad, fold 1: got negative values; give others"
    data[1].X[:] = -1.0
    for _ in range(2):
        with pytest.raises(InputError, match=f"{sentence}; they are stored: --retry"):
            compare(data[1], {"picky": Picky()}, cv=2, out=tmp_path)
    assert len(lines_of(tmp_path)) == 2


def test_an_unknown_representation_is_refused_before_anything_is_stored(tmp_path):
    data = Dataset("t", None, sp.csr_array(np.eye(2)), texts=["x", "y"], label_names=["a", "b"])
    with pytest.raises(InputError, match="soup"):
        compare(data, {"all": Picky(False)}, cv=2, out=tmp_path / "out", representation="soup")
    assert not (tmp_path / "out").exists()


def test_a_warm_up_that_breaks_is_no_failure(data, monkeypatch):
    fit = Picky.fit

    def needs_many(self, X, Y):
        if len(X) <= cell.WARM_UP_ROWS:
            raise ZeroDivisionError
        return fit(self, X, Y)

    monkeypatch.setattr(Picky, "fit", needs_many)
    frame = compare(data[0], {"picky": Picky()}, cv=2)
    assert frame["reason"].null_count() == frame.height
