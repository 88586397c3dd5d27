"""The classes a model file may hold. A name in a file is looked up here, never imported."""

import importlib
from typing import Any, TypeVar

import labelrank
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

# What our learners keep inside besides arrays and estimators, by module.
_PARTS = {
    "learners.plm.averaged_matrix": ("Averaged",),
    "learners.neighbors.all_pairs": ("AllPairs",),
    "learners.chains.links": ("Link",),
    "learners.chains.targets": ("Encoding",),
    "learners.naive_bayes": ("Model",),
    "learners.neighbors.search": ("InvertedIndex",),
    "learners.label_sums": ("LabelSums",),
    "learners.chains.logistic": ("LogisticLink",),
    "learners.pairwise.scorer": ("Rule",),
    "learners.pairwise.mistakes": ("DualPairScorer",),
    "learners.pairwise.weights": ("PrimalPairScorer",),
    "learners.pairwise.proposers": ("CentroidRanker",),
    "learners.pairwise.shortlist": ("ShortlistScorer",),
    "learners.auto.weighting": ("Weighting",),
    "relevance": ("TargetInfo",),
    "rows": ("Rows",),
    "text": ("TextColumn",),
}

_MODULES = {
    **{f"labelrank.{name}": f"labelrank.{home}" for name, home in labelrank._HOME.items()},
    **{f"sklearn.{name}": f"sklearn.{home}" for home, names in _SKLEARN.items() for name in names},
    **{f"labelrank.{m}.{name}": f"labelrank.{m}" for m, names in _PARTS.items() for name in names},
}

_registered: dict[str, type] = {}
T = TypeVar("T", bound=type)


def register(cls: T) -> T:
    """Let model files hold your own estimator class; usable as a decorator.

    The class must be registered before saving and before loading. Its fitted state is its
    `__dict__`; methods `__labelrank_state__()` and `__labelrank_restore__(state)` replace that.

    >>> from sklearn.base import BaseEstimator
    >>> @register
    ... class Constant(BaseEstimator):
    ...     pass
    """
    _registered[f"{cls.__module__}.{cls.__qualname__}"] = cls
    return cls


def name_of(cls: type) -> str | None:
    """The name under which objects of exactly this class are stored, or None."""
    full = f"{cls.__module__}.{cls.__qualname__}"
    if _registered.get(full) is cls:
        return full
    for name in (full, f"{cls.__module__.partition('.')[0]}.{cls.__name__}"):
        if name in _MODULES and _import(name) is cls:
            return name
    return None


def class_of(name: Any) -> type:
    """The class stored under this name, or a ModelFileError."""
    found = None
    if isinstance(name, str):
        found = _registered.get(name) or (_import(name) if name in _MODULES else None)
    if found is None:
        raise ModelFileError(
            f"the model needs the class {str(name)[:80]!r}, which this labelrank does not know; "
            "update labelrank, or register the class with labelrank.persistence.register"
        )
    return found


def _import(name: str) -> type | None:
    """The class of a name in the fixed table; None where it is a function or not installed."""
    try:
        module = importlib.import_module(_MODULES[name])
    except ImportError:
        return None
    found = getattr(module, name.rpartition(".")[2], None)
    is_part = name.startswith(module.__name__)
    return found if isinstance(found, type) and (is_part or hasattr(found, "get_params")) else None
