"""The learners that race, and what each is forecast to cost.

Costs are seconds on one machine of 2024, by formulas of the size of the data alone: so a race takes
the same turns on every machine. The constants need only be right within a factor of two.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from labelrank._estimators import BaseEstimator
from labelrank.learners.auto.goal import Goal
from labelrank.learners.chains.greedy import ClassifierChain, IndependentClassifiers
from labelrank.learners.chains.target_columns import TargetColumns
from labelrank.learners.chains.viterbi import ViterbiClassifierChain
from labelrank.learners.features.nystroem import KernelRanker
from labelrank.learners.graded import GradedClassifier
from labelrank.learners.margins.binary_relevance import (
    BinaryRelevanceLogistic,
    BinaryRelevanceSVM,
    LinearBinaryRelevance,
)
from labelrank.learners.margins.prosvm import ProSVM
from labelrank.learners.orders.neighbors import NeighborOrders
from labelrank.learners.trees.boosted import BoostedTrees
from labelrank.learners.trees.forest import ForestRanker

# Dual variables of preferences between two labels that are still worth their memory.
MOST_ARCS = 100_000_000
# An intercept is nearly free beside standardised rows, and a feature like the others beside texts.
_FREE = 10.0
_LANES = 16
# Seconds per cut that a tree tries for an instance.
_DENSE_CUT, _SPARSE_CUT = 6e-9, 2.5e-8
LANDMARKS = 500
# Grades that are told apart, at most; of more, so many about equally frequent ones.
_LEVELS = 8
# So much work is allowed even where a LinearSVC takes next to nothing.
LEAST_WORK, WORK_PER_ROW = 6.0, 0.01


class Size(NamedTuple):
    """How large the data are: `stored` values of X, `relevant` cells of Y, `arcs` between them."""

    rows: int
    columns: int
    stored: int
    labels: int
    relevant: int
    arcs: float
    dense: bool

    @classmethod
    def of(cls, X: Any, Y: sp.csr_array) -> "Size":
        dense = not sp.issparse(X)
        relevant = np.bincount(np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))[Y.data > 0],
                               minlength=Y.shape[0])  # fmt: skip
        arcs = float((relevant * (Y.shape[1] - relevant)).sum())
        stored = X.shape[0] * X.shape[1] if dense else X.nnz
        return cls(
            X.shape[0], X.shape[1], int(stored), Y.shape[1], int(relevant.sum()), arcs, dense
        )

    def part(self, rows: int) -> "Size":
        """That of so many of the rows."""
        share = rows / max(self.rows, 1)
        return self._replace(
            rows=rows, stored=int(self.stored * share), relevant=int(self.relevant * share),
            arcs=self.arcs * share,
        )  # fmt: skip

    @property
    def cells(self) -> float:
        """Multiplications of one epoch of all labels, sixteen of them at a time."""
        return float(self.stored) * _LANES * -(-self.labels // _LANES)


class Candidate(NamedTuple):
    """A learner in the race, its kind, and what it costs.

    `weighted`: it goes by the best way to weight the features, else it takes them as given.
    `shares`: its scores are from 0 to 1. `own`: it is the caller's, and taken as it is.
    """

    learner: BaseEstimator
    kind: str
    cost: Callable[[Size], float]
    weighted: bool = True
    shares: bool = False
    own: bool = False

    def made(self, share: float) -> BaseEstimator:
        """The learner for this share of the instances; one-vs-rest is then best with a larger C."""
        learner = clone(self.learner)
        if self.own or not isinstance(learner, LinearBinaryRelevance):
            return learner
        return learner.set_params(C=learner.C / share**0.5)


def svm_cost(size: Size) -> float:
    return 0.002 + 7e-9 * size.cells


def logistic_cost(size: Size) -> float:
    return 0.002 + 1.2e-8 * size.cells


def order_cost(size: Size) -> float:
    return 0.003 + 6e-9 * size.cells + 6e-8 * size.arcs


def forest_cost(size: Size, *, leaf: int = 1) -> float:
    """Of a hundred trees: instances by depth, by cuts tried, by labels that are counted."""
    cuts = size.columns**0.5 * (_DENSE_CUT if size.dense else _SPARSE_CUT)
    counted = 1.0 + size.relevant / max(size.rows, 1)
    depth = max(np.log2(max(size.rows, 2)) - np.log2(leaf), 1.0)
    return float(0.01 + 100.0 * size.rows * depth * cuts * counted)


def boosting_cost(size: Size) -> float:
    return 0.01 + 1.2e-6 * size.labels * size.rows * (size.columns + 10.0)


def kernel_cost(size: Size) -> float:
    landmarks = float(min(size.rows, LANDMARKS))
    features = size._replace(stored=int(size.rows * landmarks))
    products = size.stored * landmarks + landmarks**3
    return 0.02 + 5e-9 * features.cells + 5e-10 * products


def near_cost(size: Size) -> float:
    return 0.01 + 1e-8 * size.rows * (size.stored + 100.0 * size.labels)


def linear_svc_cost(size: Size) -> float:
    """What scikit-learn's LinearSVC takes for one label after the other, on two threads; on dense
    features, which are seldom scaled, it rarely converges."""
    return size.labels * (0.002 + (5e-7 if size.dense else 2.5e-8) * size.stored)


def unknown_cost(size: Size) -> float:
    """That of a learner nobody knows."""
    return 0.01 + 2e-8 * size.cells


def candidates(X: Any, Y: sp.csr_array, goal: Goal, *, fast: bool = False) -> dict[str, Candidate]:
    """Named candidates, the first of which chooses the weighting of the features.

    One of each kind comes first: what there is no work for is left out from the end. Learners of
    grades lead where grades matter, and are alone where every label is relevant to every instance.
    """
    dense = not sp.issparse(X)
    linear = _one_vs_rest(_FREE if dense else 1.0)
    graded = _graded(Y)
    if goal.graded:
        linear = {name: one for name, one in graded.items() if one.kind == "linear"} | linear
    if fast:
        return {name: one for name, one in linear.items() if "balanced" not in name}
    found = linear | _orders(X, Y, dense) | graded | _curved(dense)
    if goal.blocks is not None:
        found |= _chains(goal.blocks)
    if goal.graded and not Size.of(X, Y).arcs:
        found = {name: found[name] for name in found if name in graded or "ProSVM" in name}
        found |= _near(dense)
    firsts: dict[str, str] = {}
    for name, one in found.items():
        firsts.setdefault(one.kind, name)
    return {name: found[name] for name in [*firsts.values(), *found]}


def _curved(dense: bool) -> dict[str, Candidate]:
    """Learners that are not linear; those of trees take features as they are."""
    raw: dict[str, Any] = {"weighted": False}
    found = {
        "forest": Candidate(ForestRanker(), "forest", forest_cost, shares=True, **raw),
        "forest, leaves of 3": Candidate(
            ForestRanker(min_samples_leaf=3), "forest", partial(forest_cost, leaf=3),
            shares=True, **raw,
        ),
    }  # fmt: skip
    for C in (10.0, 2.0):
        on_features = BinaryRelevanceLogistic(C=C, fit_intercept=True, tol=0.1)
        kernel = KernelRanker(on_features, n_components=LANDMARKS)
        found[f"kernel C={C:g}"] = Candidate(kernel, "kernel", kernel_cost)
    if dense:
        # Small leaves suit small data, large ones large data.
        found |= {
            name: Candidate(trees, "boosting", boosting_cost, **raw)
            for name, trees in (
                ("boosted trees of 8", BoostedTrees(max_leaves=8, min_samples_leaf=5)),
                ("boosted trees of 31", BoostedTrees()),
            )
        }
    return found


def _one_vs_rest(scaling: float) -> dict[str, Candidate]:
    """Linear ones, for rows whose mean square is 1."""
    shared: dict[str, Any] = {"fit_intercept": True, "intercept_scaling": scaling, "tol": 0.1}
    even: dict[str, Any] = {
        f"SVM C={C:g}": (BinaryRelevanceSVM(C=C, **shared), svm_cost)
        for C in (0.5, 0.12, 0.25, 1.0)
    }
    even |= {
        f"logistic C={C:g}": (BinaryRelevanceLogistic(C=C, **shared), logistic_cost)
        for C in (2.0, 0.5, 8.0)
    }
    balanced = BinaryRelevanceLogistic(C=1.0, class_weight="balanced", **shared)
    even["balanced logistic C=1"] = (balanced, logistic_cost)
    return {name: Candidate(one, "linear", cost) for name, (one, cost) in even.items()}


def _orders(X: Any, Y: sp.csr_array, dense: bool) -> dict[str, Candidate]:
    """Learners of whole orders."""
    many = Size.of(X, Y).arcs > MOST_ARCS
    name = "ProSVM-A" if many else "ProSVM"
    # After three epochs hardly the ranking changes; an intercept is worse for texts.
    return {
        f"{name} C={C:g}": Candidate(
            ProSVM(C=C, approximate=many, fit_intercept=dense, max_iter=3), "order", order_cost
        )
        for C in ((5, 1) if dense else (40, 20))
    }


def _graded(Y: sp.csr_array) -> dict[str, Candidate]:
    """Learners of whether a label reaches a grade, where there are several grades."""
    n_grades = len(np.unique(Y.data[Y.data > 0]))
    if n_grades < 2:
        return {}
    levels: Any = "grades" if n_grades <= _LEVELS else _LEVELS
    times = float(min(n_grades, _LEVELS))

    def logistic(C: float) -> BinaryRelevanceLogistic:
        return BinaryRelevanceLogistic(C=C, fit_intercept=True, tol=0.1)

    kernel = KernelRanker(logistic(2.0), n_components=LANDMARKS)
    raw: dict[str, Any] = {"weighted": False}
    made: dict[str, tuple[Any, str, Callable[[Size], float], dict[str, Any]]] = {
        "graded logistic": (logistic(2.0), "linear", logistic_cost, {}),
        "graded logistic C=0.5": (logistic(0.5), "linear", logistic_cost, {}),
        "graded forest": (ForestRanker(), "forest", forest_cost, raw),
        "graded forest, leaves of 3": (
            ForestRanker(min_samples_leaf=3), "forest", partial(forest_cost, leaf=3), raw),
        "graded kernel": (kernel, "kernel", kernel_cost, {}),
    }  # fmt: skip

    def all_levels(cost: Callable[[Size], float]) -> Callable[[Size], float]:
        return lambda size: cost(
            size._replace(labels=int(times * size.labels), relevant=int(times * size.relevant / 2))
        )

    return {
        name: Candidate(GradedClassifier(one, levels=levels), kind, all_levels(cost), **more)
        for name, (one, kind, cost, more) in made.items()
    }


def _near(dense: bool) -> dict[str, Candidate]:
    """The consensus of near orders, of features that are alike in scale."""
    return {
        f"{n} near orders": Candidate(NeighborOrders(n), "neighbors", near_cost)
        for n in ((10, 5) if dense else ())
    }


def _chains(blocks: tuple[int, ...]) -> dict[str, Candidate]:
    """Chains over targets of several classes."""
    kinds = {
        "independent classifiers": IndependentClassifiers(),
        "classifier chain": ClassifierChain(order="random"),
        "Viterbi chain": ViterbiClassifierChain(order="random"),
    }
    return {
        name: Candidate(
            TargetColumns(chain, sizes=blocks), "chain", lambda size: 2 * logistic_cost(size)
        )
        for name, chain in kinds.items()
    }


def given(learners: dict[str, Any]) -> dict[str, Candidate]:
    """The candidates of a caller: as they are, on the features as given."""
    return {
        name: Candidate(learner, name, unknown_cost, weighted=False, own=True)
        for name, learner in learners.items()
    }


def allowance(size: Size, effort: float, *, fast: bool) -> float:
    """The work that choosing and learning may take: some of what a LinearSVC would."""
    many = float(np.interp(np.log(max(size.rows, 1)), np.log([5_000, 10_000]), [10.0, 1.0]))
    least = min(LEAST_WORK, WORK_PER_ROW * size.rows)
    if fast:
        many, least = 0.25, 0.25 * least
    return effort * max(many * linear_svc_cost(size), least)
