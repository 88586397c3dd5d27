"""A table of any kind as a matrix of features: learned once, stored with the model."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array
from labelrank.declared import array, check_parameters, choice, nested, number, stored, value
from labelrank.errors import FarValueWarning, InputError, meant
from labelrank.table import calendar
from labelrank.table.cells import Cells
from labelrank.table.frame import columns_of, is_frame, n_rows, names_of
from labelrank.table.parts import CategoryPart, Learned, NumberPart, Part, TextPart, VectorPart
from labelrank.table.reading import DATE_CATEGORIES, DATE_NUMBERS, read
from labelrank.table.roles import USED, Column, listed, roles_of
from labelrank.table.written import is_form
from labelrank.text import REPRESENTATIONS, make_vectorizer

# A matrix of more columns than this, of which so few values are not zero, is sparse.
_NARROW, _SPARSE = 64, 0.25
# The length of the rows of each group of columns, where there are several groups.
_BALANCE = 1.0
_DATE_FORMS = ("", "month first", "day first")
# So many rows with a category that was never met are told of.
_ROWS_PER_STRANGE = 10


@stored(
    "TablePreparation", 1, columns_=nested("Column", many=True),
    parts_=nested("NumberPart", "CategoryPart", "VectorPart", "TextPart", many=True),
    feature_names_in_=array("O", "c"), weights_=array("f8", "p"), sparse_=value(bool),
)  # fmt: skip
@dataclass(eq=False, repr=False)
class TablePreparation(TransformerMixin, BaseEstimator):
    """A table (pandas, polars, a dict of columns) to a matrix of features.

    Numbers are scaled robustly, categories become one feature per value, dates their parts
    (days; year, month, weekday, day and hour where labels depend on them), texts their terms,
    vectors are scaled as one. Gaps are zero and flagged by a feature; identifiers and constants are
    left out. Columns are found by name, further ones ignored. Each row is prepared alone, so
    batches do not matter.

    Parameters
    ----------
    roles : dict or None
        Roles by column name that overrule what is found: "text", "number", "category", "date",
        "vector", "id", "ignore".
    representation, max_terms
        How texts become features, see `labelrank.text.TextVectorizer`; per column.
    max_categories : int
        So many values of a category, the most frequent ones, have a feature of their own; the
        others share one, as do values that are met only later. A value that was never met is
        zero in all features where there were no others.
    decimal : {".", ",", None}
        The decimal mark where the numbers of a column leave it open, as 1,234 does.
    mistakes : {"error", "gap"}
        What a cell is that its column cannot hold, such as 1O among numbers: an error that names
        row and column, or a gap.

    Attributes
    ----------
    columns_ : list of Column, the role of each column and why it has it
    parts_, weights_ : what makes the features, and the factor of each
    sparse_ : bool, whether the matrix is CSR
    feature_names_in_, n_features_in_ : the columns of the table

    Examples
    --------
    >>> from labelrank.table import TablePreparation
    >>> table = {"age": [31, None, 45, 20], "colour": ["red", "blue", "red", "blue"]}
    >>> preparation = TablePreparation().fit(table)
    >>> preparation.get_feature_names_out().tolist()
    ['age', 'age is missing', 'colour = blue', 'colour = red']
    >>> preparation.transform({"colour": ["red", "green"], "age": [None, 31]}).round(1).tolist()
    [[0.0, 1.0, 0.0, 1.0], [-0.1, 0.0, 0.0, 0.0]]
    """

    roles: Mapping[str, str] | None = None
    _: KW_ONLY
    representation: str = choice(*REPRESENTATIONS)
    max_terms: int | None = number(None, least=1, whole=True, or_none=True)
    max_categories: int = number(200, least=1, whole=True)
    decimal: str | None = choice(None, ".", ",")
    mistakes: str = choice("error", "gap")

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn roles, values and scales of the columns, and which parts of dates count."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: object = None, **_: object) -> Any:
        """Learn from the table and return its features, reading it once.

        Of dates, all but the days is left out where no label of `y` (rows × labels) depends on it.
        """
        check_parameters(self)
        columns = columns_of(_frame(X))
        if not n_rows(columns):
            raise InputError("got a table without rows; give at least one to learn from")
        cells = {name: Cells(raw) for name, raw in columns.items()}
        found = roles_of(cells, self.roles, self.decimal, self.mistakes == "gap")
        Y = calendar.as_relevance(y, n_rows(columns))
        made: list[tuple[Part, Any]] = []
        kept = []
        for column in found:
            learned = self._learned(column, cells[column.name], Y)
            made += [(part, part.features(values)) for part, values in learned]
            kept.append(_as_used(column, [part for part, _ in learned]))
        if not made:
            reasons = ", ".join(f"{c.name!r}: {c.why}" for c in kept[:5])
            raise InputError(
                f"no column of the table is of use ({reasons}); add columns, or give some a role "
                "by roles={...}"
            )
        self.feature_names_in_ = np.array(list(columns), dtype=object)
        self.columns_, self.parts_ = kept, [part for part, _ in made]
        self.weights_ = _weights(made)
        self.sparse_ = _is_sparse([block for _, block in made], self.parts_)
        return self._joined([block for _, block in made])

    def transform(self, X: Any) -> Any:
        """Features of the rows of a table, of which columns are found by name."""
        check_is_fitted(self)
        frame = _frame(X)
        used = [column for column in self.columns_ if column.role in USED]
        _check_names(frame, [column.name for column in used])
        columns = columns_of(frame, [column.name for column in used])
        lenient = self.mistakes == "gap"
        blocks = []
        for column in used:
            parts = [part for part in self.parts_ if part.column == column.name]
            cells = Cells(columns[column.name])
            width = next((len(p.center) for p in parts if isinstance(p, VectorPart)), None)
            values = read(column, cells, lenient=lenient, width=width)
            _tell_strange(parts, values)
            _tell_far(parts, values)
            blocks += [part.features(values[getattr(part, "what", "")]) for part in parts]
        return self._joined(blocks)

    def far_values(self, X: Any) -> Iterator[tuple[NumberPart, Array]]:
        """The columns with numbers far outside all that were learned, and which rows have them."""
        parts = {p.column: p for p in self.parts_ if isinstance(p, NumberPart) and not p.what}
        forms = {column.name: column.form for column in self.columns_}
        for name, raw in columns_of(_frame(X), parts).items():
            far = parts[name].are_far(Cells(raw).numbers(forms[name])[0])
            if far.any():
                yield parts[name], far

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """The name of each feature in words of the table: "age", "colour = red"."""
        check_is_fitted(self)
        return np.array([name for part in self.parts_ for name in part.names()], dtype=object)

    def names_in(self, row: Any) -> Array:
        """What each feature says of one row: "colour is not red" where that feature is 0."""
        zero = (row.toarray() if sp.issparse(row) else np.asarray(row)).ravel() == 0
        absent = np.array([name for part in self.parts_ for name in part.absent()], dtype=object)
        return np.where(zero, absent, self.get_feature_names_out())

    @property
    def n_features_in_(self) -> int:
        """How many columns the table had."""
        return len(self.feature_names_in_)

    @property
    def n_columns_(self) -> int:
        """How many features a row has."""
        return sum(len(part.names()) for part in self.parts_)

    def after_loading(self) -> None:
        check_parameters(self)
        roles = {column.name: column.role for column in self.columns_}
        if list(roles) != self.feature_names_in_.tolist():
            raise ValueError("columns that are not those of the table")
        for column in self.columns_:
            is_form_of = {"number": is_form, "date": _DATE_FORMS.__contains__}.get(column.role)
            if is_form_of is not None and not is_form_of(column.form):
                raise ValueError(f"cells written as {column.form[:40]!r}")
        for part in self.parts_:
            if type(part) is not _kind(roles.get(part.column, ""), getattr(part, "what", "")):
                raise ValueError(f"a part that does not fit column {part.column[:40]!r}")
        weights = self.weights_
        if len(weights) != len(self.parts_) or not (weights > 0).all():
            raise ValueError("weights that do not fit the parts")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    def _learned(self, column: Column, cells: Cells, Y: Any) -> list[tuple[Part, Learned]]:
        """The parts of a column with the values they learned from; none where it is left out."""
        if column.role not in USED:
            return []
        values = read(column, cells, lenient=self.mistakes == "gap")
        flagged = column.role != "text" and any(one.gaps.any() for one in values.values())
        parts: list[tuple[Part, Learned]] = []
        for what, one in values.items():
            if Y is not None and what in calendar.PARTS and not calendar.tells(one, Y):
                continue
            part = self._part(column, what, one, flagged)
            if part is not None:
                parts.append((part, one))
                flagged = False  # one flag per column
        return parts

    def _part(self, column: Column, what: str, values: Learned, flagged: bool) -> Part | None:
        name, kind = column.name, _kind(column.role, what)
        if kind is TextPart:
            vectorizer = make_vectorizer(self.representation, max_terms=self.max_terms)
            return TextPart.of(name, values, vectorizer)
        if kind is VectorPart:
            return VectorPart.of(name, values, flagged)
        if kind is NumberPart:
            return NumberPart.of(name, what, values, flagged)
        return CategoryPart.of(name, what, values, flagged, self.max_categories)

    def _joined(self, blocks: list[Any]) -> Any:
        """All blocks side by side, each with its weight."""
        weighted = [
            block if weight == 1.0 else block * weight
            for block, weight in zip(blocks, self.weights_.tolist(), strict=True)
        ]
        if self.sparse_:
            parts = [sp.csr_array(block, dtype=np.float32) for block in weighted]
            return sp.csr_array(sp.hstack(parts, format="csr"))
        dense = [block.toarray() if sp.issparse(block) else block for block in weighted]
        return np.hstack(dense)


def _kind(role: str, what: str) -> type | None:
    """The class of the part that makes features of this, or None."""
    if role == "date":
        in_date = {**dict.fromkeys(DATE_NUMBERS, NumberPart)}
        return {**in_date, **dict.fromkeys(DATE_CATEGORIES, CategoryPart)}.get(what)
    kinds = {"number": NumberPart, "category": CategoryPart, "vector": VectorPart, "text": TextPart}
    return None if what else kinds.get(role)


def _frame(X: Any) -> Any:
    """The table; the columns of a matrix are called x0, x1, ..."""
    if is_frame(X):
        return X
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return {f"x{k}": X[:, k] for k in range(X.shape[1])}
    raise InputError(
        f"got {type(X).__name__} where a table is wanted; give a DataFrame, or a dict of columns"
    )


def _check_names(frame: Any, used: Iterable[str]) -> None:
    """Raise InputError naming the columns that a table lacks."""
    used, there = list(used), names_of(frame)
    missing = [name for name in used if name not in set(there)]
    free = [name for name in there if name not in set(used)]
    if missing:
        are = "column {} is" if len(missing) == 1 else "columns {} are"
        raise InputError(
            f"{are.format(listed(missing))} not in the table, which has {listed(there) or 'none'}; "
            f"{meant(missing[0], free)}give the columns that the model has learned"
        )


def _as_used(column: Column, parts: list[Part]) -> Column:
    """The column as it is used: without parts it is left out; rare categories are told."""
    if column.role in USED and not parts:
        return column._replace(role="constant", why=f"one value only ({column.why})")
    for part in parts:
        if isinstance(part, CategoryPart) and part.folded:
            why = f"{column.why}, all but the {len(part.values)} most frequent are taken as one"
            return column._replace(why=why)
    return column


def _tell_strange(parts: list[Part], values: Mapping[str, Learned]) -> None:
    """A warning where one row in ten, or more, has a category that was not there to learn from."""
    for part in parts:
        if not isinstance(part, CategoryPart) or part.what:
            continue
        are_met = part.are_met(values[""].values)
        if _ROWS_PER_STRANGE * int((~are_met).sum()) >= len(are_met) and not are_met.all():
            warnings.warn(
                f"one row in ten, or more, has a value in column {part.column!r} that the model "
                "has not met; it is taken as none of the known ones",
                stacklevel=4,
            )


def _tell_far(parts: list[Part], values: Mapping[str, Learned]) -> None:
    """A warning where numbers lie far outside all that were learned."""
    for part in parts:
        if isinstance(part, NumberPart) and not part.what:
            far = part.are_far(values[""].values)
            if far.any():
                told = part.far_told(int(far.sum()), len(far), int(far.argmax()))
                warnings.warn(told, FarValueWarning, stacklevel=4)


def _group(part: Part) -> str:
    """Parts of one group share their weight: a text, a vector, all other columns together."""
    return part.column if isinstance(part, TextPart | VectorPart) else ""


def _weights(made: list[tuple[Part, Any]]) -> Array:
    """A factor per part: where there are several groups, each has rows of the same mean square."""
    squares: dict[str, float] = {}
    for part, block in made:
        total = float(np.square(_values(block)).sum())
        squares[_group(part)] = squares.get(_group(part), 0.0) + total / block.shape[0]
    if len(squares) == 1:
        return np.ones(len(made))
    return np.array([_BALANCE / np.sqrt(squares[_group(part)] or 1.0) for part, _ in made])


def _is_sparse(blocks: list[Any], parts: list[Part]) -> bool:
    if any(isinstance(part, TextPart) for part in parts):
        return True
    n_values = sum(block.nnz if sp.issparse(block) else block.size for block in blocks)
    width = sum(block.shape[1] for block in blocks)
    return width > _NARROW and n_values < _SPARSE * width * blocks[0].shape[0]


def _values(block: Any) -> Array:
    return np.asarray(block.data if sp.issparse(block) else block, dtype=float)
