"""The tables of the catalog, one per family of learners."""

from functools import partial
from typing import Any

from labelrank.catalog import row

_LECTURE = "Fürnkranz, lecture on text classification"
_STRENGTHS = (0.01, 0.1, 1.0, 10.0)


# Perceptrons: one per label, or one for each pair of labels.
_PERCEPTRON_PAPER = "Loza Mencía & Fürnkranz 2008"
_RIVALS = "Fürnkranz et al. 2008, as in Xu, Li & Zhou 2013"

_AS_IN_PAPER: dict[str, Any] = {"shuffle": False, "init": "random"}
_EPOCHS_AND_MARGINS = {"epochs": (1, 3, 10), "margin": (None, 0.1, 1.0)}
_EPOCHS_AND_VOTES = {"epochs": (3, 10, 30), "voting": ("votes", "weighted")}
_EPOCHS = {"epochs": (10, 30, 100)}
_VOTES = {"voting": ("votes", "weighted", "coupling")}

_br = partial(row, learner="BinaryRelevancePerceptron", paper=_PERCEPTRON_PAPER)
_pairs = partial(row, learner="PairwisePerceptron")

PERCEPTRONS = (
    _br("BR", summary="Binary relevance: one perceptron per label, each on its own",
        grid=_EPOCHS_AND_MARGINS, **_AS_IN_PAPER),
    _br("BR+", summary="Binary relevance: passive-aggressive steps, averaged, several epochs",
        grid={"epochs": (5, 20), "C": (0.01, 0.1, 1.0)},
        epochs=5, averaging="averaged", step="pa", shuffle=True),
    row("MMP", "MulticlassMultilabelPerceptron",
        "Crammer & Singer 2003, as in Loza Mencía & Fürnkranz 2008",
        "One perceptron per label, moved together by the errors of the ranking",
        {"epochs": (1, 3, 10), "loss": ("is_error", "error_set_size", "average_precision")},
        **_AS_IN_PAPER),
    _pairs("MLPP", paper=_PERCEPTRON_PAPER,
           summary="One perceptron for each pair of labels; votes rank the labels",
           grid=_EPOCHS_AND_MARGINS, calibrated=False, tie_break=None, **_AS_IN_PAPER),
    _pairs("MLPP+", paper=_PERCEPTRON_PAPER,
           summary="Pairwise perceptrons, averaged, several epochs, ties broken by margins",
           grid=_EPOCHS_AND_VOTES, calibrated=False, epochs=5, averaging="averaged"),
    _pairs("CMLPC", paper=_LECTURE,
           summary="Pairwise perceptrons with the threshold label: a ranking and its relevant part",
           grid=_EPOCHS_AND_MARGINS, tie_break=None),
    _pairs("CMLPC+", paper=_LECTURE,
           summary="Calibrated pairwise perceptrons, averaged, several epochs, ties by margins",
           grid=_EPOCHS_AND_VOTES, epochs=5, averaging="averaged"),
    _pairs("PCn", paper=_RIVALS,
           summary="Calibrated pairwise perceptrons for a fixed number of epochs (n = 100)",
           grid=_EPOCHS, epochs=100, tie_break=None),
    _pairs("PC0", paper=_RIVALS,
           summary="Calibrated pairwise perceptrons until no error, at most 10,000 epochs",
           grid=_VOTES, until_no_error=True, tie_break=None),
    _pairs("PCnR", paper=_RIVALS,
           summary="PCn that also learns the order of the relevant labels",
           grid=_EPOCHS, needs=("order",), epochs=100, ordered=True, tie_break=None),
    _pairs("PC0R", paper=_RIVALS,
           summary="PC0 that also learns the order of the relevant labels",
           grid=_VOTES, needs=("order",), until_no_error=True, ordered=True, tie_break=None),
)  # fmt: skip


# Chains of classifiers.
_CHAIN_PAPER = "Read, Martino & Luengo 2013, Viterbi classifier chains"

