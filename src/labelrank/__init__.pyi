"""What the lazy names of the package are, for type checkers."""

from labelrank import catalog as catalog
from labelrank import datasets as datasets
from labelrank import decoding as decoding
from labelrank import distributed as distributed
from labelrank import evaluation as evaluation
from labelrank import metrics as metrics
from labelrank import persistence as persistence
from labelrank import preferences as preferences
from labelrank import queueing as queueing
from labelrank import relevance as relevance
from labelrank import table as table
from labelrank import testing as testing
from labelrank import text as text
from labelrank.encoder import TextEncoder as TextEncoder
from labelrank.learners.auto.auto import AutoRanker as AutoRanker
from labelrank.learners.auto.blocks import BlockClassifier as BlockClassifier
from labelrank.learners.bagged import BaggedRanker as BaggedRanker
from labelrank.learners.boosting import AdaBoostMH as AdaBoostMH
from labelrank.learners.chains.greedy import ClassifierChain as ClassifierChain
from labelrank.learners.chains.greedy import IndependentClassifiers as IndependentClassifiers
from labelrank.learners.chains.monte_carlo import (
    MonteCarloClassifierChain as MonteCarloClassifierChain,
)
from labelrank.learners.chains.probabilistic import (
    ProbabilisticClassifierChain as ProbabilisticClassifierChain,
)
from labelrank.learners.chains.search import ChainEnsemble as ChainEnsemble
from labelrank.learners.chains.search import ChainSearch as ChainSearch
from labelrank.learners.chains.target_columns import TargetColumns as TargetColumns
from labelrank.learners.chains.trellis import draw_trellis as draw_trellis
from labelrank.learners.chains.viterbi import ViterbiClassifierChain as ViterbiClassifierChain
from labelrank.learners.compression import CompressionClassifier as CompressionClassifier
from labelrank.learners.corrections.corrected import CorrectedRanker as CorrectedRanker
from labelrank.learners.features.nystroem import KernelRanker as KernelRanker
from labelrank.learners.graded import GradedClassifier as GradedClassifier
from labelrank.learners.held_out.calibrated import CalibratedRanker as CalibratedRanker
from labelrank.learners.margins.binary_relevance import (
    BinaryRelevanceLogistic as BinaryRelevanceLogistic,
)
from labelrank.learners.margins.binary_relevance import BinaryRelevanceSVM as BinaryRelevanceSVM
from labelrank.learners.margins.kernel_svm import KernelSVM as KernelSVM
from labelrank.learners.margins.prosvm import ProSVM as ProSVM
from labelrank.learners.margins.ranksvm import RankSVM as RankSVM
from labelrank.learners.margins.ranksvm import TwoStageRanker as TwoStageRanker
from labelrank.learners.naive_bayes import NaiveBayesRanker as NaiveBayesRanker
from labelrank.learners.neighbors import InvertedIndexKNN as InvertedIndexKNN
from labelrank.learners.neighbors import MLkNN as MLkNN
from labelrank.learners.orders.levels import LevelRanker as LevelRanker
from labelrank.learners.orders.neighbors import NeighborOrders as NeighborOrders
from labelrank.learners.pairwise.classifier import PairwiseClassifier as PairwiseClassifier
from labelrank.learners.pairwise.perceptron import PairwisePerceptron as PairwisePerceptron
from labelrank.learners.perceptron import BinaryRelevancePerceptron as BinaryRelevancePerceptron
from labelrank.learners.perceptron import (
    MulticlassMultilabelPerceptron as MulticlassMultilabelPerceptron,
)
from labelrank.learners.plm.ec_plm import EmbeddingCodingPLM as EmbeddingCodingPLM
from labelrank.learners.plm.ep_plm import EmbeddingPCAPLM as EmbeddingPCAPLM
from labelrank.learners.plm.ep_plm import LabelCodes as LabelCodes
from labelrank.learners.plm.mlp import MultilayerPerceptron as MultilayerPerceptron
from labelrank.learners.plm.plm import PreferenceLearningMachine as PreferenceLearningMachine
from labelrank.learners.powerset import LabelPowerset as LabelPowerset
from labelrank.learners.rocchio import Rocchio as Rocchio
from labelrank.learners.rules.foil import RuleRanker as RuleRanker
from labelrank.learners.thresholded import ThresholdedRanker as ThresholdedRanker
from labelrank.learners.trees.boosted import BoostedTrees as BoostedTrees
from labelrank.learners.trees.forest import ForestRanker as ForestRanker
from labelrank.relevance import RelevanceBinarizer as RelevanceBinarizer
from labelrank.tagger import Tagger as Tagger
from labelrank.text import TextVectorizer as TextVectorizer

__version__: str
__all__: list[str]
_HOME: dict[str, str]
