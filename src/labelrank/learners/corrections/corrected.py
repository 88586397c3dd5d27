"""Corrections on top of a frozen ranker: passive-aggressive steps on arcs.

Score of label k: base_k(x) + x·D_k - x·D_Θ, with base_k relative to the base's own cut, so that
the set is `scores > 0`. One step learns one instance x and its arcs a > b: they are swept in their
order, at most ten times, in score space, by

    τ = min(C, max(0, m - (s_a - s_b)) / (2‖x‖²)),   c_a += τ,  c_b -= τ

(Crammer et al. 2006, PA-I; an arc moves its labels by C at most in one step); then D += x ⊗ c. So
D is a sum of steps, and the share of a past step t in the margin of a over b is (x·x_t)(c_a - c_b).
m is the margin, of arcs over and under Θ a part of it.
"""

import math
import warnings
from collections import ChainMap
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from labelrank import decoding
from labelrank._types import Array, Float64, Int32
from labelrank.declared import a_learner, nested, number, stored, value
from labelrank.errors import InputError
from labelrank.interrupts import held_back
from labelrank.learners.base import Explained, Explanation, LabelRanker, unchanged_if_refused
from labelrank.learners.corrections.arc_steps import Learned, Weights, add, shift, step
from labelrank.learners.corrections.packed import PackedSteps, rows_of
from labelrank.preferences import Arcs, checked_arcs
from labelrank.relevance import TargetInfo

_REACHED_BY = 100  # rows that tell what margins the base reaches
_TRAINING_ROWS = 1000
_SIDE = 1e30
_UNMOVED = np.zeros(0, np.int32), np.zeros(0)


class Step(NamedTuple):
    """What one step learned: instance `x`, arcs `better > worse`, and how far each label moved.

    `coefficients` has a value for each label, and for Θ at the end.
    """

    x: sp.csr_array
    better: Int32
    worse: Int32
    coefficients: Float64


