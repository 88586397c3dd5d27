"""Texts as vectors of a language model: anything with `encode(texts)`, beside terms or alone.

labelrank trains no such model and stores none: a model file holds its name or folder, and the
vector of one sentence, by which another model under that name is told.
"""

import importlib
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from labelrank._estimators import BaseEstimator, TransformerMixin
from labelrank._types import Array, Float32
from labelrank.declared import array, check_parameters, choice, nested, number, stored, value
from labelrank.errors import InputError, MissingError
from labelrank.resources import blocks
from labelrank.text import check_texts

PROBE = "Wheat, oil and gold: prices of raw materials rose by 3.5 % in March 1987."
# How far, as a share of its length, the vector of the probe may be from the stored one: other
# processors round otherwise, another model differs by about 1.
_NEAR = 0.02
# Of the packages that load models by name, the first one installed does.
_PACKAGES = ("sentence_transformers", "model2vec")
# What they and their parts raise for models that are not there, damaged or of another kind.
_FAILURES = (OSError, ValueError, RuntimeError, LookupError, TypeError)


@stored(
    "TextEncoder", 1, probe_=array("f4", "dimensions"), place_=value(str, optional=True),
    terms_=nested("TextVectorizer", optional=True),
)  # fmt: skip
@dataclass(eq=False, repr=False)
class TextEncoder(TransformerMixin, BaseEstimator):
    """Texts to the vectors of an encoder (documents × dimensions), and to their terms if wanted.

    Parameters
    ----------
    encoder : object with `encode(texts)`, or str
        Such as a SentenceTransformer of sentence-transformers or a StaticModel of model2vec; or the
        folder of such a model, or its name, by which that package finds it. Only models given by
        folder or name can be kept in model files, and they are loaded when first needed.
    terms : TextVectorizer or None
        Adds the terms of the texts: the features are then sparse, and both parts stand side by
        side.
    weight : float, default 1.0
        What the vectors are multiplied by; terms weighed by TF-IDF have length 1 per document.
    norm : {"l2", None}
        Scale each vector to length 1, or leave it as the encoder gives it.
    batch_size : int, default 1024
        So many texts at most are given to the encoder at once.

    Attributes
    ----------
    probe_ : ndarray, the vector of a sentence, by which the encoder is known again
    place_ : str or None, the full path of the encoder's folder, or its name
    terms_ : the fitted `terms`, or None

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import TextEncoder
    >>> class Lengths:
    ...     def encode(self, texts):
    ...         return np.array([[len(text), text.count(" ")] for text in texts])
    >>> TextEncoder(Lengths(), norm=None).fit_transform(["wheat and rye", "oil"]).tolist()
    [[13.0, 2.0], [3.0, 0.0]]
    """

    encoder: Any
    _: KW_ONLY
    terms: Any = None
    weight: float = number(1.0, above=0)
    norm: str | None = choice("l2", None)
    batch_size: int = number(1024, least=1, whole=True)

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn the terms, where they are wanted; `y` is ignored."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None, **_: Any) -> Any:
        """Learn from the texts and return their features, reading them once."""
        check_parameters(self)
        texts = check_texts(texts)
        if not texts:
            raise InputError("got no text at all; give at least one text to learn from")
        model, place = _model(self.encoder, None)
        probe = _vectors(model, [PROBE])[0]
        vectors = self._vectors(model, texts, len(probe))
        terms = None if self.terms is None else clone(self.terms)
        weighed = None if terms is None else terms.fit_transform(texts)
        self.terms_, self.probe_, self.place_, self._model = terms, probe, place, model
        return _joined(vectors, weighed)

    def transform(self, texts: Iterable[str]) -> Any:
        """Features of the texts."""
        check_is_fitted(self)
        texts = check_texts(texts)
        vectors = self._vectors(self._known_model(), texts, len(self.probe_))
        return _joined(vectors, None if self.terms_ is None else self.terms_.transform(texts))

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """`embedding[1]`, `embedding[2]`, ..., then the terms."""
        check_is_fitted(self)
        names = [f"embedding[{k}]" for k in range(1, len(self.probe_) + 1)]
        terms = [] if self.terms_ is None else self.terms_.get_feature_names_out().tolist()
        return np.array(names + terms, dtype=object)

    @property
    def n_columns_(self) -> int:
        """How many features a document has."""
        return len(self.probe_) + (0 if self.terms_ is None else self.terms_.n_columns_)

    @property
    def representation(self) -> str:
        """How texts become features, in words."""
        return "encoder" if self.terms is None else f"encoder and {self.terms.representation}"

    def after_loading(self) -> None:
        self.terms_ = getattr(self, "terms_", None)
        self.place_ = getattr(self, "place_", None)
        if (self.terms is None) != (self.terms_ is None):
            raise ValueError("terms that were not asked for, or none where they were")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "probe_")

    def __sklearn_clone__(self) -> Self:
        """An unfitted copy with the same encoder, which is too large to be copied."""
        given = self.get_params(deep=False)
        return type(self)(given.pop("encoder"), **given | {"terms": clone(self.terms, safe=False)})

    def _known_model(self) -> Any:
        """The encoder that was learned with; after loading it is looked for when first needed."""
        if not hasattr(self, "_model"):
            model, place = _model(self.encoder, self.place_)
            found = _vectors(model, [PROBE])[0]
            same = found.shape == self.probe_.shape
            if not same or np.linalg.norm(found - self.probe_) > _NEAR * _length(self.probe_):
                raise InputError(
                    f"got another encoder as {place or type(model).__name__} than the one that was "
                    "learned with: it gives other vectors; put that one back, or fit again"
                )
            self._model = model
        return self._model

    def _vectors(self, model: Any, texts: list[str], n_dimensions: int) -> Float32:
        """Scaled vectors of the texts, some of them at a time."""
        out = np.empty((len(texts), n_dimensions), np.float32)
        for part in blocks(len(texts), self.batch_size):
            found = _vectors(model, texts[part])
            if found.shape[1] != n_dimensions:
                raise InputError(
                    f"got vectors of {found.shape[1]} and of {n_dimensions} numbers from the "
                    "encoder; it must give the same number for every text"
                )
            out[part] = found
        if self.norm == "l2":
            lengths = np.linalg.norm(out, axis=1, keepdims=True)
            out /= np.where(lengths > 0, lengths, 1.0)
        return out * np.float32(self.weight)


