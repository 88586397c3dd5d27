"""Large margins for PRO loss, and the rivals in its paper.

The machines of the paper have an intercept: its dense data sets are not centred on the threshold.
"""

from functools import partial

from labelrank.catalog import row

_PAPER = "Xu, Li & Zhou 2013"
_STRENGTHS = (0.01, 0.1, 1.0, 10.0)

_svm = partial(row, paper=_PAPER, grid={"C": _STRENGTHS})
_prosvm = partial(_svm, learner="ProSVM")
_bsvm = partial(_svm, learner="BinaryRelevanceSVM", paper=f"Boutell et al. 2004, as in {_PAPER}")

ENTRIES = (
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
         paper=f"Elisseeff & Weston 2002, as in {_PAPER}",
         summary="Large margins of relevant over irrelevant labels, threshold by least squares"),
    _svm("RankSVM-R", "TwoStageRanker", needs=("order",), grid={"selector__C": _STRENGTHS},
         summary="RankSVM decides the set, pairwise comparison orders it",
         parts={"selector": "RankSVM", "orderer": "PCnR"}),
    _bsvm("BSVM", fit_intercept=True, loss="hinge",
          summary="One linear SVM per label, all labels in one pass over the data"),
    _bsvm("BSVM+", fit_intercept=True,
          summary="BSVM with the squared hinge: smoother, and faster to solve"),
    row("MLkNN", "MLkNN", f"Zhang & Zhou 2007, as in {_PAPER}",
        "Ten nearest neighbours and Bayes' rule over how many of them carry a label",
        {"n_neighbors": (5, 10, 20, 40)}),
    row("BoosTexter", "AdaBoostMH", f"Schapire & Singer 2000, as in {_PAPER}",
        "AdaBoost.MH with real-valued decision stumps, a thousand rounds",
        {"n_rounds": (100, 300, 1000)}),
    row("GMLC", "GradedClassifier", f"Cheng, Dembczyński & Hüllermeier 2010, as in {_PAPER}",
        "Graded classification: a logistic regression per label and place in the order",
        {"estimator__estimator__C": _STRENGTHS}, parts={"estimator": "IC"}, levels="ranks"),
)  # fmt: skip