@stored(
    "CorrectedRanker", 2, base_=nested(), reached_=value(float, optional=True),
    steps=nested("PackedSteps", attribute="_packed"),
)  # fmt: skip
@dataclass(eq=False, repr=False)
class CorrectedRanker(Explained, LabelRanker):
    """Any fitted ranker, frozen, and what it was taught since.

    Each instance that is learned is a step, which counts at once. A step can be forgotten as if it
    had never been, and `why` tells the share of each step in a margin. `partial_fit` takes the
    `base` as it is, fitted; `fit` fits a copy of it, and forgets all corrections.

    New labels are welcome: the base scores a label that it does not know as low as the lowest, and
    not above the cut. An instance without any feature teaches nothing, with a warning.

    Parameters
    ----------
    base : LabelRanker
    C : float or None
        How far one arc may move two labels in one step; None is no limit: what was taught holds.
    margin : float or None
        By how much arcs are to hold. None: as far as a label is from the cut of the base, in the
        median, on what `fit` has learned, else on the first hundred rows corrected.
    cut : float, default 1.0
        Arcs over and under the threshold are to hold by this part of the margin.
    overflow : int, default 0
        The last columns of X, so many, are of corrections alone: the base does not know them.
    epochs : int, default 1
        How often `partial_fit` goes through what it gets; each time is a step for each row.

    Attributes
    ----------
    base_ : the frozen ranker
    steps_ : list of Step, what was learned, in order

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import CorrectedRanker, RankSVM
    >>> base = RankSVM(random_state=0).fit(np.eye(3), np.eye(3, dtype=int))
    >>> ranker = CorrectedRanker(base).partial_fit([[1.0, 0, 0]], [[0, 1, 0]])
    >>> ranker.predict(np.eye(3)).tolist()
    [[0, 1, 0], [0, 1, 0], [0, 0, 1]]
    >>> ranker.forget(0).predict(np.eye(3)).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """

    base: Any = field(metadata=a_learner(needed=True))
    _: KW_ONLY
    C: float | None = number(None, above=0, or_none=True)
    margin: float | None = number(None, above=0, or_none=True)
    cut: float = number(1.0, above=0)
    overflow: int = number(0, least=0, whole=True)
    epochs: int = number(1, least=1, whole=True)

    def _check_combinations(self) -> None:
        if not isinstance(self.base, LabelRanker):
            raise InputError(f"got base={self.base!r}; give a learner of labelrank")

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        if self.overflow >= X.shape[1]:
            raise InputError(f"got overflow={self.overflow} of {X.shape[1]} columns; leave some")
        self.base_ = clone(self.base).fit(X[:, : X.shape[1] - self.overflow], Y)
        self._start()
        some = self._based(sp.csr_array(X[:_TRAINING_ROWS]))[1]
        self.reached_: float | None = _median([self._reached(row) for row in some])

    def begin(self) -> Self:
        """Take the base as it is, fitted, without a correction; nothing if that was done."""
        self.check_parameters()
        if not hasattr(self, "target_"):
            self._begin()
        return self

    def _begin(self) -> None:
        if not hasattr(self.base, "target_"):
            raise NotFittedError("got a base that is not fitted; fit it on labels first")
        if not can_be_corrected(self.base):
            raise InputError(
                f"got a {type(self.base).__name__} of texts or of columns of classes; corrections "
                "need features and labels"
            )
        target = self.base.target_
        self.target_ = TargetInfo(target.classes, target.one_class, target.sparse, target.dtype)
        names = () if self.overflow else ("feature_names_in_",)
        for name in (*names, "cardinality_", "n_seen_"):
            if hasattr(self.base, name):
                setattr(self, name, getattr(self.base, name))
        self.n_features_in_ = self.base.n_features_in_ + int(self.overflow)
        self.base_ = self.base
        self._start()

    def _start(self) -> None:
        """No step yet. Θ is column 0 inside, label k column k + 1: a new one moves no column."""
        self.reached_ = None
        self._steps: list[Learned] = []
        self._weights: Weights = {}

    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Self:
        """Learn instances and their relevance, in order: relevant over Θ over irrelevant labels.

        Each relevant label is also learned over the fifty irrelevant ones that score highest by
        then, and over those of the next lower grade. `classes` may name further labels behind
        the known ones. Unknown labels (NaN) take no part.
        """

        return self._taught(X, Y, classes, None)

    def learn_arcs(self, X: Any, arcs: Arcs, classes: Any = None) -> Self:
        """Learn preferences alone: row i of `arcs` is stated of instance i."""

        return self._taught(X, "no_validation", classes, arcs)

    def _taught(self, X: Any, Y: Any, classes: Any, arcs: Arcs | None) -> Self:
        """Learn relevance Y, or else arcs."""
        with held_back(), unchanged_if_refused(self):
            self.begin()
            X = sp.csr_array(self._check_X(X, reset=False, Y=Y)).astype(np.float64)
            X.eliminate_zeros()
            if classes is not None:
                self._widen(self.target_.widened(classes))
            base = self._one_by_one(X)
            if arcs is None:
                stated, epochs = _relevance_of(self.target_.read(Y, len(base))), self.epochs
            else:
                stated, epochs = _inside(checked_arcs(arcs, *base.shape)), 1
            learned = self._asked(X, base, stated) * epochs
            self._learn_steps(learned, np.tile(base, (epochs, 1)))
        _tell_empty(X)
        return self

    def _asked(self, X: sp.csr_array, base: Float64, stated: Sequence[Any]) -> list[Learned]:
        """What is to be learned of each row; no label has moved."""
        most = math.inf if self.C is None else float(self.C)
        margin = math.nan if self.margin is None else float(self.margin)
        asked = []
        for i, (scores, (better, worse, relevance)) in enumerate(zip(base, stated, strict=True)):
            row = slice(X.indptr[i], X.indptr[i + 1])
            x = X.indices[row].astype(np.int32), X.data[row]
            wanted = self._reached(scores), most, margin, float(self.cut)
            n = self.n_labels_
            asked.append(Learned(*x, better, worse, relevance, n, *wanted, *_UNMOVED))
        return asked

    def wanted_margin(self, X: Any) -> float:
        """By how much arcs of instances such as these are to hold, if they were learned now."""
        self.begin()
        rows = sp.csr_array(self._check_X(X, reset=False)[:_REACHED_BY])
        known = [one.reached for one in self._steps] + [
            self._reached(scores) for scores in self._based(rows)[1]
        ]
        return float(self.margin or self.reached_ or _median(known[:_REACHED_BY]) or 1.0)

    def forget(self, step: int) -> Self:
        """Forget the step at this place of `steps_`: later ones are learned again without it.

        The state is that of the sequence without it, bit for bit; labels that it brought stay.
        """
        n_steps = len(getattr(self, "_steps", ()))
        if isinstance(step, bool) or not isinstance(step, int | np.integer):
            raise InputError(f"got step {step!r}; give a whole number")
        if not 0 <= step < n_steps:
            raise InputError(f"got step {step}, but there are {n_steps}; count them from 0")
        with held_back(), unchanged_if_refused(self):
            before, after = self._steps[:step], self._steps[step + 1 :]
            X = rows_of(after, self.n_features_in_)
            self._steps, self._weights = before, self._summed(before)
            self._learn_steps(after, self._one_by_one(X))
        return self

    def _widen(self, target: TargetInfo) -> None:
        if self.target_.one_class and len(target.classes) > self.n_labels_:
            raise InputError("got new classes of a class vector; only labels can be added")
        self.target_ = target

    def _one_by_one(self, X: sp.csr_array) -> Float64:
        """What the base says of each instance alone: the same bits, whatever comes beside it."""
        rows = [self._based(X[[i]])[1] for i in range(X.shape[0])]
        return np.vstack([np.zeros((0, self.n_labels_)), *rows])

    def _learn_steps(self, steps: Sequence[Learned], base: Float64) -> None:
        """Learn these behind all others; the base says this of each."""
        width, learned = self.n_labels_ + 1, list(self._steps)
        fresh: Weights = {}
        weights = ChainMap(fresh, self._weights)
        for one, scores in zip(steps, base, strict=True):
            x = rows_of([one], self.n_features_in_)
            s = np.append(0.0, scores) + shift(weights, x, width)[0]
            margin = self._margin(one, learned)
            learned.append(self._stepped(one, s[: one.n_labels + 1], margin))
            add(fresh, weights, learned[-1], width)
        self._steps = learned
        self._weights.update(fresh)

    def _stepped(self, one: Learned, s: Float64, margin: float) -> Learned:
        """The step taken, where Θ and the labels score s by now."""
        better, worse = one.better, one.worse
        if one.relevance is not None:
            grades = np.zeros(one.n_labels)
            grades[one.relevance[0]] = one.relevance[1]
            arcs = Arcs.of_row(grades, s[1:], threshold=not self.target_.one_class)
            better, worse = (np.where(side == len(grades), 0, side + 1) for side in arcs)
        wanted = np.where((better == 0) | (worse == 0), one.cut * margin, margin)
        c = step(s, better, worse, float(one.data @ one.data), wanted, one.most)
        if one.relevance is not None:
            failed = s[better] - s[worse] < wanted
            better, worse = (side[failed].astype(np.int32) for side in (better, worse))
        labels = np.flatnonzero(c).astype(np.int32)
        return one._replace(better=better, worse=worse, labels=labels, moves=c[labels])

    def _summed(self, steps: Sequence[Learned]) -> Weights:
        weights: Weights = {}
        for one in steps:
            add(weights, weights, one, self.n_labels_ + 1)
        return weights

    def _margin(self, one: Learned, before: Sequence[Learned]) -> float:
        """By how much the arcs of a step are to hold, behind those before."""
        if not math.isnan(one.margin):
            return one.margin
        reached = [t.reached for t in [*before[:_REACHED_BY], one][:_REACHED_BY]]
        known = self.reached_ or _median(reached)
        return 1.0 if known is None else known

    def __copy__(self) -> Self:
        copied = type(self).__new__(type(self))
        copied.__dict__.update(vars(self), _weights=dict(getattr(self, "_weights", {})))
        return copied

    def _reached(self, scores: Float64) -> float:
        """How far labels are from the base's cut, or the first class from the second."""
        if self.target_.one_class:
            second, first = np.sort(scores)[-2:]
            return float(first - second)
        return float(np.median(np.abs(scores)))

    def _based(self, X: Any) -> tuple[Float64, Float64]:
        """Scores of the base, as they are and relative to its cut, with those of new labels."""
        answer = self.base_._answered(self._known(X))  # noqa: SLF001
        raw = np.clip(answer.scores.astype(np.float64), -_SIDE, _SIDE)
        if self.target_.one_class:
            return raw, raw
        over = relative(raw, answer.members, zero_of(self.base_))
        more = self.n_labels_ - raw.shape[1]
        lowest = np.minimum(over.min(axis=1, keepdims=True), 0.0)
        new = np.repeat(raw.min(axis=1, keepdims=True), more, axis=1)
        return np.hstack([raw, new]), np.hstack([over, np.repeat(lowest, more, axis=1)])

    def _known(self, X: Any) -> Any:
        """The columns that the base knows."""
        return X[:, : self.base_.n_features_in_] if self.overflow else X

    def _corrections(self, X: Any) -> Float64:
        moved = shift(self._weights, sp.csr_array(X), self.n_labels_ + 1)
        return np.asarray(moved[:, 1:] - moved[:, :1])

    def _silent(self, X: Any) -> Array:
        """None: the base answers instances of which nothing is known, and they hold no step."""
        return np.zeros(X.shape[0], bool)

    def _scores(self, X: Any) -> Array:
        return self._based(X)[1] + self._corrections(X)

    @property
    def has_probabilities(self) -> bool:
        """Whether the base has a link from scores to probabilities."""
        base = getattr(self, "base_", self.base)
        is_own = type(base).link is not decoding.Probable.link
        return is_own or getattr(base, "calibration_", None) is not None

    def _probabilities(self, X: Any) -> Array:
        """By the base's link, made to agree with the corrected ranking."""
        raw, over = self._based(X)
        moved = self._corrections(X)
        shares = np.clip(self.base_.link(raw + moved), 0.0, 1.0)
        if self.target_.one_class:
            sums = shares.sum(axis=1, keepdims=True)
            shares = shares / np.maximum(sums, np.finfo(np.float64).tiny)
        X = self._known(X)
        silent = self.base_._silent(X)  # noqa: SLF001
        if silent.any():
            shares[silent] = 0.0
            shares[silent, : self.base_.n_labels_] = self.base_._probabilities(X[silent])  # noqa: SLF001
        return decoding.falling(shares, decoding.rank(over + moved))

    @property
    def _packed(self) -> PackedSteps:
        if "_loaded" in vars(self):
            return self._loaded
        return PackedSteps.of(self._steps, self.n_features_in_, self.n_labels_)

    @_packed.setter
    def _packed(self, packed: PackedSteps) -> None:
        self._loaded = packed

    @property
    def steps_(self) -> list[Step]:
        """What was learned, in order."""
        last = self.n_labels_
        found = []
        for one, move in zip(self._steps, self._packed.moves.toarray(), strict=True):
            better, worse = (
                np.where(side == 0, last, side - 1).astype(np.int32)
                for side in (one.better, one.worse)
            )
            x = rows_of([one], self.n_features_in_)
            found.append(Step(x, better, worse, np.roll(move, -1)))
        return found

    @available_if(lambda self: hasattr(getattr(self, "base_", self.base), "why"))  # type: ignore[untyped-decorator]
    def why(self, x: Any, label: Any, over: Any = None) -> Explanation:
        """The base's reasons, its constant, and `shares` of the `steps`: they sum to the margin."""
        row = self._one_row(x)
        a, b = self._label(label), None if over is None else self._label(over)
        base = self._based(row)[1][0]
        stated = float(base[a] - (0.0 if b is None else base[b]))
        reason = self._base_reason(row, a, b, stated)
        columns = [a + 1, 0 if b is None else b + 1]
        packed = self._packed
        ahead, behind = packed.moves[:, columns].toarray().T
        along = (packed.instances @ row.astype(np.float64).T).toarray().ravel()
        shares = along * (ahead - behind)
        steps = np.flatnonzero(shares)
        steps = steps[np.argsort(-np.abs(shares[steps]), kind="stable")]
        names = self.classes_.tolist()
        return reason._replace(
            label=names[a], over=None if b is None else names[b],
            margin=stated + float(shares.sum()), steps=steps, shares=shares[steps],
        )  # fmt: skip

    def _base_reason(self, row: sp.csr_array, a: int, b: int | None, stated: float) -> Explanation:
        """Of the base's part `stated`; what it says of a label that is new to it is a constant."""
        n_known = self.base_.n_labels_
        if a >= n_known or (b is not None and b >= n_known):
            none = np.zeros(0)
            return Explanation(a, b, stated, none.astype(np.int64), none.astype(object), none,
                               stated)  # fmt: skip
        reason: Explanation = self.base_.why(self._known(row), a, over=b)
        rest = stated - float(reason.margin)
        return reason._replace(constant=float(reason.constant) + rest)

    def after_loading(self) -> None:
        self.reached_ = getattr(self, "reached_", None)
        n_known, width = self.base_.n_labels_, self.base_.n_features_in_ + self.overflow
        if width != self.n_features_in_ or n_known > self.n_labels_:
            raise ValueError("the base is of other features, or of more labels")
        if self.base_.target_.one_class != self.target_.one_class and n_known != self.n_labels_:
            raise ValueError("the base is of other targets")
        packed = vars(self).pop("_loaded")
        shapes = packed.instances.shape[1], packed.moves.shape[1]
        if shapes != (self.n_features_in_, self.n_labels_ + 1):
            raise ValueError("steps of other features or labels")
        self._steps = packed.steps()
        self._weights = self._summed(self._steps)


