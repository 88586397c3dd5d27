"""`fit` for data in pieces, and for data in the memory of the client."""

import time
from typing import Any

from sklearn.base import clone

from labelrank.datasets.parts import Parts
from labelrank.distributed import blocks
from labelrank.distributed.engine import Cluster, Engine, Report, here, silent
from labelrank.distributed.rows import EngineRunner
from labelrank.distributed.ways import way_of
from labelrank.errors import InputError, MissingError
from labelrank.learners.margins.prosvm import PreferenceSVM
from labelrank.tagger import Tagger
from labelrank.text import TextVectorizer, make_vectorizer


class DaskRunner(EngineRunner):
    """Runs the steps of ADMM on the workers of a `dask.distributed.Client`."""

    def __init__(self, client: Any) -> None:
        super().__init__(Cluster(client))


def fit(learner: Any, X: Any, Y: Any = None, client: Any = None) -> Any:
    """Fit a learner from data in pieces; or a ProSVM or RankSVM from X and Y, over workers.

    ``fit(learner, parts, client)`` gives a fitted `Tagger`. The parts are read by the workers,
    and their rows stay there: see `WAYS` for what each learner does with them. Without a client
    this process reads one part after the other, and keeps the rows on disk meanwhile.

    ``fit(learner, X, Y, client)`` gives the learner, with the weights that `learner.fit(X, Y)` has
    with the same `n_blocks` and `random_state`.

    Parameters
    ----------
    learner : a learner, or a Tagger that holds one and says how texts become features
    X, Y : Parts of `datasets.open_parts`, and the client in place of Y; or as in `fit`
    client : dask.distributed.Client

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> parts = datasets.open_parts("in/*.parquet")  # doctest: +SKIP
    >>> tagger = fit(ProSVM(), parts, Client("scheduler:8786"))  # doctest: +SKIP
    """
    if isinstance(X, Parts):
        client = Y if client is None else client
        tagger = learner if isinstance(learner, Tagger) else Tagger(learner)
        if client is not None:
            return fit_parts(tagger, X, Cluster(client))
        with here() as engine:
            return fit_parts(tagger, X, engine)
    if not isinstance(learner, PreferenceSVM):
        raise InputError(f"got {type(learner).__name__}; give a ProSVM or a RankSVM")
    if not learner.n_blocks > 1:
        raise InputError(f"got n_blocks={learner.n_blocks!r}; give at least 2 to share the work")
    if not hasattr(client, "submit"):
        raise MissingError(f"got {client!r} as client; give a dask.distributed.Client")
    return learner.fit_on(X, Y, DaskRunner(client))


def fit_parts(
    tagger: Tagger, parts: Parts, engine: Engine, *, unlabelled: str = "none",
    report: Report = silent,
) -> Tagger:  # fmt: skip
    """A new tagger that has learned the parts; rows without labels may be left out ("skip")."""
    began = time.perf_counter()
    if tagger.learner is None:
        raise InputError("got no learner; from data in pieces name one, such as ProSVM or BR")
    learner = clone(tagger.learner)
    way = way_of(learner)
    learner.check_parameters()
    way.check(learner)
    handles, common = blocks.make(
        engine, parts, vectorizer_of(tagger, parts), _fixed_names(parts), unlabelled, report
    )
    learned = blocks.note(engine, learner, handles)
    learner.note(learned.whole)
    learner = way.learn(learner, learned, engine)
    facts = {"n_documents": learned.whole.n_rows, "data": parts.name}
    reading = None if parts.reading is None else {**parts.reading, "unlabelled": unlabelled}
    fresh: Tagger = clone(tagger)
    return fresh.put_together(
        learner, common.vectorizer, common.names, facts=facts, reading=reading, began=began,
        learned=common.learned,
    )  # fmt: skip


def vectorizer_of(tagger: Tagger, parts: Parts) -> TextVectorizer | None:
    """What counts the terms of texts, not fitted yet; None where features are numbers."""
    if parts.reading is None:
        return None
    if tagger.vectorizer is None:
        return make_vectorizer(tagger.representation, max_terms=tagger.max_terms)
    if not isinstance(tagger.vectorizer, TextVectorizer):
        raise InputError(
            f"got the vectoriser {type(tagger.vectorizer).__name__}, which learns on one machine; "
            "use a TextVectorizer with data in pieces"
        )
    return clone(tagger.vectorizer)


def _fixed_names(parts: Parts) -> list[str] | None:
    """The labels where columns, or the first line of a file, declare them."""
    if parts.reading is None:
        return parts[0].numbered
    if parts.reading.get("layout") == "columns":
        return list(parts.reading["label_columns"])
    return None
