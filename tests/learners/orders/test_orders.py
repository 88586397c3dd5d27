"""Learners of orders: levels, neighbours, and every learner that claims to rank."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression

from labelrank import (
    ForestRanker,
    LevelRanker,
    NeighborOrders,
    RelevanceBinarizer,
    catalog,
    metrics,
)
from labelrank.errors import InputError
from labelrank.learners.orders.levels import by_levels
from labelrank.learners.orders.neighbors import mallows_centre
from labelrank.relevance import check_relevance

random = np.random.default_rng(0)
X = random.normal(size=(150, 4))
TRUE = X @ random.normal(size=(4, 5))
ORDERS = rankdata(TRUE, axis=1)
RANKERS = [
    "PLM", "EC-PLM", "EP-PLM", "EC-PLM+", "EP-PLM+", "bagged EC-PLM", "bagged EP-PLM",
    "MLP linear", "MLP sigmoid", "IBLR-Borda", "IBLR-Mallows", "LR-forest", "RPC", "ProSVM",
    "ProSVM-A", "PCnR", "GMLC",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RANKERS)
def test_full_rankings_are_learned(name):
    learner = catalog.make(name, seed=0)
    learner.set_params(**{"tol": 0.1} if "tol" in learner.get_params() else {})
    scores = learner.fit(X[:100], ORDERS[:100]).decision_function(X[100:])
    assert scores.any()
    assert metrics.kendall_tau(ORDERS[100:], scores) > 0.5


@pytest.mark.parametrize("name", ["PLM", "EC-PLM", "EP-PLM", "EC-PLM+"])
def test_the_order_of_relevant_labels_is_learned_beside_irrelevant_ones(name):
    Y = np.where(TRUE > 0, ORDERS, 0.0)
    learner = catalog.make(name, seed=0).fit(X[:100], Y[:100])
    blind = catalog.make(name, seed=0).fit(X[:100], (Y[:100] > 0).astype(int))
    inside = np.where(Y[100:] > 0, Y[100:], np.nan)
    tau = [metrics.kendall_tau(inside, one.decision_function(X[100:])) for one in (learner, blind)]
    assert tau[0] > tau[1] - 0.02
    assert tau[0] > 0.5


@pytest.mark.parametrize("name", ["PLM", "EC-PLM", "EP-PLM"])
def test_pieces_of_orders_equal_the_whole(name):
    codes = {"codes": np.eye(5)} if name == "EP-PLM" else {}
    whole, pieces = (catalog.make(name, seed=0, **codes) for _ in range(2))
    whole.partial_fit(X, ORDERS)
    for rows in np.split(np.arange(len(X)), [1, 20, 21]):
        pieces.partial_fit(X[rows], ORDERS[rows])
    np.testing.assert_array_equal(whole.decision_function(X), pieces.decision_function(X))


def test_levels_are_the_labels_that_are_at_least_so_good():
    grades = np.array([[3, 1, 2], [0, 2, 1], [1, 1, 1], [0, 0, 0], [np.nan, 2, 1]], float)
    rows, copies = by_levels(np.arange(5)[:, None], check_relevance(grades))
    expected = {
        0: [[1, 0, 1], [1, 0, 0]], 1: [[0, 1, 1], [0, 1, 0]], 2: [[1, 1, 1]], 3: [[0, 0, 0]],
        4: [[np.nan, 1, 0]],
    }  # fmt: skip
    for row, levels in expected.items():
        np.testing.assert_array_equal(copies[rows[:, 0] == row].toarray(), levels)
    plain = check_relevance([[1, 0], [0, 1]])
    assert by_levels(X[:2], plain)[1] is plain


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_consensus_is_that_of_the_nearest_instances(form):
    learner = NeighborOrders(7).fit(form(X[:100]), ORDERS[:100])
    scale = X[:100].std(axis=0)
    for x, scores in zip(X[100:], learner.decision_function(form(X[100:])), strict=True):
        near = np.argsort((((X[:100] - x) / scale) ** 2).sum(axis=1))[:7]
        # A grade g of m labels beats g - 1 and loses to m - g: their difference is 2 g - m - 1.
        np.testing.assert_allclose(scores, (2 * ORDERS[near] - 6).mean(axis=0), atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_the_centre_of_a_mallows_model_disagrees_on_the_fewest_pairs(seed):
    orders = np.random.default_rng(seed).random((9, 5)).argsort(axis=1)
    net = np.sign(orders[:, :, None] - orders[:, None, :]).sum(axis=0).astype(float)

    def agreed(order):
        return sum(net[a, b] for a, b in itertools.combinations(order, 2))

    centre = mallows_centre(net, np.argsort(-net.sum(axis=1), kind="stable"))
    best = max(agreed(order) for order in itertools.permutations(range(5)))
    assert sorted(centre) == list(range(5))
    assert agreed(centre) >= best - 2  # a local search: it may miss by one pair


def test_unknown_labels_take_no_place():
    grades = np.array([[3, 2, np.nan], [3, 2, np.nan], [np.nan, 1, 2]])
    learner = NeighborOrders(3, standardize=False).fit(np.zeros((3, 1)) + 1, grades)
    scores = learner.decision_function([[1.0]])[0]
    np.testing.assert_allclose(scores, [1.0, -1.0, 1.0])


def test_a_forest_of_levels_learns_from_lists_of_labels():
    lists = [[str(k) for k in np.argsort(-row)] for row in ORDERS]
    Y = RelevanceBinarizer(ordered=True).fit_transform(lists)
    np.testing.assert_array_equal(Y.toarray(), ORDERS)
    learner = LevelRanker(ForestRanker(20, random_state=0)).fit(X, Y)
    assert metrics.kendall_tau(Y, learner.decision_function(X)) > 0.6
    with pytest.raises(InputError, match="give a learner of labelrank"):
        LevelRanker(LogisticRegression()).fit(X, Y)


def test_compare_takes_ranking_sets_by_their_criteria(tmp_path):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from labelrank.cli import app

    rows = ["x0,x1," + ",".join("abc")]
    for x, order in zip(X[:60], ORDERS[:60], strict=True):
        rows.append(",".join(map(str, [*x[:2], *np.argsort(np.argsort(order[:3])) + 1])))
    path = tmp_path / "orders.csv"
    path.write_text("\n".join(rows))
    options = ["--labels", "3", "--learners", "IBLR-Borda,RPC", "--cv", "2", "--tables", "csv"]
    asked = ["--criterion", "kendall_tau,spearman,top_agreement_at_1", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["compare", str(path), *options, *asked])
    assert done.exit_code == 0, done.output
    for name in ("kendall_tau", "spearman", "top_agreement_at_1"):
        assert name in done.output
