"""Forecasts against what training then takes."""

import numpy as np
import pytest

from labelrank.errors import InputError
from labelrank.learners.pairwise.forecast import Cost, Forecast, ProblemSize, choose, forecast
from labelrank.learners.pairwise.mistakes import DualPairScorer
from labelrank.learners.pairwise.scorer import UpdateRule
from labelrank.learners.pairwise.weights import PrimalPairScorer
from labelrank.relevance import check_relevance
from labelrank.rows import as_rows
from references.pairwise import random_problem

GIB = 2**30


def costs(primal=(GIB, 1.0), dual=(GIB, 2.0)):
    return Forecast(Cost("primal", *primal), Cost("dual", *dual))


def test_the_size_of_a_problem_is_counted():
    X, Y = np.array([[1.0, 2.0], [3.0, 4.0]]), check_relevance([[1, 1, 0], [np.nan, 2, 0]])
    assert ProblemSize.of(X, Y) == (2, 2, 3, 4, 3, 5.0, 8.0)


def test_bytes_are_right_within_a_factor_of_three():
    X, Y = random_problem(0, n=400, d=40, n_labels=60)
    Y = check_relevance(Y)
    problem = ProblemSize.of(X, Y)
    found = forecast(problem, calibrated=True)
    primal = PrimalPairScorer(40, 60, calibrated=True, ordered=False)
    dual = DualPairScorer(40, 60, calibrated=True, ordered=False)
    dual.course(as_rows(X), Y)(np.arange(400))
    blocks, store = (primal.pairs, primal.thresholds), dual._store
    n_primal = sum(block.W.nbytes + block.U.nbytes for block in blocks)
    parts = (*dual.mistakes, *store.inverted[:3], *store.index[:3])
    assert 1 / 3 < found.primal.n_bytes / n_primal < 3
    assert 1 / 3 < found.dual.n_bytes / sum(part.nbytes for part in parts) < 3


def test_few_labels_go_primal_and_thousands_dual():
    few = ProblemSize(23149, 25000, 103, 1_700_000, 75_000, 1e9, 1e10)
    many = ProblemSize(26874, 16645, 4341, 764416, 158125, 9.9e7, 4.9e9)
    assert choose("auto", forecast(few), available=8 * GIB) == "primal"
    assert choose("auto", forecast(many), available=8 * GIB) == "dual"


def test_the_faster_that_fits_is_chosen():
    assert choose("auto", costs(), available=2 * GIB) == "primal"
    assert choose("auto", costs(primal=(4 * GIB, 1.0)), available=2 * GIB) == "dual"
    assert choose("dual", costs(), available=2 * GIB) == "dual"


def test_a_faster_giant_gives_way_to_a_slower_dwarf():
    assert choose("auto", costs(primal=(9 * GIB, 1.0)), available=20 * GIB) == "dual"
    assert choose("auto", costs((9 * GIB, 1.0), (8 * GIB, 2.0)), available=20 * GIB) == "primal"


@pytest.mark.parametrize("asked", ["auto", "primal", "dual"])
def test_what_does_not_fit_is_refused_with_the_figures(asked):
    with pytest.raises(InputError, match=r"1\.00 GiB.*available are 0\.50 GiB"):
        choose(asked, costs(), available=GIB // 2)


def test_options_that_need_weights_or_a_kernel_decide():
    problem = ProblemSize(100, 10, 5, 1000, 200, 1e4, 1e5)
    averaged = forecast(problem, rule=UpdateRule(averaging="averaged"))
    assert choose("auto", averaged, available=GIB) == "primal"
    assert choose("auto", forecast(problem, kernel="rbf"), available=GIB) == "dual"
    with pytest.raises(InputError, match="averaging"):
        choose("dual", averaged, available=GIB)


def test_an_unknown_representation_is_refused():
    with pytest.raises(InputError, match="representation"):
        choose("both", costs())