_chain = partial(
    row, paper=_CHAIN_PAPER, grid={"estimator__C": _STRENGTHS},
    parts={"estimator": "labelrank.learners.chains.logistic:LogisticLink"},
)  # fmt: skip
_of_chains = partial(row, paper=_CHAIN_PAPER, grid={"estimator__estimator__C": _STRENGTHS})

CHAINS = (
    _chain("IC", "IndependentClassifiers",
           summary="Independent classifiers: one logistic regression per label"),
    _chain("CC", "ClassifierChain", order="random",
           summary="Classifier chain: each label sees those before it, taken greedily"),
    _chain("PCC", "ProbabilisticClassifierChain", order="random",
           summary="Probabilistic chain: the most probable path, exactly; few labels only"),
    _chain("PCC-beam", "ProbabilisticClassifierChain", order="random", inference="beam",
           paper="Kumar et al. 2013, as in Read, Martino & Luengo 2013",
           summary="Probabilistic classifier chain by beam search, for any number of labels"),
    _chain("MCC", "MonteCarloClassifierChain", order="random",
           summary="Classifier chain with the most probable of sampled paths"),
    _chain("VCC", "ViterbiClassifierChain", order="random",
           summary="Viterbi classifier chain: each label sees the one before, best path exactly"),
    _of_chains("MsCC", "ChainSearch", parts={"estimator": "MCC"},
               summary="The best of 50 random orders of a Monte Carlo classifier chain"),
    _of_chains("VsCC", "ChainSearch", parts={"estimator": "VCC"},
               summary="The best of 50 random orders of a Viterbi classifier chain"),
    _of_chains("ECC", "ChainEnsemble", parts={"estimator": "CC"},
               paper="Read et al. 2011, as in Read, Martino & Luengo 2013",
               summary="Ensemble of classifier chains: ten random orders vote"),
    _of_chains("CC+", "ChainEnsemble", parts={"estimator": "MCC"}, voting="soft",
               summary="Ten Monte Carlo chains of random orders, their probabilities averaged"),
)  # fmt: skip


# Large margins for PRO loss, and the rivals in its paper.
_MARGIN_PAPER = "Xu, Li & Zhou 2013"

_svm = partial(row, paper=_MARGIN_PAPER, grid={"C": _STRENGTHS})
_prosvm = partial(_svm, learner="ProSVM")
_LIBLINEAR = "Fan et al. 2008, LIBLINEAR"
_bsvm = partial(
    _svm, learner="BinaryRelevanceSVM", paper=f"Boutell et al. 2004, as in {_MARGIN_PAPER}"
)

