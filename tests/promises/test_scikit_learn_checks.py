"""scikit-learn's own estimator checks, over every learner, in one place."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import labelrank
from labelrank.decoding import Probable

LEARNERS = [
    labelrank.InvertedIndexKNN(n_neighbors=5),
    labelrank.Rocchio(),
    labelrank.NaiveBayesRanker(),
    labelrank.NaiveBayesRanker("bernoulli", scores="log_odds"),
    labelrank.LabelPowerset(),
    labelrank.AdaBoostMH(n_rounds=20),
    labelrank.MLkNN(n_neighbors=5),
    labelrank.GradedClassifier(),
    labelrank.BinaryRelevancePerceptron(epochs=5, averaging="averaged", random_state=0),
    labelrank.MulticlassMultilabelPerceptron(epochs=5, averaging="averaged", random_state=0),
    labelrank.PairwisePerceptron(epochs=5, averaging="averaged", random_state=0),
    labelrank.PairwisePerceptron(calibrated=False, epochs=5, random_state=0),
    labelrank.PairwisePerceptron(epochs=5, representation="dual", random_state=0),
    labelrank.PairwisePerceptron(
        epochs=5, inference="quick", tie_break=None, margin=1.0, random_state=0
    ),
    labelrank.PairwiseClassifier(LogisticRegression()),
    labelrank.ThresholdedRanker(
        labelrank.MulticlassMultilabelPerceptron(epochs=5, averaging="averaged", random_state=0),
        random_state=0,
    ),
    labelrank.CalibratedRanker(
        labelrank.BinaryRelevancePerceptron(epochs=5, averaging="averaged", random_state=0),
        random_state=0,
    ),
    labelrank.ProSVM(C=10, fit_intercept=True, tol=1e-2, random_state=0),
    labelrank.RankSVM(C=10, fit_intercept=True, tol=1e-2, random_state=0),
    labelrank.BinaryRelevanceSVM(fit_intercept=True, random_state=0),
    labelrank.BinaryRelevanceLogistic(fit_intercept=True, random_state=0),
    labelrank.KernelSVM(),
    labelrank.RuleRanker(),
    labelrank.KernelSVM("poly"),
    labelrank.TwoStageRanker(
        labelrank.BinaryRelevanceSVM(fit_intercept=True, random_state=0),
        labelrank.ProSVM(C=10, fit_intercept=True, tol=1e-2, random_state=0),
    ),
    labelrank.PreferenceLearningMachine(random_state=0),
    labelrank.PreferenceLearningMachine("per_label", kernel="rbf", random_state=0),
    labelrank.EmbeddingPCAPLM(epochs=2, random_state=0),
    labelrank.EmbeddingPCAPLM(epochs=2, update="adagrad", random_state=0),
    labelrank.EmbeddingCodingPLM(epochs=3, random_state=0),
    labelrank.BaggedRanker(labelrank.EmbeddingPCAPLM(epochs=1), n_estimators=3, random_state=0),
    labelrank.ForestRanker(n_estimators=30, random_state=0),
    labelrank.BoostedTrees(n_rounds=20, min_samples_leaf=3),
    labelrank.KernelRanker(random_state=0),
    labelrank.NeighborOrders(5),
    labelrank.LevelRanker(labelrank.ForestRanker(n_estimators=30, random_state=0)),
    labelrank.MultilayerPerceptron(epochs=60, learning_rate=0.01, random_state=0),
]


def not_ours(learner):
    """The checks whose convention contradicts ours, with the reason."""
    reasons = {"check_supervised_y_2d": "one column is a relevance matrix of one label"}
    if type(learner).link is Probable.link:
        what = "probabilities are guessed, or the cut is where the sets are best, not at 1/2"
        reasons["check_classifier_multioutput"] = what
    if not learner._calibrated:
        reasons["check_classifier_multioutput"] = "the set is cut by `threshold`, not at score 0"
    if hasattr(learner, "class_weight"):
        what = "weights are of relevant and irrelevant labels, not of classes"
        reasons["check_class_weight_classifiers"] = what
    if isinstance(learner, labelrank.NaiveBayesRanker):
        reasons["check_decision_proba_consistency"] = "the check gives negative counts"
    if isinstance(learner, labelrank.InvertedIndexKNN | labelrank.ForestRanker):
        check = "check_classifiers_multilabel_output_format_predict_proba"
        reasons[check] = "a share of the votes may be 0"
    return reasons


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(LEARNERS, expected_failed_checks=not_ours)
def test_scikit_learn_check(estimator, check):
    check(estimator)
