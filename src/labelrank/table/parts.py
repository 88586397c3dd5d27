"""The features of one column: learned once, then made for each row alone.

A number, a category, a vector and a text column are one part each; a date is several, such as its
month. A part reads `Read` values of its column and gives a block of rows × features.
"""

import math
from collections import Counter
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.declared import array, nested, stored, value
from labelrank.errors import InputError
from labelrank.table.written import NO, YES
from labelrank.text import TextVectorizer

# Numbers farther from the middle than so many spreads grow by their logarithm only.
_BENDS = (3.0, 10.0)
# No value may lie farther out than this after scaling, however rare it is.
_FARTHEST = 10.0
_LARGEST = 1e300
# So many widths of the learned range away, a number is told of.
_FAR = 10.0
OTHER = "(other)"


def bent(values: Array) -> Array:
    """The values, where the excess over 3 is replaced by its logarithm, and again that over 10.

    >>> bent(np.array([0.5, -3.0, 50.0, 1e300])).round(1).tolist()
    [0.5, -3.0, 6.9, 16.5]
    """
    for bend in _BENDS:
        excess = np.maximum(np.abs(values) - bend, 0.0)
        values = np.where(excess > 0, np.sign(values) * (bend + np.log1p(excess)), values)
    return values


class Learned(NamedTuple):
    """What a part is learned from: its values, and which of them are gaps."""

    values: Any
    gaps: Array


def _named(column: str, what: str) -> str:
    return f"{column}: {what}" if what else column


def _with_flag(values: Array, gaps: Array, flagged: bool) -> Array:
    """A block of numbers, zero at gaps, with a last column that flags these."""
    values = np.where(gaps[:, None], 0.0, values)
    return np.column_stack([values, gaps.astype(float)]) if flagged else values


@stored(
    "NumberPart", 2, column=value(str), what=value(str), middle=value(float), spread=value(float),
    mean=value(float), deviation=value(float), flagged=value(bool),
    least=value(float, optional=True), most=value(float, optional=True),
)  # fmt: skip
class NumberPart(NamedTuple):
    """A number: middle off, by its spread, tails bent, then of mean 0 and deviation 1.

    Middle and spread are the median and the distance of the quartiles (1 for a normal
    distribution), so that a few wild values do not decide how the others are told apart.
    """

    column: str
    what: str
    middle: float
    spread: float
    mean: float
    deviation: float
    flagged: bool
    least: float | None = None
    most: float | None = None

    @classmethod
    def of(cls, column: str, what: str, learned: Learned, flagged: bool) -> Self | None:
        """The part for these numbers; None where all are equal."""
        values = learned.values[~learned.gaps]
        if not len(values) or values.min() == values.max():
            return None
        middle, spread = _middle_and_spread(values)
        least, most = float(values.min()), float(values.max())
        raw = cls(column, what, middle, spread, 0.0, 1.0, False, least, most)
        straight = raw.scaled(values)
        reach = float(np.abs(straight - straight.mean()).max())
        deviation = max(float(straight.std()), reach / _FARTHEST)
        return raw._replace(mean=float(straight.mean()), deviation=deviation, flagged=flagged)

    def scaled(self, values: Array) -> Array:
        """The values on the scale of the training data."""
        with np.errstate(over="ignore"):
            far = np.clip((values - self.middle) / self.spread, -_LARGEST, _LARGEST)
        return (bent(far) - self.mean) / self.deviation

    def are_far(self, values: Array) -> Array:
        """Which values lie ten times the width of the learned range, or more, outside of it."""
        if self.least is None or self.most is None:
            return np.zeros(len(values), bool)
        with np.errstate(over="ignore", invalid="ignore"):
            reach = _FAR * (np.float64(self.most) - self.least)
            return (values < self.least - reach) | (values > self.most + reach)

    def far_told(self, n_far: int, n_rows: int, first: int) -> str:
        """The sentence on numbers far outside those that were learned; rows count from 0."""
        are = "is" if n_far == 1 else "are"
        return (
            f"column {self.column!r}: {n_far:,} of {n_rows:,} values {are} far outside what was "
            f"learned ({self.least:g} to {self.most:g}), first in row {first + 1:,}"
        )

    def features(self, read: Learned) -> Array:
        """One feature per row, and maybe the flag of gaps."""
        return _with_flag(self.scaled(read.values)[:, None], read.gaps, self.flagged)

    def names(self) -> list[str]:
        """The names of the features."""
        return [_named(self.column, self.what), *[f"{self.column} is missing"] * self.flagged]

    def absent(self) -> list[str]:
        """What each feature says where it is 0."""
        return [_named(self.column, self.what), *[f"{self.column} is given"] * self.flagged]

    def after_loading(self) -> None:
        if not (self.spread > 0 and self.deviation > 0):
            raise ValueError(f"{self.column[:40]!r} has no spread")


def _middle_and_spread(values: Array) -> tuple[float, float]:
    largest = float(np.abs(values).max())
    low, middle, high = np.quantile(values / largest, [0.25, 0.5, 0.75])
    spread = (high - low) / 1.349 or float((values / largest).std())
    tiny = float(np.finfo(float).tiny)
    return float(middle) * largest, max(spread * largest, tiny)


