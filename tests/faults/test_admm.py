"""ADMM wherever it runs: threads, processes, a cluster, a cluster that loses a worker."""

import os
import signal
import time

import joblib
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from labelrank import BinaryRelevancePerceptron, ProSVM, RankSVM, distributed
from labelrank.errors import InputError, MissingError
from labelrank.learners.margins import admm
from labelrank.learners.margins.solver import PreferenceProblem
from labelrank.relevance import check_relevance


def problem(n=120, d=20, K=8):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    S = X @ random.normal(size=(d, K))
    return X, np.where(S > 1, np.ceil(S), 0.0)


@pytest.fixture(scope="module")
def cluster():
    dask = pytest.importorskip("dask.distributed")
    with (
        dask.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as here,
        dask.Client(here) as client,
    ):
        yield client


def learner(**options):
    return ProSVM(**(dict(C=1.0, n_blocks=4, random_state=0, tol=1e-3) | options))


def test_processes_and_threads_give_the_same_bits():
    X, Y = problem(n=80)
    threads = learner(n_jobs=2, tol=0.05).fit(X, Y)
    with joblib.parallel_config(backend="loky"):
        processes = learner(n_jobs=2, tol=0.05).fit(X, Y)
    np.testing.assert_array_equal(threads.coef_, processes.coef_)


@pytest.mark.parametrize("make", [ProSVM, RankSVM])
def test_a_cluster_gives_the_same_bits(cluster, make):
    X, Y = problem()
    options = dict(n_blocks=4, random_state=0, tol=0.05)
    here = make(**options).fit(X, Y)
    there = distributed.fit(make(**options), X, Y, cluster)
    np.testing.assert_array_equal(there.coef_, here.coef_)
    assert there.objective_ == here.objective_


class KillingRunner(distributed.DaskRunner):
    """Kills a worker when the steps of the fifth round are handed out."""

    def __init__(self, client, victim):
        super().__init__(client)
        self.victim, self.rounds = victim, 0

    def map(self, step, *columns):
        if step.func is admm.solve_block:
            self.rounds += 1
            if self.rounds == 5:
                os.kill(self.victim, signal.SIGKILL)
        return super().map(step, *columns)


@pytest.mark.filterwarnings("ignore")
def test_a_worker_killed_in_the_middle_changes_nothing(cluster):
    X, Y = problem()
    options = dict(C=10.0, tol=1e-6, max_rounds=12)
    expected = learner(**options).fit(X, Y)
    pids = list(cluster.run(os.getpid).values())
    runner = KillingRunner(cluster, pids[0])
    killed = learner(**options).fit_on(X, Y, runner)
    assert runner.rounds == 12
    np.testing.assert_array_equal(killed.coef_, expected.coef_)
    assert pids[0] not in _pids_after_a_while(cluster)


def _pids_after_a_while(client):
    for _ in range(50):
        pids = list(client.run(os.getpid, on_error="ignore").values())
        if len(pids) == 2:
            break
        time.sleep(0.2)
    return pids


def test_what_cannot_be_shared_out_is_refused():
    X, Y = problem(n=20)
    with pytest.raises(InputError, match="n_blocks=1"):
        distributed.fit(ProSVM(), X, Y, None)
    with pytest.raises(InputError, match="ProSVM or a RankSVM"):
        distributed.fit(BinaryRelevancePerceptron(), X, Y, None)
    with pytest.raises(MissingError, match="Client"):
        distributed.fit(learner(), X, Y, "scheduler:8786")


def test_blocks_cover_every_instance_once():
    X, Y = problem(n=23)
    preferences = ProSVM().preferences
    whole = PreferenceProblem.of(X, check_relevance(Y), preferences, fit_intercept=False)
    blocks = admm.split_rows(whole, 5)
    assert [block.X.n_rows for block in blocks] == [4, 5, 4, 5, 5]
    for part in ("X", "relevant"):
        together = np.concatenate([getattr(block, part).data for block in blocks])
        np.testing.assert_array_equal(together, getattr(whole, part).data)
    assert sum(block.n_duals for block in blocks) == whole.n_duals


def test_a_stop_by_residuals_at_a_larger_gap_is_told(monkeypatch):
    monkeypatch.setattr(admm.Rounds, "duality_gap", property(lambda rounds: 0.5))
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(60, 5)), (random.random((60, 4)) < 0.4).astype(int)
    with pytest.warns(ConvergenceWarning, match="residuals are below tol=0.1, at a relative gap"):
        learner = ProSVM(n_blocks=4, tol=0.1, random_state=0).fit(X, Y)
    assert learner.dual_gap_ == 0.5
