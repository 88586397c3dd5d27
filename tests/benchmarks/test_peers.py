"""How the cells of the peers become scores, verdicts, tables and a plot."""

import json
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import peer_pages, peers, rivals

AUTO = {"data": "d", "package": "labelrank", "method": "auto (micro_f1)", "fit_s": 2.0,
        "micro_f1_own": 0.7}  # fmt: skip
PEER = {"data": "d", "package": "omikuji", "method": "default", "fit_s": 1.5, "tune_s": 1.0,
        "micro_f1_own": 0.5, "micro_f1_tuned": 0.6}  # fmt: skip
LOST = {"data": "d", "package": "river", "method": "x", "error": "over 9 s: stopped_*"}


def test_labels_without_a_score_come_last_by_frequency(tmp_path):
    Y = sp.csr_array(np.array([[1, 1, 0], [1, 0, 0]]))
    scores = sp.csr_matrix(([0.0, -5.0], ([0, 1], [2, 2])), shape=(2, 3))
    sp.save_npz(tmp_path / "scores_test.npz", scores)
    found = rivals.scores_of(tmp_path, "test", Y)
    assert np.argsort(-found, axis=1).tolist() == [[2, 0, 1], [2, 0, 1]]


def test_a_tuned_cut_costs_the_fit_for_it_and_auto_is_judged_by_both():
    assert peer_pages.verdict([AUTO, PEER, LOST], "micro_f1", "micro_f1", 1) == [
        "0.7000", "2.00", "omikuji: default", "0.6000", "2.50", "yes", "yes",
    ]  # fmt: skip
    slower = AUTO | {"fit_s": 3.0, "micro_f1_own": 0.55}
    assert peer_pages.verdict([slower, PEER], "micro_f1", "micro_f1", 1)[-2:] == ["no", "no"]


def test_a_peer_without_a_result_is_named_with_its_reason():
    table = peer_pages.table("d", [AUTO, PEER, LOST])
    assert r"* river: x: over 9 s: stopped\_\*" in table
    assert "**0.7000**" in table


def test_pages_and_plot_are_written(tmp_path):
    pages = tmp_path / "docs" / "peers"
    pages.mkdir(parents=True)
    peer_pages.write([AUTO, PEER, LOST], ["d", "unmeasured"], pages)
    assert "omikuji: default" in (pages / "verdicts.rst.inc").read_text(encoding="utf-8")
    assert (tmp_path / "docs" / "_static" / "peers.png").stat().st_size > 1000


def test_cells_are_kept_in_the_order_of_the_tables(tmp_path):
    path = tmp_path / "cells.jsonl"
    first, last = ("debtags", *peers.ROWS[0]), ("bibtex", *peers.ROWS[1])
    peers.write(path, {last: {"fit_s": 1}, first: {"fit_s": 2}})
    assert list(peers.read(path)) == [first, last]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("import nowhere", "No module named 'nowhere'"),
        ("import signal, time; signal.alarm(1); time.sleep(5)", "over 1 s: stopped"),
    ],
)
def test_a_script_that_fails_says_why(tmp_path, monkeypatch, body, says):
    (tmp_path / "rival_scripts").mkdir()
    (tmp_path / "rival_scripts" / "run_labelrank.py").write_text(body, encoding="utf-8")
    monkeypatch.setattr(rivals, "HERE", tmp_path)
    assert says in rivals.run_script("labelrank", tmp_path, limit=1.0)["error"]


def test_a_rival_that_did_not_install_is_reported_so(tmp_path, monkeypatch):
    monkeypatch.setattr(rivals, "FOLDER", tmp_path)
    assert rivals.python_of("river") == "not installed; run make bench-rivals"
    (tmp_path / "river.outcome").write_text("does not install: no wheel", encoding="utf-8")
    assert rivals.run_script("river", tmp_path) == {"error": "does not install: no wheel"}
    assert str(rivals.python_of("scikit-learn")) == sys.executable


def test_our_script_measures_two_fits_and_saves_the_scores(tmp_path):
    random = np.random.default_rng(0)
    X = sp.csr_array(random.random((60, 8)))
    Y = sp.csr_array((X.toarray()[:, :3] > 0.5).astype(float))
    rivals.write_task(tmp_path, X, Y, X[:10], folds=np.repeat([0, 1, -1], [6, 6, 48]))
    found = rivals.run_script("labelrank", tmp_path, "BSVM+", n_jobs=1)
    assert json.dumps(found)
    assert found["cut"] == 0.0
    assert {"fit_s", "predict_s", "tune_s", "peak_mib"} <= found.keys()
    assert rivals.scores_of(tmp_path, "test", Y).shape == (10, 3)
    assert rivals.scores_of(tmp_path, "held", Y).shape == (12, 3)
