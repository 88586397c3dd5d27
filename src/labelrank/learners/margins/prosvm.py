"""Large margins for PRO loss (Xu, Li & Zhou 2013): the set and the order of the relevant labels."""

from typing import Any

import numpy.typing as npt

from labelrank.declared import check_choice
from labelrank.learners.margins.machine import ArcMachine
from labelrank.learners.margins.problem import Shares


class ProSVM(ArcMachine):
    """Linear scores for the labels and the threshold label Θ that minimise a bound of PRO loss.

    The problem is ½‖w‖² + C Σ weight·(1 - g_better(x) + g_worse(x))₊ over four groups of
    preferences of each instance: relevant over less relevant, relevant over irrelevant, relevant
    over Θ, Θ over irrelevant, each group weighing a quarter in all. With `approximate` only those
    with Θ (a half each) and, between relevant labels of adjacent grades, a chain weighted by the
    pairs it stands for: an upper bound with O(K) in place of O(K²) preferences. Labels
    of equal grade state no preference; unknown labels take part in none.

    Solved by dual coordinate descent, which walks the preferences of an instance in scores alone,
    until the duality gap is at most `tol` of the objective; with `n_blocks` above 1 by ADMM over
    blocks of instances, side by side (joblib; `labelrank.distributed` for a Dask cluster).

    Parameters
    ----------
    C : float, default 1.0
        Weight of the losses beside ½‖w‖² (λ of the paper).
    approximate : bool, default False
        ProSVM-A: fewer preferences, less memory and time.
    ordered : bool, default True
        False drops the preferences between relevant labels (the primed variants).
    fit_intercept : bool, default False
        Give x one more feature that is always 1.
    tol : float, default 1e-3
        Relative duality gap to reach (for ADMM also the relative size of its residuals).
    max_iter : int, default 1000
        Most epochs; a ConvergenceWarning names the gap if they do not suffice.
    n_blocks : int, default 1
        Blocks of instances; the objective is the same for any number.
    eta : float, default 0.1
        Step of ADMM.
    max_rounds : int, default 100
        Most rounds of ADMM.
    warm_start : bool, default False
        Begin the next `fit` on the same data (at another C) where this one ended.
    memory_limit : float or None
        GiB that weights and duals may take; None is what the machine has free.
    n_jobs : int or None
        Threads over blocks, and in prediction; never changes the result.
    random_state : int, RandomState or None
        Order of the instances in each epoch.
    verbose : int, default 0
        Above 0: a bar with the gap.

    Attributes
    ----------
    coef_ : ndarray (K, d)
    threshold_coef_ : ndarray (d,)
        Weights of Θ: scores are X times `coef_ - threshold_coef_`.
    intercept_ : ndarray (K,)
    threshold_intercept_ : float
    objective_ : float
    dual_gap_ : float
        Relative: (objective - dual objective) / objective.
    n_iter_ : int
        Epochs, or rounds of ADMM.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import ProSVM
    >>> X = np.eye(3)
    >>> learner = ProSVM(C=10, random_state=0).fit(X, [[2, 1, 0], [0, 2, 1], [1, 0, 2]])
    >>> learner.rank(X)
    array([[0, 1, 2],
           [1, 2, 0],
           [2, 0, 1]])
    >>> learner.dual_gap_ <= 1e-3
    True
    """

    _advice = "use approximate=True, which needs far fewer, or keep fewer labels or instances"

    def __init__(
        self,
        *,
        C: float = 1.0,
        approximate: bool = False,
        ordered: bool = True,
        fit_intercept: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_blocks: int = 1,
        eta: float = 0.1,
        max_rounds: int = 100,
        warm_start: bool = False,
        memory_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.approximate = approximate
        self.ordered = ordered
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.n_blocks = n_blocks
        self.eta = eta
        self.max_rounds = max_rounds
        self.warm_start = warm_start
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("approximate", self.approximate, (True, False))
        check_choice("ordered", self.ordered, (True, False))

    def _shares(self) -> Shares:
        order = 0.25 if self.ordered else 0.0
        if self.approximate:
            return Shares(pairs=0.0, threshold=0.5, order=order, chain=True)
        return Shares(pairs=0.25, threshold=0.25, order=order)

    def _scores(self, X: Any) -> npt.NDArray[Any]:
        raw = self._raw_scores(X)
        return raw[:, :-1] - raw[:, -1:]

    @property
    def threshold_coef_(self) -> npt.NDArray[Any]:
        """Weights of the threshold label Θ (d,)."""
        return self._W[0, : self.n_features_in_, self.n_labels_].copy()

    @property
    def threshold_intercept_(self) -> float:
        """Intercept of the threshold label Θ; 0 without `fit_intercept`."""
        return float(self._W[0, -1, self.n_labels_]) if self.fit_intercept else 0.0
