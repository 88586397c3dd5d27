"""`load` and `save`: a data set by its name or its path."""

import difflib
import inspect
import os
from pathlib import Path
from typing import Any

from labelrank.datasets import formats
from labelrank.datasets.dataset import PARTS, Dataset
from labelrank.datasets.fetching import addresses
from labelrank.datasets.opening import AnyPath, Limits
from labelrank.datasets.registry import REGISTRY, Entry, Folders
from labelrank.datasets.spelling import merged
from labelrank.errors import InputError, MissingError


def names() -> list[str]:
    """Names of all data sets `load` knows.

    Examples
    --------
    >>> "yeast" in names()
    True
    """
    return list(REGISTRY)


def info(name: str) -> dict[str, Any]:
    """Task, format, origin, terms, public addresses and options of a named set.

    Examples
    --------
    >>> info("emotions")["task"]
    'multi-label'
    """
    entry = _entry(name)
    return {
        "name": entry.name,
        "task": entry.task,
        "format": entry.format,
        "origin": entry.origin,
        "terms": entry.terms,
        "addresses": [source.url for source in addresses().get(entry.name, ())],
        "options": _builder(entry)[1],
    }


def is_available(name: str, data: AnyPath | None = None) -> bool:
    """True if `load` would find the files of a set: in the package, `data`, or fetched.

    Examples
    --------
    >>> is_available("debtags-sample")
    True
    """
    return Folders(_entry(name), data).complete()


def load(
    path_or_name: AnyPath,
    split: str | None = None,
    data: AnyPath | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Dataset:
    """A data set in memory, with its official parts where it has them.

    Parameters
    ----------
    path_or_name : str or path
        A name of `names()`, in any case, else the path of a data file, or "-" for standard
        input. A file that has the name of a set is meant by "./name".
    split : str or None
        "train", "validation" or "test" for that part alone; the name of a published split
        where there are several (Reuters-21578: "ModApte", "ModLewis"); None for the whole.
    data : path or None
        Folder of the named sets; None is `LABELRANK_DATA`. Fetched sets are found without it.
    limits : Limits or None
        The most rows, features, labels and bytes to accept.
    **options
        Those of the set (`info(name)["options"]`) or of the file format.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> sample = load("debtags-sample")
    >>> sample.n_instances, sample.n_labels, sample.train.n_instances, sample.test.n_instances
    (5000, 95, 3804, 1196)
    >>> sample.texts[0].splitlines()[0]
    'Ping utility to determine directional packet loss'
    """
    given = os.fspath(path_or_name)
    of_orders = f"lr-{given.lower()}"  # label ranking sets also by the names of the literature
    if given.lower() not in REGISTRY and of_orders in REGISTRY and not os.path.exists(given):
        given = path_or_name = of_orders
    is_name = isinstance(path_or_name, str) and given.lower() in REGISTRY
    if split is not None and split not in PARTS:
        options["split"] = split
    if is_name:
        spellings = formats.spellings(options)
        is_merged = options.pop("merge_spellings", False) or bool(spellings)
        options.pop("reading", None)
        options.pop("joined", None)
        dataset = _build(REGISTRY[given.lower()], data, limits, options)
        dataset = merged(dataset, spellings) if is_merged else dataset
    elif given == "-" or os.path.exists(given) or Path(given).name != given or "." in given:
        dataset = formats.read(path_or_name, limits=limits, **options)
    else:
        raise MissingError(_unknown(given))
    if split not in PARTS:
        return dataset
    if split not in dataset.parts:
        there = ", ".join(dataset.parts) or "none"
        raise MissingError(
            f"data set {dataset.name!r} has no {split} part; its parts are: {there}; "
            "load the whole and split it by evaluation.StratifiedFolds"
        )
    return dataset.parts[split]


def save(dataset: Dataset, path: AnyPath, format: str | None = None) -> None:
    """Write a data set; the extension names the format and the compression.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(load("debtags-sample", split="test"), Path(folder) / "test.jsonl.gz")
    ...     load(Path(folder) / "test.jsonl.gz").n_instances
    1196
    """
    formats.write(dataset, path, format=format)


def _entry(name: str) -> Entry:
    if name.lower() not in REGISTRY:
        raise MissingError(_unknown(name))
    return REGISTRY[name.lower()]


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name.lower(), REGISTRY, n=3, cutoff=0.5)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return (
        f"{name!r} is neither a data set nor a file; {meant}'labelrank datasets' lists the names; "
        "the larger sets are read from the folder named by LABELRANK_DATA (or --data), or got "
        "with 'labelrank datasets --fetch NAME'"
    )


def _builder(entry: Entry) -> tuple[Any, list[str]]:
    """The function that builds a set, and the options that it leaves to the user."""
    from labelrank.datasets import builders

    build = getattr(builders, entry.builder)
    parameters = inspect.signature(build).parameters
    return build, sorted(parameters.keys() - entry.arguments.keys() - {"folders"})


def _build(
    entry: Entry,
    data: AnyPath | None,
    limits: Limits | None,
    options: dict[str, Any],
) -> Dataset:
    build, known = _builder(entry)
    for option, value in options.items():
        if option not in known:
            raise InputError(
                f"got {option}={value!r} for data set {entry.name!r}; its options are: "
                f"{', '.join(known) or 'none'} (and split='train', 'validation' or 'test' where it "
                "has such parts)"
            )
    dataset: Dataset = build(Folders(entry, data, limits), **entry.arguments, **options)
    (limits or Limits()).check_shape(dataset, entry.name)
    return dataset
