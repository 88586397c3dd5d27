"""The classes a model file may hold: a name in a file is looked up here, never imported."""

import importlib
from typing import Any, TypeVar

from labelrank import _HOME, extensions
from labelrank.declared import how_stored
from labelrank.errors import ModelFileError

_SKLEARN = {
    "feature_extraction.text": (
        "CountVectorizer", "TfidfVectorizer", "HashingVectorizer", "TfidfTransformer",
    ),
    "feature_selection": ("VarianceThreshold",),
    "decomposition": ("TruncatedSVD",),
    "pipeline": ("Pipeline", "FeatureUnion"),
    "preprocessing": (
        "StandardScaler", "MaxAbsScaler", "MinMaxScaler", "Normalizer", "PolynomialFeatures",
        "LabelBinarizer", "LabelEncoder", "MultiLabelBinarizer",
    ),
    "linear_model": (
        "LogisticRegression", "SGDClassifier", "Perceptron", "PassiveAggressiveClassifier",
        "Ridge", "RidgeClassifier", "LinearRegression",
    ),
    "svm": ("LinearSVC",),
    "naive_bayes": ("MultinomialNB", "BernoulliNB", "ComplementNB", "GaussianNB"),
    "tree": ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier"),
    "ensemble": ("RandomForestClassifier", "ExtraTreesClassifier"),
    "multiclass": ("OneVsRestClassifier", "_ConstantPredictor"),
    "multioutput": ("MultiOutputClassifier",),
    "neighbors": ("NearestCentroid", "KNeighborsClassifier"),
    "dummy": ("DummyClassifier",),
}  # fmt: skip

# What our learners keep inside, besides arrays and estimators: name, and module.
_PARTS = {
    "Averaged": "learners.plm.embedding", "LabelSums": "learners.label_sums",
    "LabelWeights": "learners.label_weights", "Duals": "learners.margins.prosvm",
    "Link": "learners.chains.links", "Encoding": "learners.chains.links",
    "ColumnInfo": "learners.chains.links", "FittedChain": "learners.chains.scorers",
    "LogisticLink": "learners.chains.logistic", "UpdateRule": "learners.pairwise.scorer",
    "DualPairScorer": "learners.pairwise.mistakes", "Mistakes": "learners.pairwise.mistakes",
    "WeightBlocks": "learners.pairwise.weights", "PrimalPairScorer": "learners.pairwise.weights",
    "CentroidRanker": "learners.pairwise.shortlist",
    "ShortlistScorer": "learners.pairwise.shortlist",
    "Calibration": "learners.held_out.calibration", "Cut": "learners.held_out.cuts",
    "Weighting": "learners.auto.weighting", "Line": "learners.auto.blend",
    "Member": "learners.auto.blend", "TargetInfo": "relevance", "LabelCounts": "relevance",
    "TextColumn": "text", "LearnedRows": "learned",
    "PackedSteps": "learners.corrections.packed",
    "Trees": "learners.trees.forest", "NystroemFeatures": "learners.features.nystroem",
    "Column": "table.roles", "TablePreparation": "table.preparation",
    **dict.fromkeys(("NumberPart", "CategoryPart", "VectorPart", "TextPart"), "table.parts"),
}  # fmt: skip

# Where the class of a name is, as "module:class". Names are for ever; places may change.
PLACES = {
    **{name: f"labelrank.{home}:{name}" for name, home in {**_HOME, **_PARTS}.items()},
    **{f"sklearn.{n}": f"sklearn.{home}:{n}" for home, names in _SKLEARN.items() for n in names},
}

_registered: dict[str, type] = {}
T = TypeVar("T", bound=type)


def register(cls: T) -> T:
    """Let model files hold your own class; usable as a decorator.

    The class must be registered before saving and before loading. What is kept of it is what
    `labelrank.declared.stored` declares; without a declaration, its parameters and attributes.

    >>> from sklearn.base import BaseEstimator
    >>> @register
    ... class Constant(BaseEstimator):
    ...     pass
    """
    _registered[_name(cls)] = cls
    return cls


def name_of(cls: type) -> str | None:
    """The name under which objects of exactly this class are stored, or None."""
    name = _name(cls)
    return name if _find(name) is cls else None


def is_sklearn(cls: type) -> bool:
    """Whether a class is one of scikit-learn, of which the attributes are stored."""
    return cls.__module__.startswith("sklearn.")


def class_of(name: Any) -> type:
    """The class stored under this name, or a ModelFileError."""
    found = _find(name) if isinstance(name, str) else None
    if found is None:
        raise ModelFileError(
            f"the model needs the class {str(name)[:80]!r}, which this labelrank does not know; "
            "update labelrank, or register the class with labelrank.persistence.register"
        )
    return found


def _name(cls: type) -> str:
    how = how_stored(cls)
    package = cls.__module__.partition(".")[0]
    own = cls.__name__ if how is None else how.name
    if package == "labelrank":
        return own
    return f"{package}.{own}" if how or package == "sklearn" else f"{cls.__module__}.{own}"


def _find(name: str) -> type | None:
    """The class of a known name; None where it is a function or not installed."""
    if name in _registered or name not in PLACES:
        return _registered.get(name) or _offered(name)
    module, _, attribute = PLACES[name].partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return None
    return found if isinstance(found, type) else None


def _offered(name: str) -> type | None:
    """A learner that a package offers by entry points, or a class that it registers with it."""
    for offer in extensions.entry_points("labelrank.learners").values():
        if offer.module.partition(".")[0] == name.partition(".")[0]:
            offered = extensions.load(offer)
            if isinstance(offered, type) and _name(offered) == name:
                return offered
    return _registered.get(name)
