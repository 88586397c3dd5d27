"""labelrank: multi-label classification and label ranking by learning preferences.

Everything public is imported from here; heavy libraries load only when a name is first used.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "BinaryRelevancePerceptron": "learners.perceptron",
    "MulticlassMultilabelPerceptron": "learners.perceptron",
    "PairwisePerceptron": "learners.pairwise",
    "PairwiseClassifier": "learners.round_robin",
    "PreferenceLearningMachine": "learners.plm",
    "EmbeddingCodingPLM": "learners.embedding",
    "EmbeddingPCAPLM": "learners.embedding",
    "LabelCodes": "learners.codes",
    "BaggedRanker": "learners.ensembles",
    "MultilayerPerceptron": "learners.mlp",
    "IndependentClassifiers": "learners.chains",
    "ClassifierChain": "learners.chains",
    "ProbabilisticClassifierChain": "learners.chains",
    "MonteCarloClassifierChain": "learners.chains",
    "ViterbiClassifierChain": "learners.chains",
    "ChainSearch": "learners.chain_search",
    "ChainEnsemble": "learners.chain_ensemble",
    "draw_trellis": "learners.trellis",
    "ProSVM": "learners.prosvm",
    "RankSVM": "learners.ranksvm",
    "TwoStageRanker": "learners.ranksvm",
    "BinaryRelevanceSVM": "learners.svm",
    "InvertedIndexKNN": "learners.neighbors",
    "Rocchio": "learners.rocchio",
    "NaiveBayesRanker": "learners.bayes",
    "LabelPowerset": "learners.powerset",
    "CompressionClassifier": "learners.compression",
    "ThresholdedRanker": "learners.thresholds",
    "AutoRanker": "learners.auto",
    "AdaBoostMH": "learners.boosting",
    "MLkNN": "learners.neighbors_ml",
    "GradedClassifier": "learners.graded",
    "RelevanceBinarizer": "relevance",
    "Tagger": "tagger",
    "TextVectorizer": "text",
}
_MODULES = (
    "catalog",
    "datasets",
    "decoding",
    "distributed",
    "evaluation",
    "metrics",
    "persistence",
    "preferences",
    "relevance",
    "text",
)

__all__ = [*_HOME, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