def can_be_corrected(learner: Any) -> bool:
    """Whether it is a fitted ranker of labels that reads features."""
    return (
        isinstance(learner, LabelRanker)
        and isinstance(getattr(learner, "target_", None), TargetInfo)
        and not getattr(learner.target_, "holds_classes", False)
        and not get_tags(learner).input_tags.string
    )


def zero_of(base: LabelRanker) -> float | None:
    """The score at which a ranker cuts, if it does so at the same one in all rows."""
    cut = 0.0 if base.is_calibrated else getattr(base, "threshold", None)
    return float(cut) if isinstance(cut, int | float) else None


def relative(scores: Float64, members: Array, zero: float | None) -> Float64:
    """Scores shifted so that the set is what is above 0.

    By `zero` where this is the cut; else the middle between the set and the rest becomes 0. Where
    the set does not score above the rest it is lifted above it, by the mean gap of the row.
    """
    least = np.where(members, scores, np.inf).min(axis=1, keepdims=True)
    most = np.where(members, -np.inf, scores).max(axis=1, keepdims=True)
    spread = scores.max(axis=1, keepdims=True) - scores.min(axis=1, keepdims=True)
    usual = np.where(spread > 0, spread / (2 * scores.shape[1]), 0.5)
    with np.errstate(invalid="ignore"):
        gap = np.where((least > most) & np.isfinite(least - most), (least - most) / 2, usual)
        cut = np.where(members, scores - least + gap, scores - most - gap)
    if zero is None:
        return cut
    agree = ((scores - zero > 0) == members).all(axis=1, keepdims=True)
    return np.where(agree, scores - zero, cut)


