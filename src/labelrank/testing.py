"""The promises that every learner keeps, as functions; `check_learner` runs them over one."""

import copy
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from labelrank import decoding, persistence
from labelrank._types import Array
from labelrank.errors import InputError, ModelFileError
from labelrank.learners.base import LabelRanker
from labelrank.tagger import Tagger

ANSWERS = ("decision_function", "predict", "rank", "answer", "predict_proba")


@dataclass
class Case:
    """A learner that is not fitted, with seeds, and data to learn from."""

    learner: Any
    X: Any
    Y: Array

    def made(self, **parameters: Any) -> Any:
        """A learner of the same settings that has learned nothing."""
        return clone(self.learner).set_params(**parameters)

    @cached_property
    def _once(self) -> Any:
        return self.made().fit(self.X, self.Y)

    @property
    def fitted(self) -> Any:
        """The learner after `fit`, for the caller alone."""
        return copy.deepcopy(self._once)

    @property
    def learns_in_pieces(self) -> bool:
        return hasattr(self.learner, "partial_fit")


def case(learner: Any, n_instances: int = 48, n_labels: int = 4) -> Case:
    """The learner with every `random_state` set, and texts or counts with labels that fit them."""
    names = learner.get_params(deep=True)
    seeds = {name: 7 for name in names if name.endswith("random_state")}
    random = np.random.default_rng(3)
    X = random.integers(1, 16, (n_instances, 7)) / 8.0 * (random.random((n_instances, 7)) < 0.7)
    noise = random.random((n_instances, n_labels))
    Y = (X[:, np.arange(n_labels) % 7] + noise > 1.5).astype(np.int64)
    Y[0], Y[1] = 1, 0
    if get_tags(learner).input_tags.string:
        X = np.array([" ".join(f"w{j}" for j in np.flatnonzero(row)) for row in X], object)
        X = X[:, None]
    return Case(clone(learner).set_params(**seeds), X, Y)


def check_learner(learner: Any, *, leaving_out: Collection[str] = ()) -> None:
    """Raise an AssertionError that names the first promise which the learner breaks.

    `leaving_out` names promises (functions of this module) that the learner does not make.

    >>> from labelrank import Rocchio
    >>> check_learner(Rocchio(), leaving_out=["unknown_labels_state_nothing"])
    """
    made = case(learner)
    for promise in PROMISES:
        if promise.__name__ not in leaving_out:
            check_promise(promise, made)


