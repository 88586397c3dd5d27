"""The laboratory: what it measures, keeps and says."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import suite, suite_data, suite_tables
from labelrank.datasets import Dataset

HERE = {"rows": 9, "tune_s": 1.0}


def cell(data, package, method, loss, seconds=1.0, **more):
    values = {name: -loss * sign for name, sign in suite_tables.CRITERIA.items()}
    sets = {f"{name}_{kind}": values.pop(name) for name in ("micro_f1", "macro_f1")
            for kind in ("own",)}  # fmt: skip
    found = {"data": data, "package": package, "method": method, "fit_s": seconds}
    return HERE | found | values | sets | more


def auto(data, loss, seconds=1.0, **more):
    return [cell(data, "labelrank", f"auto ({name})", loss, seconds, **more)
            for name in suite_tables.CRITERIA]  # fmt: skip


SETS = [f"set {i}" for i in range(8)]
CELLS = [
    *(one for name in SETS for one in auto(name, 0.2)),
    *(cell(name, "omikuji", "default", 0.3 + 0.01 * i) for i, name in enumerate(SETS)),
    *(cell(name, "xgboost", "default", 0.1 if i == 0 else 0.4, 9.0)
      for i, name in enumerate(SETS)),
    *({"data": name, "package": "river", "method": "x", "error": "no wheel"} for name in SETS),
]  # fmt: skip


def test_the_parts_are_divided_once_and_for_all():
    both = [set(suite_data.names(part)) for part in ("development", "confirmation")]
    assert not both[0] & both[1]
    assert both[0] | both[1] == set(suite_data.names())
    assert suite_data.part_of("emotions") == "development"
    assert suite_data.part_of("yeast") == "confirmation"
    assert min(map(len, both)) > 18


def test_ranks_regrets_and_wins_are_those_counted_by_hand():
    found = suite_tables.Results(CELLS)
    assert found.rows == [("labelrank", "auto"), ("omikuji", "default"), ("xgboost", "default")]
    ranks, _, p = suite_tables._tests(found, "ranking_loss")
    np.testing.assert_allclose(ranks, [9 / 8, 17 / 8 - 1 / 8 + 1 / 8, 22 / 8])
    assert p[1] < 0.05
    rows = suite_tables._beside(found, "ranking_loss")
    assert [row[1] for row in rows][:2] == [pytest.approx(0.1), pytest.approx(-0.11)]
    assert rows[0][2:] == ("xgboost default", 1.0, 9.0, True)  # the quick peers are behind


def test_auto_counts_as_it_was_asked_and_a_peer_by_its_better_cut():
    asked = [cell("a", "labelrank", f"auto ({name})", 0.1 * i, micro_f1_own=0.5, micro_f1_tuned=0.6)
             for i, name in enumerate(suite_tables.CRITERIA)]  # fmt: skip
    found = suite_tables.Results([*asked, cell("a", "omikuji", "default", 0.1)])
    assert found.value("a", ("labelrank", "auto"), "ranking_loss") == pytest.approx(-0.3)
    assert found.value("a", ("labelrank", "auto"), "micro_f1") == 0.6
    assert suite_tables.seconds(asked[0], "micro_f1") == 2.0
    assert suite_tables.seconds(asked[0], "ranking_loss") == 1.0


def test_who_has_no_result_is_last_and_named_with_the_reason():
    some = [one for one in CELLS if one["package"] != "omikuji" or one["data"] != "set 3"]
    some.append({"data": "set 3", "package": "omikuji", "method": "default", "error": "over 9 s"})
    found = suite_tables.Results(some)
    assert found.losses("ranking_loss")[3].argmax() == 1
    text = suite_tables.text(some)
    assert "river x: everywhere: no wheel" in text
    assert "omikuji default: 1 sets: over 9 s" in text
    assert "labelrank auto" in text


def test_without_a_pair_there_is_a_sentence():
    assert "none where both auto and a peer" in suite_tables.text([CELLS[0]])


def test_cells_are_appended_whole_and_a_torn_line_is_measured_again(tmp_path):
    path = tmp_path / "cells.jsonl"
    suite.Cells(path).append(CELLS[0])
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"data": "to')
    cells = suite.Cells(path)
    assert cells.lines == [CELLS[0]]
    cells.append(CELLS[1])
    assert suite.Cells(path).lines == CELLS[:2]


def test_a_problem_is_read_as_it_was_saved(tmp_path):
    random = np.random.default_rng(0)
    Y = sp.csr_array((random.random((9, 3)) < 0.5).astype(float))
    sparse = sp.csr_array(random.random((9, 4)).astype(np.float32))
    for X, texts in ((sparse, (["a b", "ö"], ["c"])), (sparse.toarray(), None)):
        given = suite_data.Problem(X, Y, X[:2], Y[:2], texts, np.arange(9) % 3)
        suite_data.save(tmp_path / "x.npz", given)
        again = suite_data.read(tmp_path / "x.npz")
        assert again.texts == (None if texts is None else tuple(map(list, texts)))
        for one, other in zip(given[:4], again[:4], strict=True):
            assert sp.issparse(one) == sp.issparse(other)
            dense = [part.toarray() if sp.issparse(part) else part for part in (one, other)]
            np.testing.assert_array_equal(*dense)


def test_classes_become_labels_and_degrees_are_cut_at_an_even_share(monkeypatch):
    codes = np.array([[0, 1], [2, 0], [1, 1], [0, 0], [2, 1]])
    classes = Dataset("c", np.arange(10.0).reshape(5, 2), codes, target_classes=[["a", "b", "c"],
                      ["x", "y"]])  # fmt: skip
    degrees = Dataset("d", np.ones((5, 2)), sp.csr_array([[0.6, 0.4]] * 5))
    monkeypatch.setattr(suite_data, "_named", {"edm": classes, "sjaffe": degrees}.__getitem__)
    given = suite_data.problem("edm")
    assert given.Y.shape[0], given.Y_test.shape == (4, (1, given.Y.shape[1]))
    assert given.Y.sum(axis=1).tolist() == [2.0] * 4
    given = suite_data.problem("sjaffe")
    assert given.Y.toarray().tolist() == [[1.0]] * 4


def test_gaps_are_filled_by_the_median_of_the_training_part_and_told():
    train, test = np.array([[1.0, np.nan], [2.0, 4.0], [9.0, 6.0]]), np.array([[np.nan, 1.0]])
    filled = suite_data._filled(train, test)
    assert filled[0].tolist() == [[1.0, 5.0, 1.0], [2.0, 4.0, 0.0], [9.0, 6.0, 0.0]]


def test_folds_hold_out_every_row_of_few_and_a_fifth_of_many():
    few, many = (suite_data._folds(n, np.random.default_rng(0)) for n in (30, 5000))
    assert np.bincount(few).tolist() == [10, 10, 10]
    assert np.bincount(many + 1).tolist() == [4000, 1000]


def test_a_run_measures_what_is_missing_and_prints_the_tables(tmp_path, monkeypatch, capsys):
    random = np.random.default_rng(0)
    X = random.random((60, 5))
    Y = sp.csr_array((X[:, :3] > 0.5).astype(float))
    given = suite_data.Problem(X, Y, X[:20], Y[:20], None, np.arange(60) % 3)
    monkeypatch.setattr(suite_data, "problem", lambda name, most: given)
    path = tmp_path / "cells.jsonl"
    wanted = ["edm", "--cells", str(path), "--learners", "scikit-learn extra trees",
              "labelrank auto (micro_f1)"]  # fmt: skip
    suite.main(wanted)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {one["method"] for one in lines} == {"extra trees", "auto (micro_f1)"}
    peer = next(one for one in lines if one["package"] == "scikit-learn")
    assert {"micro_f1_own", "micro_f1_tuned", "macro_f1_tuned", "ranking_loss"} <= peer.keys()
    assert "auto beside the best peer" in capsys.readouterr().out
    suite.main(wanted)
    assert len(path.read_text(encoding="utf-8").splitlines()) == len(lines)
