"""The classical text classifiers of the lecture, ours and scikit-learn's."""

from functools import partial

from labelrank.catalog import row

_LECTURE = "Fürnkranz, lecture on text classification"
_IN = ", as in Fürnkranz's lecture"
_STRENGTHS = (0.1, 1.0, 10.0)
_GAMMAS = {"estimator__gamma": (0.0, 0.25, 0.5, 1.0)}
_LOGISTIC = {"estimator": "sklearn.linear_model:LogisticRegression"}

_nb = partial(
    row, learner="NaiveBayesRanker",
    grid={"alpha": (0.001, 0.01, 0.1, 1.0), "scores": ("posterior", "log_odds")},
)  # fmt: skip
_powerset = partial(row, learner="LabelPowerset", parts={"estimator": "sklearn.svm:LinearSVC"})
_one_vs_rest = partial(row, learner="sklearn.multiclass:OneVsRestClassifier")
_svm = partial(_one_vs_rest, paper=f"Joachims 1998{_IN}", parts={"estimator": "sklearn.svm:SVC"})

ENTRIES = (
    row("kNN", "InvertedIndexKNN", f"Yang & Liu 1999{_IN}",
        "The labels of the most similar documents, by an inverted index",
        {"n_neighbors": (5, 15, 30, 45), "weights": ("similarity", "uniform")}),
    row("kNN+", "ThresholdedRanker", f"Yang & Liu 1999{_IN}",
        "Nearest documents, cut where micro-F1 is best by cross-validation",
        {"estimator__n_neighbors": (5, 15, 30, 45)}, parts={"estimator": "kNN"}),
    row("Rocchio", "Rocchio", f"Rocchio 1971{_IN}",
        "One prototype per label: the mean of its documents less that of the others",
        {"gamma": (0.0, 0.25, 0.5, 1.0)}),
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
              grid={"estimator__C": _STRENGTHS, "prune": (0, 2)}),
    _powerset("LP-pruned", paper="Read 2008", prune=2,
              summary="Pruned label powerset: rare sets are replaced by the frequent ones in them",
              grid={"estimator__C": _STRENGTHS, "prune": (1, 2, 5)}),
    row("compress", "CompressionClassifier", f"Benedetto et al. 2002{_IN}",
        "Which label's documents help most to compress this one",
        {"level": (1, 3, 9)}, needs=("text",)),
    _one_vs_rest("one-vs-all", paper=_LECTURE, parts=_LOGISTIC,
                 summary="One logistic regression per label; any classifier as `estimator`",
                 grid={"estimator__C": (*_STRENGTHS, 100.0)}),
    row("round-robin", "PairwiseClassifier", _LECTURE,
        "One logistic regression per pair of labels, calibrated; any classifier inside",
        {"estimator__C": (*_STRENGTHS, 100.0)}, parts=_LOGISTIC),
    _one_vs_rest("trees", paper=f"Dumais et al. 1998{_IN}", estimator__min_samples_leaf=2,
                 summary="One decision tree per label",
                 parts={"estimator": "sklearn.tree:DecisionTreeClassifier"},
                 grid={"estimator__min_samples_leaf": (1, 2, 5),
                       "estimator__max_depth": (None, 20)}),
    _svm("SVM-linear", summary="One linear SVM of scikit-learn per label",
         parts={"estimator": "sklearn.svm:LinearSVC"}, grid={"estimator__C": _STRENGTHS}),
    _svm("SVM-poly", summary="One SVM of scikit-learn with polynomial kernel per label",
         grid={"estimator__C": _STRENGTHS, "estimator__degree": (2, 3)},
         estimator__kernel="poly", estimator__degree=2, estimator__gamma=1.0,
         estimator__coef0=1.0),
    _svm("SVM-rbf", summary="One SVM of scikit-learn with radial basis functions per label",
         grid={"estimator__C": (1.0, 10.0), "estimator__gamma": (0.6, 1.0, 1.2)},
         estimator__kernel="rbf", estimator__gamma=1.0),
)  # fmt: skip