MARGINS = (
    _prosvm("ProSVM", needs=("order",), fit_intercept=True,
            summary="Large margins for PRO loss: the set of relevant labels and their order"),
    _prosvm("ProSVM-A", needs=("order",), fit_intercept=True, approximate=True,
            summary="ProSVM by its upper bound: preferences with the threshold, and a chain"),
    _prosvm("ProSVM-A+", needs=("order",), grid={"C": (10.0, 20.0, 40.0, 80.0)},
            summary="ProSVM-A with the strength that suits rows of length 1, such as texts",
            approximate=True, C=40.0, tol=0.1),
    _prosvm("ProSVM'", fit_intercept=True, ordered=False,
            summary="ProSVM without preferences between relevant labels"),
    _prosvm("ProSVM-A'", fit_intercept=True, approximate=True, ordered=False,
            summary="ProSVM-A without preferences between relevant labels"),
    _svm("RankSVM", "RankSVM", fit_intercept=True,
         paper=f"Elisseeff & Weston 2002, as in {_MARGIN_PAPER}",
         summary="Large margins of relevant over irrelevant labels, threshold by least squares"),
    _svm("RankSVM-R", "TwoStageRanker", needs=("order",), grid={"selector__C": _STRENGTHS},
         summary="RankSVM decides the set, pairwise comparison orders it",
         parts={"selector": "RankSVM", "orderer": "PCnR"}),
    _bsvm("BSVM", fit_intercept=True, loss="hinge",
          summary="One linear SVM per label, all labels in one pass over the data"),
    _bsvm("BSVM+", fit_intercept=True,
          summary="BSVM with the squared hinge: smoother, and faster to solve"),
    _svm("logistic", "BinaryRelevanceLogistic", paper="Yu, Huang & Lin 2011", fit_intercept=True,
         summary="One logistic regression per label, with probabilities, all labels in one pass"),
    _bsvm("BSVM-balanced", fit_intercept=True, class_weight="balanced", paper=_LIBLINEAR,
          summary="BSVM+ in which the few relevant instances of a label weigh as much as the rest"),
    row("MLkNN", "MLkNN", f"Zhang & Zhou 2007, as in {_MARGIN_PAPER}",
        "Ten nearest neighbours and Bayes' rule over how many of them carry a label",
        {"n_neighbors": (5, 10, 20, 40)}),
    row("BoosTexter", "AdaBoostMH", f"Schapire & Singer 2000, as in {_MARGIN_PAPER}",
        "AdaBoost.MH with real-valued decision stumps, a thousand rounds",
        {"n_rounds": (100, 300, 1000)}),
    row("GMLC", "GradedClassifier", f"Cheng, Dembczyński & Hüllermeier 2010, as in {_MARGIN_PAPER}",
        "Graded classification: a logistic regression per label and place in the order",
        {"estimator__estimator__C": _STRENGTHS}, parts={"estimator": "IC"}, levels="ranks"),
)  # fmt: skip


# The classical text classifiers of the lecture, ours and scikit-learn's.
_IN = ", as in Fürnkranz's lecture"
_FEW_STRENGTHS = (0.1, 1.0, 10.0)
_GAMMAS = {"estimator__gamma": (0.0, 0.25, 0.5, 1.0)}
_LOGISTIC = {"estimator": "sklearn.linear_model:LogisticRegression"}

_nb = partial(
    row, learner="NaiveBayesRanker",
    grid={"alpha": (0.001, 0.01, 0.1, 1.0), "scores": ("posterior", "log_odds")},
)  # fmt: skip
_powerset = partial(row, learner="LabelPowerset", parts={"estimator": "sklearn.svm:LinearSVC"})
_one_vs_rest = partial(row, learner="sklearn.multiclass:OneVsRestClassifier")
_svm_of = partial(row, learner="KernelSVM", paper=f"Joachims 1998{_IN}", gamma=1.0)

