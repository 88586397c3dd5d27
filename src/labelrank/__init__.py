"""labelrank: multi-label classification and label ranking by learning preferences.

Everything public is imported from here; heavy libraries load only when a name is first used.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "BinaryRelevancePerceptron": "learners.perceptron",
    "MulticlassMultilabelPerceptron": "learners.perceptron",
    "PairwisePerceptron": "learners.pairwise.perceptron",
    "PairwiseClassifier": "learners.pairwise.classifier",
    "PreferenceLearningMachine": "learners.plm.plm",
    "EmbeddingCodingPLM": "learners.plm.ec_plm",
    "EmbeddingPCAPLM": "learners.plm.ep_plm",
    "LabelCodes": "learners.plm.ep_plm",
    "BaggedRanker": "learners.bagged",
    "MultilayerPerceptron": "learners.plm.mlp",
    "IndependentClassifiers": "learners.chains.greedy",
    "ClassifierChain": "learners.chains.greedy",
    "ProbabilisticClassifierChain": "learners.chains.probabilistic",
    "MonteCarloClassifierChain": "learners.chains.monte_carlo",
    "ViterbiClassifierChain": "learners.chains.viterbi",
    "ChainSearch": "learners.chains.search",
    "ChainEnsemble": "learners.chains.search",
    "TargetColumns": "learners.chains.target_columns",
    "draw_trellis": "learners.chains.trellis",
    "ProSVM": "learners.margins.prosvm",
    "RankSVM": "learners.margins.ranksvm",
    "TwoStageRanker": "learners.margins.ranksvm",
    "BinaryRelevanceSVM": "learners.margins.binary_relevance",
    "BinaryRelevanceLogistic": "learners.margins.binary_relevance",
    "KernelSVM": "learners.margins.kernel_svm",
    "InvertedIndexKNN": "learners.neighbors",
    "Rocchio": "learners.rocchio",
    "RuleRanker": "learners.rules.foil",
    "NaiveBayesRanker": "learners.naive_bayes",
    "LabelPowerset": "learners.powerset",
    "CompressionClassifier": "learners.compression",
    "ThresholdedRanker": "learners.thresholded",
    "CalibratedRanker": "learners.held_out.calibrated",
    "CorrectedRanker": "learners.corrections.corrected",
    "AutoRanker": "learners.auto.auto",
    "BlockClassifier": "learners.auto.blocks",
    "AdaBoostMH": "learners.boosting",
    "MLkNN": "learners.neighbors",
    "GradedClassifier": "learners.graded",
    "LevelRanker": "learners.orders.levels",
    "NeighborOrders": "learners.orders.neighbors",
    "ForestRanker": "learners.trees.forest",
    "BoostedTrees": "learners.trees.boosted",
    "KernelRanker": "learners.features.nystroem",
    "RelevanceBinarizer": "relevance",
    "Tagger": "tagger",
    "TextEncoder": "encoder",
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
    "queueing",
    "relevance",
    "table",
    "testing",
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
