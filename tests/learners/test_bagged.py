"""Bagged rankers and the network they are compared with."""

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from labelrank import (
    BaggedRanker,
    BinaryRelevancePerceptron,
    EmbeddingPCAPLM,
    MulticlassMultilabelPerceptron,
    MultilayerPerceptron,
    NaiveBayesRanker,
    persistence,
)
from labelrank.errors import InputError, MissingError


def problem(n=120, d=10, K=6, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, (X @ random.normal(size=(d, K)) > 1.5).astype(int)


def test_scores_are_the_mean_of_the_scores_of_models_of_different_samples():
    X, Y = problem()
    bagged = BaggedRanker(BinaryRelevancePerceptron(), n_estimators=4, random_state=0).fit(X, Y)
    each = [model.decision_function(X) for model in bagged.estimators_]
    np.testing.assert_allclose(bagged.decision_function(X), np.mean(each, axis=0), rtol=1e-5)
    assert len({scores.tobytes() for scores in each}) == 4


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_workers_change_no_bit(n_jobs):
    X, Y = problem()
    bagged = BaggedRanker(EmbeddingPCAPLM(4, epochs=2), n_estimators=5, random_state=7)
    one = clone(bagged).set_params(n_jobs=1).fit(X, Y)
    many = clone(bagged).set_params(n_jobs=n_jobs).fit(X, Y)
    np.testing.assert_array_equal(one.decision_function(X), many.decision_function(X))
    np.testing.assert_array_equal(one.rank(X, top=2), one.rank(X)[:, :2])


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_models():
    distributed = pytest.importorskip("distributed")
    X, Y = problem()
    bagged = BaggedRanker(EmbeddingPCAPLM(4, epochs=2), n_estimators=4, random_state=7)
    here = clone(bagged).fit(X, Y)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as c,
        distributed.Client(c),
        joblib.parallel_config("dask"),
    ):
        there = clone(bagged).fit(X, Y)
    np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))


def test_bagging_raises_average_precision_of_a_weak_ranker():
    X, Y = problem(400)
    weak = EmbeddingPCAPLM(6, epochs=1, preferences_per_epoch=60, code_scale="none")
    alone = [clone(weak).set_params(random_state=s).fit(X[:200], Y[:200]) for s in range(5)]
    bagged = BaggedRanker(weak, n_estimators=20, random_state=0).fit(X[:200], Y[:200])
    assert bagged.score(X[200:], Y[200:]) > np.mean([one.score(X[200:], Y[200:]) for one in alone])


def test_an_instance_of_a_piece_reaches_a_model_once_on_average():
    X, Y = problem(400)
    bagged = BaggedRanker(BinaryRelevancePerceptron(), n_estimators=25, random_state=0)
    bagged.partial_fit(X, Y)
    seen = np.array([model.n_seen_ for model in bagged.estimators_]) / len(X)
    assert seen.mean() == pytest.approx(1.0, abs=0.05)
    assert 0.02 < seen.std() < 0.1


def test_a_piece_that_one_model_would_refuse_teaches_none():
    X, Y = problem()
    X = np.abs(X)
    bagged = BaggedRanker(NaiveBayesRanker(), n_estimators=4, random_state=0)
    bagged.partial_fit(X[:60], Y[:60])
    before = persistence.digest(bagged)
    X[100] = -1.0
    with pytest.raises(InputError, match="Negative values"):
        bagged.partial_fit(X[60:], Y[60:])
    assert persistence.digest(bagged) == before


def test_new_labels_reach_models_that_skip_the_piece_that_brings_them():
    X, Y = problem(K=3)
    bagged = BaggedRanker(BinaryRelevancePerceptron(), n_estimators=8, random_state=0)
    bagged.partial_fit(X[:20], Y[:20, :2], classes=[0, 1])
    bagged.partial_fit(X[20:21], Y[20:21], classes=[0, 1, 2])
    assert bagged.decision_function(X).shape == (len(X), 3)


def test_sample_sizes_are_numbers_or_shares():
    X, Y = problem()
    bagged = BaggedRanker(BinaryRelevancePerceptron(), random_state=0)
    assert bagged.set_params(sample_size=0.5)._size(120) == 60
    assert bagged.set_params(sample_size=7)._size(120) == 7
    with pytest.raises(InputError, match="sample_size"):
        bagged.set_params(sample_size=200, bootstrap=False).fit(X, Y)
    with pytest.raises(InputError, match="sample_size"):
        bagged.set_params(sample_size=0.0).fit(X, Y)


def test_the_set_is_cut_as_the_models_cut_theirs():
    X, Y = problem()
    calibrated = BaggedRanker(BinaryRelevancePerceptron(), n_estimators=3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(calibrated.predict(X), calibrated.decision_function(X) > 0)
    ranker = BaggedRanker(MulticlassMultilabelPerceptron(), n_estimators=3, random_state=0)
    sizes = ranker.fit(X, sp.csr_array(Y)).predict(X).sum(axis=1)
    assert set(np.asarray(sizes).ravel()) == {round(ranker.cardinality_)}


def test_a_bagged_model_survives_its_file(tmp_path):
    X, Y = problem()
    bagged = BaggedRanker(EmbeddingPCAPLM(4, epochs=1), n_estimators=2, random_state=7).fit(X, Y)
    loaded = persistence.load(persistence.save(bagged, tmp_path / "bagged.labelrank"))
    np.testing.assert_array_equal(bagged.decision_function(X), loaded.decision_function(X))


@pytest.mark.parametrize("activation", ["linear", "sigmoid"])
@pytest.mark.parametrize("engine", ["sklearn", "torch"])
def test_the_network_learns_and_keeps_its_weights_in_a_file(activation, engine, tmp_path):
    if engine == "torch":
        pytest.importorskip("torch")
    X, Y = problem(300)
    network = MultilayerPerceptron(
        6, activation=activation, epochs=150, learning_rate=0.02, engine=engine, random_state=0
    ).fit(sp.csr_array(X[:200]), sp.csr_array(Y[:200]))
    assert network.engine_ == engine
    assert network.score(X[200:], Y[200:]) > 0.85
    loaded = persistence.load(persistence.save(network, tmp_path / "network.labelrank"))
    np.testing.assert_array_equal(network.decision_function(X), loaded.decision_function(X))


def test_a_missing_engine_is_named():
    X, Y = problem()
    try:
        import torch  # noqa: F401
    except ImportError:
        with pytest.raises(MissingError, match="labelrank\\[torch\\]"):
            MultilayerPerceptron(engine="torch").fit(X, Y)
    with pytest.raises(InputError, match="unknown labels"):
        MultilayerPerceptron().fit(X, np.where(Y > 0, np.nan, 0.0))