@stored(
    "CategoryPart", 1, column=value(str), what=value(str), flagged=value(bool),
    values=array("O", "n"), folded=value(bool),
)  # fmt: skip
class CategoryPart(NamedTuple):
    """A category: 1 at its value, else 0; a value never met is none, or one of the rare others.

    Of yes and no in any language, only yes has a feature.
    """

    column: str
    what: str
    values: Array
    folded: bool
    flagged: bool

    @classmethod
    def of(cls, column: str, what: str, learned: Learned, flagged: bool, most: int) -> Self | None:
        """The part for these names, of which the `most` frequent get a feature of their own."""
        counts = Counter(name for name in learned.values if name is not None)
        if len(counts) + flagged < 2:
            return None
        kept = sorted(counts, key=lambda name: (-counts[name], name))[:most]
        yes = [name for name in kept if name.lower() in YES]
        if len(kept) == 2 and len(yes) == 1 and not NO.isdisjoint(map(str.lower, kept)):
            kept = yes  # one feature says both
        values = np.array(sorted(kept, key=_natural), dtype=object)
        return cls(column, what, values, len(counts) > most, flagged)

    def features(self, read: Learned) -> sp.csr_array:
        """One feature per value; those of rare values and of gaps come last."""
        place = {name: k for k, name in enumerate(self.values)}
        if self.is_yes:
            place |= {name: 0 for name in read.values if name is not None and name.lower() in YES}
        if self.flagged:
            place[None] = len(self.values) + self.folded
        nothing = len(self.values) if self.folded else -1
        n = len(read.values)
        found = np.fromiter((place.get(name, nothing) for name in read.values), np.int64, n)
        if not self.flagged:
            found[read.gaps] = -1
        used = found >= 0
        ends = np.concatenate([[0], np.cumsum(used)])
        return sp.csr_array((np.ones(ends[-1]), found[used], ends), shape=(n, len(self.names())))

    @property
    def is_yes(self) -> bool:
        """Whether the one feature says yes, in any spelling, and no says nothing."""
        return len(self.values) == 1 and not self.folded and self.values[0].lower() in YES

    def are_met(self, names: Array) -> Array:
        """Which of the names are values of the training data; gaps are."""
        if self.is_yes:
            return np.array([n is None or n.lower() in YES or n.lower() in NO for n in names], bool)
        known = {None, *self.values}
        return np.array([self.folded or name in known for name in names], bool)

    def names(self) -> list[str]:
        """The names of the features."""
        values = [*self.values, *[OTHER] * self.folded]
        flag = [f"{self.column} is missing"] * self.flagged
        return [f"{_named(self.column, self.what)} = {name}" for name in values] + flag

    def absent(self) -> list[str]:
        """What each feature says where it is 0."""
        values = [*self.values, *[OTHER] * self.folded]
        flag = [f"{self.column} is given"] * self.flagged
        return [f"{_named(self.column, self.what)} is not {name}" for name in values] + flag

    def after_loading(self) -> None:
        if len(set(self.values)) != len(self.values) or not len(self.values):
            raise ValueError(f"{self.column[:40]!r} has categories that are not distinct")


def _natural(name: str) -> tuple[float, str]:
    """Whole numbers in their order, before other names."""
    return (float(name), "") if name.isdecimal() and len(name) < 16 else (math.inf, name)


@stored(
    "VectorPart", 1, column=value(str), center=array("f8", "n"), spread=value(float),
    flagged=value(bool),
)  # fmt: skip
class VectorPart(NamedTuple):
    """A vector, such as an embedding: its mean off, all of it by one spread."""

    column: str
    center: Array
    spread: float
    flagged: bool

    @classmethod
    def of(cls, column: str, learned: Learned, flagged: bool) -> Self | None:
        """The part for these vectors; None where all are equal."""
        values = learned.values[~learned.gaps]
        if not values.size:
            return None
        largest = float(np.abs(values).max()) or 1.0
        center = (values / largest).mean(axis=0)
        spread = math.sqrt(float((values / largest).var(axis=0).mean()))
        tiny = float(np.finfo(float).tiny)
        return (
            cls(column, center * largest, max(spread * largest, tiny), flagged) if spread else None
        )

    def features(self, read: Learned) -> Array:
        """One feature per place of the vector, and maybe the flag of gaps."""
        with np.errstate(over="ignore"):
            far = np.clip((read.values - self.center) / self.spread, -_LARGEST, _LARGEST)
        scaled = np.where(np.abs(far) > _FARTHEST, np.sign(far) * _FARTHEST, far)
        return _with_flag(scaled, read.gaps, self.flagged)

    def names(self) -> list[str]:
        """The names of the features."""
        places = [f"{self.column}[{k}]" for k in range(len(self.center))]
        return [*places, *[f"{self.column} is missing"] * self.flagged]

    def absent(self) -> list[str]:
        """What each feature says where it is 0."""
        places = [f"{self.column}[{k}]" for k in range(len(self.center))]
        return [*places, *[f"{self.column} is given"] * self.flagged]

    def after_loading(self) -> None:
        if not (self.spread > 0 and len(self.center)):
            raise ValueError(f"{self.column[:40]!r} has no spread")


@stored("TextPart", 1, column=value(str), vectorizer=nested("TextVectorizer"))
class TextPart(NamedTuple):
    """A text, by its terms."""

    column: str
    vectorizer: TextVectorizer

    @classmethod
    def of(cls, column: str, learned: Learned, vectorizer: TextVectorizer) -> Self:
        """The part for these texts; gaps are empty texts."""
        try:
            return cls(column, vectorizer.fit(learned.values))
        except InputError as error:
            way = "give the column the role category or ignore"
            raise InputError(f"text column {column!r} has no terms ({error}); {way}") from error

    def features(self, read: Learned) -> sp.csr_array:
        """One feature per term."""
        return self.vectorizer.transform(read.values)

    def names(self) -> list[str]:
        """The names of the features."""
        return [f"{self.column}: {term}" for term in self.vectorizer.get_feature_names_out()]

    def absent(self) -> list[str]:
        """What each feature says where it is 0."""
        return [f"{self.column}: no {term}" for term in self.vectorizer.get_feature_names_out()]


Part = NumberPart | CategoryPart | VectorPart | TextPart