def _inside(arcs: Arcs) -> list[Any]:
    """The arcs of each row, with Θ at 0 and label k at k + 1; there is no relevance."""
    better, worse = (
        np.where(labels == arcs.n_labels, 0, labels + 1).astype(np.int32)
        for labels in (arcs.better, arcs.worse)
    )
    spans = [slice(a, b) for a, b in pairwise(arcs.ptr.tolist())]
    return [(better[span], worse[span], None) for span in spans]


def _relevance_of(Y: sp.csr_array) -> list[Any]:
    """No arcs yet, and the relevance of each row."""
    none = np.zeros(0, np.int32)
    spans = [slice(a, b) for a, b in pairwise(Y.indptr.tolist())]
    return [(none, none, (Y.indices[span].astype(np.int32), Y.data[span])) for span in spans]


def _median(reached: Any) -> float | None:
    """The median of what is above 0."""
    above = np.asarray(reached)
    above = above[above > 0]
    return float(np.median(above)) if len(above) else None


def _tell_empty(X: sp.csr_array) -> None:
    n_empty = int((np.diff(X.indptr) == 0).sum())
    if n_empty:
        warnings.warn(
            f"{n_empty} of {X.shape[0]} instances have no feature (such as a word) that the model "
            "knows, so nothing was learned from them", UserWarning, stacklevel=4,
        )  # fmt: skip