TEXT = (
    row("kNN", "InvertedIndexKNN", f"Yang & Liu 1999{_IN}",
        "The labels of the most similar documents, by an inverted index",
        {"n_neighbors": (5, 15, 30, 45), "weights": ("similarity", "uniform")}),
    row("kNN+", "ThresholdedRanker", f"Yang & Liu 1999{_IN}",
        "Nearest documents, cut where micro-F1 is best by cross-validation",
        {"estimator__n_neighbors": (5, 15, 30, 45)}, parts={"estimator": "kNN"}),
    row("Rocchio", "Rocchio", f"Rocchio 1971{_IN}",
        "One prototype per label: the mean of its documents less that of the others",
        {"gamma": (0.0, 0.25, 0.5, 1.0)}),
    row("class-mean", "Rocchio", f"Rocchio 1971{_IN}",
        "The mean of a label's documents as its prototype: Rocchio without the others",
        {"metric": ("cosine", "euclidean")}, gamma=0.0),
    row("Rocchio+", "ThresholdedRanker", f"Rocchio 1971{_IN}",
        "Rocchio's prototypes, each label with its own cut-off",
        _GAMMAS, parts={"estimator": "Rocchio"}, per_label=True, floor=0.1),
    _nb("NB", paper=f"McCallum & Nigam 1998{_IN}",
        summary="Multinomial naive Bayes: labels by their posterior probability"),
    _nb("NB-Bernoulli", paper=f"McCallum & Nigam 1998{_IN}", event_model="bernoulli",
        summary="Naive Bayes of words that are there or not (multivariate Bernoulli)"),
    _nb("NB-length", paper=_LECTURE, event_model="multinomial_length",
        summary="Full multinomial naive Bayes: the length of a document counts, too"),
    _powerset("LP", paper=f"Tsoumakas & Vlahavas 2007{_IN}",
              summary="Label powerset: every set of labels is one class of a linear SVM",
              grid={"estimator__C": _FEW_STRENGTHS, "prune": (0, 2)}),
    _powerset("LP-pruned", paper="Read 2008", prune=2,
              summary="Pruned label powerset: rare sets are replaced by the frequent ones in them",
              grid={"estimator__C": _FEW_STRENGTHS, "prune": (1, 2, 5)}),
    row("rules", "RuleRanker", f"Quinlan 1990{_IN}",
        "Rules of words, grown by FOIL's gain, for each label against all others",
        {"max_length": (2, 4, 8), "max_rules": (10, 30, 100)}),
    row("compress", "CompressionClassifier", f"Benedetto et al. 2002{_IN}",
        "Which label's documents help most to compress this one",
        {"level": (1, 3, 9)}, needs=("text",)),
    _one_vs_rest("one-vs-all", paper=_LECTURE, parts=_LOGISTIC,
                 summary="One logistic regression per label; any classifier as `estimator`",
                 grid={"estimator__C": (*_FEW_STRENGTHS, 100.0)}),
    row("round-robin", "PairwiseClassifier", _LECTURE,
        "One logistic regression per pair of labels, calibrated; any classifier inside",
        {"estimator__C": (*_FEW_STRENGTHS, 100.0)}, parts=_LOGISTIC),
    _one_vs_rest("trees", paper=f"Dumais et al. 1998{_IN}", estimator__min_samples_leaf=2,
                 summary="One decision tree per label",
                 parts={"estimator": "sklearn.tree:DecisionTreeClassifier"},
                 grid={"estimator__min_samples_leaf": (1, 2, 5),
                       "estimator__max_depth": (None, 20)}),
    _one_vs_rest("SVM-linear", paper=f"Joachims 1998{_IN}",
                 summary="One linear SVM of scikit-learn per label",
                 parts={"estimator": "sklearn.svm:LinearSVC"},
                 grid={"estimator__C": _FEW_STRENGTHS}),
    _svm_of("SVM-poly", summary="One SVM with polynomial kernel per label, solved by libsvm",
            grid={"C": _FEW_STRENGTHS, "degree": (2, 3)}, kernel="poly", degree=2, coef0=1.0),
    _svm_of("SVM-rbf", summary="One SVM with radial basis functions per label, solved by libsvm",
            grid={"C": (1.0, 10.0), "gamma": (0.6, 1.0, 1.2)}, kernel="rbf"),
)  # fmt: skip


# Beyond linear: trees and kernels, for tables and other dense features.
BEYOND = (
    row("forest", "ForestRanker", "Geurts, Ernst & Wehenkel 2006",
        "A hundred extremely randomised trees, each for all labels at once",
        {"n_estimators": (100, 300), "min_samples_leaf": (1, 2, 5),
         "max_features": ("sqrt", 0.3, 1.0)}),
    row("boosted-trees", "BoostedTrees", "Friedman 2001, as in Ke et al. 2017, LightGBM",
        "Gradient boosting: a hundred small trees per label for its logistic loss",
        {"n_rounds": (50, 100, 200), "learning_rate": (0.05, 0.1), "max_leaves": (7, 31)}),
    row("kernel", "KernelRanker", "Williams & Seeger 2001",
        "Logistic regression per label on features of a Gaussian kernel (Nyström)",
        {"gamma": (None, 0.1, 1.0), "estimator__C": (1.0, 10.0, 100.0)},
        parts={"estimator": "logistic"},
        estimator__C=10.0),
)  # fmt: skip


# Label ranking: the targets are orders of all labels.
_ORDERS = "Cheng, Hühn & Hüllermeier 2009"
_SOME_NEIGHBORS = {"n_neighbors": (5, 10, 20, 40)}