def check_promise(promise: Callable[[Case], None], made: Case) -> None:
    """Raise one sentence, with the promise in it, if the learner breaks it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            promise(made)
    except AssertionError as error:
        sentence = (promise.__doc__ or promise.__name__).split(".")[0]
        raise AssertionError(f"{made.learner!r} breaks a promise: {sentence} ({error})") from error


def pieces_equal_the_whole(case: Case) -> None:
    """What is learned in pieces is what is learned at once, bit for bit."""
    if not case.learns_in_pieces:
        return
    whole, pieces = case.made().partial_fit(case.X, case.Y), case.made()
    for rows in np.split(np.arange(len(case.Y)), [1, 20, 21]):
        pieces.partial_fit(case.X[rows], case.Y[rows])
    _check_same_learning(pieces, whole, case.X)


def threads_change_nothing(case: Case) -> None:
    """Any number of threads learns and answers the same, bit for bit."""
    names = [name for name in case.learner.get_params(deep=True) if name.endswith("n_jobs")]
    if names:
        one, two = (case.made(**dict.fromkeys(names, n)).fit(case.X, case.Y) for n in (1, 2))
        _check_same_learning(two, one, case.X)


def predicting_changes_nothing(case: Case) -> None:
    """Answering, explaining and counting change no attribute."""
    learner = case.fitted
    before, name = snapshot(learner), _digest(learner)
    answers(learner, case.X)
    for method in ("duels", "count_operations", "staged_decision_function"):
        if hasattr(learner, method):
            getattr(learner, method)(case.X)
    if hasattr(learner, "why"):
        with suppress(InputError):  # some learners explain only some of their settings
            learner.why(case.X[:1], 0)
    learner.score(case.X, case.Y)
    assert snapshot(learner) == before, "an attribute is another one after predicting"
    assert _digest(learner) == name, "the digest is another one after predicting"


def saved_is_loaded(case: Case) -> None:
    """A loaded model answers and learns on as the saved one, bit for bit."""
    learner = case.fitted
    with tempfile.TemporaryDirectory() as folder:
        loaded = persistence.load(persistence.save(learner, Path(folder) / "model"))
    _check_same_learning(loaded, learner, case.X)
    if case.learns_in_pieces:
        for model in (learner, loaded):
            model.partial_fit(case.X[:9], case.Y[:9])
        _check_same_learning(loaded, learner, case.X)


def refusals_leave_no_trace(case: Case) -> None:
    """A refused fit or piece leaves the learner as it was."""
    fitted, fresh = case.fitted, case.made()
    before, empty = snapshot(fitted), snapshot(fresh)
    for what, X, Y in _bad_data(case):
        for learner, state in ((fitted, before), (fresh, empty)):
            _check_refused(learner.fit, X, Y, what)
            assert snapshot(learner) == state, f"fit, refused for {what}, leaves a trace"
            if case.learns_in_pieces:
                _check_refused(learner.partial_fit, X, Y, what)
                assert snapshot(learner) == state, f"a piece, refused for {what}, leaves a trace"
    if case.learns_in_pieces:
        other = [("another number of labels", case.X, case.Y[:, :-1])]
        if case.X.dtype.kind == "f":
            other.append(("another number of features", case.X[:, :-1], case.Y))
        for what, X, Y in other:
            _check_refused(fitted.partial_fit, X, Y, what)
            assert snapshot(fitted) == before, f"a piece, refused for {what}, leaves a trace"
        more = case.X[:5], case.Y[:5]
        _check_same_learning(fitted.partial_fit(*more), case.fitted.partial_fit(*more), case.X)


def new_labels_are_taken_or_refused(case: Case) -> None:
    """Labels declared later are learned, or refused without a trace."""
    learn = getattr(case.learner, "partial_fit", case.learner.fit)
    if "classes" not in signature(learn).parameters:
        return
    fitted, K = case.fitted, case.Y.shape[1]
    before = snapshot(fitted)
    wider = np.column_stack([case.Y[:9], case.Y[:9, 0]])
    try:
        fitted.partial_fit(case.X[:9], wider, classes=np.arange(K + 1))
    except ValueError:
        assert snapshot(fitted) == before, "refused labels leave a trace"
    else:
        width = fitted.decision_function(case.X).shape[1]
        assert width == K + 1, f"after a new label it has {width} scores, not {K + 1}"


def a_clone_is_the_original(case: Case) -> None:
    """A clone of a fitted learner has its settings, and learns the same."""
    again = clone(case.fitted)
    settings = [snapshot(one.get_params(deep=True)) for one in (again, case.made())]
    assert settings[0] == settings[1], "the clone has other parameters"
    _check_same_learning(again.fit(case.X, case.Y), case.fitted, case.X)


def fitting_forgets(case: Case) -> None:
    """A second fit forgets the first."""
    learner = case.made().fit(case.X[::-1][:30], 1 - case.Y[:30])
    _check_same_learning(learner.fit(case.X, case.Y), case.fitted, case.X)


def the_seed_decides_everything(case: Case) -> None:
    """With its seeds set a learner learns the same, whatever numbers others draw."""
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(1)  # noqa: NPY002
        first = case.made().fit(case.X, case.Y)
        np.random.seed(2)  # noqa: NPY002
        second = case.made().fit(case.X, case.Y)
    finally:
        np.random.set_state(state)  # noqa: NPY002
    _check_same_learning(second, first, case.X)


def scores_ranking_and_set_agree(case: Case) -> None:
    """The ranking sorts the scores, and the predicted set is a prefix of it."""
    learner = case.fitted
    if not isinstance(learner, LabelRanker):
        return
    scores, members = learner.answer(case.X)
    ranking = learner.rank(case.X)
    _check_equal(learner.predict(case.X).astype(bool), members, "predict and answer")
    _check_equal(learner.decision_function(case.X), scores, "decision_function and answer")
    _check_equal(learner.rank(case.X, top=2), ranking[:, :2], "rank with and without top")
    for row, chosen, order in zip(scores, members, ranking, strict=True):
        n_members = np.count_nonzero(chosen)
        assert chosen[order[:n_members]].all(), "the set is no prefix of the ranking"
        for part in (order[:n_members], order[n_members:]):
            assert (np.diff(row[part]) <= 0).all(), "the ranking does not sort the scores"
    _check_equal(decoding.rank(scores, None, members), ranking, "the ranking and its scores")


def probabilities_agree_with_the_answers(case: Case) -> None:
    """Probabilities lie in 0 to 1, and never contradict the ranking or the set."""
    learner = case.fitted
    if not isinstance(learner, LabelRanker):
        return
    shares, members = learner.predict_proba(case.X), learner.answer(case.X).members
    assert isinstance(shares, np.ndarray), "the probabilities are no matrix"
    assert shares.shape == case.Y.shape, f"{shares.shape} probabilities for {case.Y.shape} labels"
    assert shares.dtype.kind == "f", "the probabilities are no floating-point numbers"
    assert ((shares >= 0) & (shares <= 1)).all(), "a probability is outside 0 to 1"
    along = np.take_along_axis(shares, learner.rank(case.X), axis=1)
    assert (np.diff(along, axis=1) <= 0).all(), "a label is more probable than one ranked above it"
    least = np.where(members, shares, np.inf).min(axis=1)
    most = np.where(members, -np.inf, shares).max(axis=1)
    assert (least >= most).all(), "a label of the set is less probable than one outside"
    parts = [learner.predict_proba(case.X[rows]) for rows in (slice(5), slice(5, None))]
    assert np.allclose(np.vstack(parts), shares, 1e-6), "probabilities depend on other rows"


def every_form_of_X_gives_the_same_answer(case: Case) -> None:
    """Dense and sparse instances, of any order and type, and frames give the same answers."""
    if get_tags(case.learner).input_tags.string:
        return
    import pandas

    wide = sp.csr_array(case.X)
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    frame = pandas.DataFrame(case.X, columns=[f"f{j}" for j in range(case.X.shape[1])])
    forms = {
        "CSR": sp.csr_array(case.X), "CSC": sp.csc_matrix(case.X), "COO": sp.coo_array(case.X),
        "CSR with int64 indices": wide, "CSR with values in halves": halved(case.X),
        "float32": case.X.astype(np.float32), "Fortran order": np.asfortranarray(case.X),
        "a frame": frame,
    }  # fmt: skip
    if isinstance(case.learner, Tagger):  # it prepares the columns of a frame: a table, not X
        del forms["a frame"]
    expected = case.fitted.decision_function(case.X)
    for name, form in forms.items():
        for learner in (case.made().fit(form, case.Y), case.fitted):
            scores = learner.decision_function(form)
            assert np.allclose(scores, expected, 1e-4, 1e-5), f"X as {name} gives other scores"


def halved(X: Array) -> sp.csr_array:
    """The matrix with each value stored twice, half of it each time."""
    rows, columns = np.nonzero(X)
    indptr = np.concatenate(([0], np.cumsum(2 * np.bincount(rows, minlength=len(X)))))
    values = np.repeat(X[rows, columns] / 2, 2)
    return sp.csr_array((values, np.repeat(columns, 2), indptr), shape=X.shape)


def every_form_of_Y_gives_the_same_answer(case: Case) -> None:
    """Relevance as numbers of any type, dense or sparse, or as label lists, teaches the same."""
    from labelrank import RelevanceBinarizer

    labels = np.arange(case.Y.shape[1])
    lists = [labels[row > 0].tolist() for row in case.Y]
    forms = {
        "bool": case.Y.astype(bool), "int8": case.Y.astype(np.int8),
        "float": case.Y.astype(np.float64), "CSR": sp.csr_array(case.Y),
        "CSC": sp.csc_matrix(case.Y), "lists": RelevanceBinarizer(classes=labels)
        .fit_transform(lists),
    }  # fmt: skip
    expected = case.fitted.decision_function(case.X)
    for name, form in forms.items():
        scores = case.made().fit(case.X, form).decision_function(case.X)
        _check_equal(scores, expected, f"Y as {name} and as integers")


def unknown_labels_state_nothing(case: Case) -> None:
    """An instance whose labels are all unknown changes no score."""
    if not case.learns_in_pieces:
        return
    learner = case.made().partial_fit(case.X, case.Y)
    before = learner.decision_function(case.X)
    learner.partial_fit(case.X[3:5], np.full((2, case.Y.shape[1]), np.nan))
    _check_equal(learner.decision_function(case.X), before, "scores after and before")


def the_input_is_never_modified(case: Case) -> None:
    """Arrays that are given to a learner stay as they are."""
    forms = [(case.X.copy(), case.Y.copy())]
    if not get_tags(case.learner).input_tags.string:
        forms.append((sp.csr_array(case.X), sp.csr_array(case.Y.astype(float))))
    for X, Y in forms:
        before = snapshot((X, Y))
        learner = case.made()
        if case.learns_in_pieces:
            learner.partial_fit(X, Y)
        answers(learner.fit(X, Y), X)
        assert snapshot((X, Y)) == before, "X or Y is another one afterwards"


PROMISES: tuple[Callable[[Case], None], ...] = (
    pieces_equal_the_whole, threads_change_nothing, predicting_changes_nothing, saved_is_loaded,
    refusals_leave_no_trace, new_labels_are_taken_or_refused, a_clone_is_the_original,
    fitting_forgets, the_seed_decides_everything, scores_ranking_and_set_agree,
    probabilities_agree_with_the_answers,
    every_form_of_X_gives_the_same_answer, every_form_of_Y_gives_the_same_answer,
    unknown_labels_state_nothing, the_input_is_never_modified,
)  # fmt: skip


def answers(learner: Any, X: Any) -> dict[str, Any]:
    """What a fitted learner says of instances, by method."""
    return {name: getattr(learner, name)(X) for name in ANSWERS if hasattr(learner, name)}


def snapshot(value: Any, _open: tuple[int, ...] = ()) -> Any:
    """All that a value holds, down to the last bit, in a form that can be compared."""
    if id(value) in _open:
        return "itself"
    _open = (*_open, id(value))
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.ndarray | list | tuple):
        return type(value).__name__, [snapshot(item, _open) for item in value]
    if isinstance(value, dict):
        return [(repr(key), snapshot(item, _open)) for key, item in value.items()]
    if isinstance(value, np.random.RandomState):
        return snapshot(value.get_state(legacy=False), _open)
    if hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        return type(value).__name__, snapshot(dict(sorted(vars(value).items())), _open)
    return repr(value)


def _check_equal(a: Any, b: Any, what: str) -> None:
    a, b = (one.toarray() if sp.issparse(one) else one for one in (a, b))
    same = np.array_equal(a, b) if isinstance(a, np.ndarray) else snapshot(a) == snapshot(b)
    assert same, f"{what} differ"


def _check_same_learning(a: Any, b: Any, X: Any) -> None:
    expected = answers(b, X)
    for name, answer in answers(a, X).items():
        _check_equal(answer, expected[name], f"the answers of {name}")
    assert _digest(a) == _digest(b), "what they learned has another digest"


def _digest(learner: Any) -> str | None:
    """The digest of a learner that model files can hold."""
    with suppress(ModelFileError):
        return persistence.digest(learner)
    return None


def _bad_data(case: Case) -> Iterator[tuple[str, Any, Any]]:
    X, Y = case.X, case.Y.astype(float)
    yield "another number of rows", X, Y[:-1]
    yield "negative relevance", X, Y - 2.0
    yield "infinite relevance", X, np.where(Y > 0, np.inf, 0.0)
    if X.dtype.kind == "f":
        for wrong in (np.nan, np.inf):
            bad = X.copy()
            bad[-1, 2] = wrong
            yield f"a value {wrong}", bad, Y


def _check_refused(learn: Callable[..., Any], X: Any, Y: Any, what: str) -> None:
    try:
        learn(X, Y)
    except ValueError:
        return
    raise AssertionError(f"{what} is not refused")