def is_encoder(given: Any) -> bool:
    """Whether this is something with `encode`, or the name of one, and no transformer."""
    return callable(getattr(given, "encode", None)) and not hasattr(given, "transform")


def _model(encoder: Any, place: str | None) -> tuple[Any, str | None]:
    """The encoder, and its full path or name; None where it is given as an object."""
    if isinstance(encoder, str | Path):
        return _named(str(encoder), place)
    if not callable(getattr(encoder, "encode", None)) or isinstance(encoder, type):
        raise InputError(
            f"got {type(encoder).__name__} as encoder; give an object with encode(texts), or the "
            "name or folder of a model of sentence-transformers or model2vec"
        )
    return encoder, None


def _named(name: str, place: str | None) -> tuple[Any, str]:
    """The model of that folder (or of its full path as it once was) or name, and where it is."""
    for folder in (Path(place or name), Path(name).expanduser()):
        if folder.is_dir():
            return _loaded(str(folder.resolve()), _package_of(folder)), str(folder.resolve())
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name:
        raise MissingError(f"got encoder {name}, but there is no such folder; give the right path")
    installed = [package for package in _PACKAGES if find_spec(package)]
    return _loaded(name, installed[0] if installed else _PACKAGES[0]), name


def _package_of(folder: Path) -> str:
    """The package that loads the model in a folder; models of model2vec are read by both."""
    files = [folder / "modules.json", folder / "config.json"]
    told = [file.read_text("utf-8", "replace") for file in files if file.is_file()]
    if not told:
        raise MissingError(
            f"got encoder {folder}, but no model is in that folder (it has no config.json); "
            "give the folder of a model of sentence-transformers or model2vec"
        )
    is_static = any("StaticEmbedding" in text or '"model2vec"' in text for text in told)
    is_fit = find_spec("model2vec") or not find_spec("sentence_transformers")
    return "model2vec" if is_static and is_fit else "sentence_transformers"


def _loaded(place: str, package: str) -> Any:
    """The model, read by its package; never code that comes with it, nor pickles."""
    try:
        module = importlib.import_module(package)
    except ImportError as error:
        own = package.replace("_", "-")
        raise MissingError(
            f"got encoder {place}, but {own}, which loads it, is not installed; "
            f"pip install {own}, or give another encoder"
        ) from error
    try:
        if package == "model2vec":
            from_cache = {} if Path(place).is_dir() else {"force_download": False}
            return module.StaticModel.from_pretrained(place, **from_cache)
        safely = {"use_safetensors": True}
        return module.SentenceTransformer(place, trust_remote_code=False, model_kwargs=safely)
    except _FAILURES as error:
        why = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise MissingError(
            f"got encoder {place}, which {package} cannot load ({why}); give the folder of a "
            "model, or its name where it is known or there is a network"
        ) from error


def _vectors(model: Any, texts: list[str]) -> Float32:
    """What the encoder makes of the texts, as a matrix of finite numbers, or an InputError."""
    found = np.asarray(model.encode(texts))
    if found.ndim != 2 or len(found) != len(texts) or not found.shape[1]:
        raise InputError(
            f"got an array of shape {found.shape} from the encoder for {len(texts)} text(s); "
            "encode(texts) must give one vector per text"
        )
    if found.dtype.kind not in "fiu":
        raise InputError(f"got {found.dtype} from the encoder; encode(texts) must give numbers")
    with np.errstate(over="ignore"):
        vectors = found.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(wrong):
        raise InputError(
            f"got a vector with NaN or infinity from the encoder for {texts[wrong[0]][:60]!r}; "
            "leave such texts out, or use another encoder"
        )
    return vectors


def _length(vector: Float32) -> float:
    return max(float(np.linalg.norm(vector)), float(np.finfo(np.float32).tiny))


def _joined(vectors: Float32, terms: Any) -> Any:
    """The vectors; with terms beside them, sparse."""
    if terms is None:
        return vectors
    return sp.csr_array(sp.hstack([sp.csr_array(vectors), terms], format="csr"))