ORDERS = (
    row("IBLR-Borda", "NeighborOrders", _ORDERS,
        "Label ranking: the mean places that the nearest instances give to a label",
        _SOME_NEIGHBORS, needs=("order",)),
    row("IBLR-Mallows", "NeighborOrders", _ORDERS,
        "Label ranking: the order that disagrees least with those of the nearest instances",
        _SOME_NEIGHBORS, needs=("order",), consensus="mallows"),
    row("LR-forest", "LevelRanker", "Zhou & Qiu 2018",
        "Label ranking forest: randomised trees, the levels that a label reaches in their leaves",
        {"estimator__min_samples_leaf": (1, 2, 5)}, needs=("order",),
        parts={"estimator": "forest"}),
    row("RPC", "PairwiseClassifier", "Hüllermeier et al. 2008",
        "Label ranking by pairwise comparison: one logistic regression per pair, weighted votes",
        {"estimator__C": (*_FEW_STRENGTHS, 100.0)}, needs=("order",), parts=_LOGISTIC,
        calibrated=False, ordered=True, voting="weighted"),
)  # fmt: skip


# The preference learning machine, its embeddings, and its rival.
_PLM_PAPER = "Lauriola et al. 2018"
_SIZES = {"n_components": (25, 50, 100), "epochs": (10, 30, 100)}
_RATES = {"n_components": (50, 100, 200), "learning_rate": (0.01, 0.03, 0.1)}

_ec = partial(row, learner="EmbeddingCodingPLM", paper=_PLM_PAPER)
_ep = partial(row, learner="EmbeddingPCAPLM", paper=_PLM_PAPER)
_bagged = partial(
    row, learner="BaggedRanker", paper=_PLM_PAPER,
    grid={"estimator__n_components": (25, 50), "estimator__epochs": (10, 30, 100)},
)  # fmt: skip
_mlp = partial(
    row, learner="MultilayerPerceptron", paper=_PLM_PAPER,
    grid={"learning_rate": (0.001, 0.003, 0.01), "epochs": (20, 60)},
)  # fmt: skip

PLM = (
    row("PLM", "PreferenceLearningMachine", "Aiolli & Sperduti 2005, as in Lauriola et al. 2018",
        "Preference learning machine: a perceptron on the worst arc of each instance",
        {"graph": ("all", "per_label", "per_pair"), "epochs": (5, 10, 30)}),
    _ec("EC-PLM", summary="Embedding and label codes learned in turns by voted perceptrons",
        grid=_SIZES),
    _ep("EP-PLM", summary="Label codes from co-occurrence, the embedding by a voted perceptron",
        grid={**_SIZES, "code_scale": ("eigenvalue", "sqrt", "none")}),
    _ec("EC-PLM+", summary="Embedding and codes together, from hard negatives, with AdaGrad steps",
        grid=_RATES, init="pca", update="adagrad", learning_rate=0.03, negatives=16),
    _ep("EP-PLM+",
        summary="Balanced codes, all labels of an instance against hard negatives, AdaGrad steps",
        grid=_RATES, code_scale="balanced", update="adagrad", learning_rate=0.03, negatives=4,
        epochs=60),
    _bagged("bagged EC-PLM", parts={"estimator": "EC-PLM"},
            summary="Ten EC-PLM of different samples, their scores averaged"),
    _bagged("bagged EP-PLM", parts={"estimator": "EP-PLM"},
            summary="Ten EP-PLM of different samples, their scores averaged"),
    _mlp("MLP linear", activation="linear",
         summary="Network of the shape of EC-PLM with a linear hidden layer"),
    _mlp("MLP sigmoid", activation="sigmoid",
         summary="Network of the shape of EC-PLM with a sigmoid hidden layer"),
)  # fmt: skip

ENTRIES = PERCEPTRONS + CHAINS + MARGINS + TEXT + BEYOND + ORDERS + PLM
