"""Model files: one file, never any code in it, refused when it is not exactly what was saved."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy
import sklearn

from labelrank import __version__
from labelrank.errors import ModelFileError
from labelrank.persistence import container
from labelrank.persistence.decode import Decoder
from labelrank.persistence.encode import Encoder, digest
from labelrank.persistence.names import name_of, register

__all__ = ["FORMAT_VERSION", "digest", "inspect", "load", "register", "save"]

FORMAT = "labelrank-model"
FORMAT_VERSION = 2
_ATTEMPTS = 5


def save(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted model (a Tagger, a learner, a listed scikit-learn estimator) to one file.

    The file appears whole or not at all. The same model always gives the same bytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from labelrank import persistence
    >>> model = MultinomialNB().fit([[2, 0], [0, 3]], ["rye", "oats"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = persistence.save(model, Path(folder) / "tiny.labelrank")
    ...     persistence.load(path).predict([[1, 0]]).tolist()
    ['rye']
    """
    encoder = Encoder()
    tree = encoder.encode(model, type(model).__name__)
    document = {
        "format": FORMAT, "format_version": FORMAT_VERSION, "labelrank": __version__,
        "scikit_learn": sklearn.__version__, "numpy": numpy.__version__,
        **_about(model), "tree": tree,
    }  # fmt: skip
    container.write(path, document, encoder.tensors)
    return Path(path)


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Any:
    """The model of a file written by `save`; it answers bit for bit as the saved one did.

    Anything else (a damaged, cut, foreign, newer or hostile file, or one of more than
    `max_bytes`) is refused with a ModelFileError. A file that another process replaces
    meanwhile is read again.
    """
    path = Path(path)
    for _ in range(_ATTEMPTS):
        before = container.stamp(path)
        try:
            model = _load(path, max_bytes)
        except ModelFileError:
            if container.stamp(path) == before:
                raise
        else:
            if container.stamp(path) == before:
                return model
    raise ModelFileError(f"{path} keeps changing while it is read; load it when it is at rest")


def _load(path: Path, max_bytes: int | None) -> Any:
    document, declared = container.read_document(path, max_bytes)
    _check_version(path, document)
    container.verify(path, document)
    try:
        with container.tensors(path) as mapped:
            model = Decoder(mapped.get_tensor, set(declared)).model(document.get("tree"))
    except (MemoryError, RecursionError) as error:
        raise ModelFileError(f"{path} does not fit in memory; use a larger machine") from error
    _warn_of_other_version(document)
    return model


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says of itself, from its header alone (the arrays are not read).

    Keys: format_version, labelrank, scikit_learn, numpy (versions), model, learner (classes),
    n_labels, n_features, summary, n_arrays, n_bytes.
    """
    path = Path(path)
    document, declared = container.read_document(path, None)
    _check_version(path, document)
    hidden = ("checksum", "format", "tree")
    told = {key: value for key, value in document.items() if key not in hidden}
    return {**told, "n_arrays": len(declared), "n_bytes": path.stat().st_size}


def _about(model: Any) -> dict[str, Any]:
    learner = getattr(model, "learner_", model)
    labels = getattr(model, "label_names_", getattr(model, "classes_", None))
    features = getattr(learner, "n_features_in_", None)
    summary = getattr(model, "summary_", {})
    plain = (str, int, float, bool)
    return {
        "model": name_of(type(model)), "learner": name_of(type(learner)),
        "n_labels": None if labels is None else len(labels),
        "n_features": None if features is None else int(features),
        "summary": {key: value for key, value in summary.items() if type(value) in plain},
    }  # fmt: skip


def _check_version(path: Path, document: dict[str, Any]) -> None:
    version = document.get("format_version")
    if document.get("format") != FORMAT or type(version) is not int or version < 1:
        what = f"{path} is a model file of an unknown format"
        raise ModelFileError(f"{what}; save the model again with labelrank")
    if version < FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {version}, of a labelrank before 0.1, which is read no "
            "longer; train the model again, or load it with the labelrank that saved it"
        )
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {version}, but labelrank {__version__} reads up to "
            f"{FORMAT_VERSION}; update labelrank"
        )


def _warn_of_other_version(document: dict[str, Any]) -> None:
    saved, here = str(document.get("scikit_learn")), sklearn.__version__
    if saved.split(".")[:2] != here.split(".")[:2]:
        what = f"the model was saved with scikit-learn {saved} and is loaded with {here}"
        why = "answers may differ where it holds scikit-learn estimators"
        warnings.warn(f"{what}: {why}", UserWarning, stacklevel=4)
