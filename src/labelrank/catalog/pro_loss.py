"""Large margins for PRO loss, and the large-margin rivals of its paper (002).

All have an intercept: the paper's dense data sets are not centred on the threshold.
"""

from labelrank.catalog.entry import Entry

_PAPER = "Xu, Li & Zhou 2013 (002)"
_PROSVM = "labelrank.learners.margins.prosvm:ProSVM"

_STRENGTHS = {"C": (0.01, 0.1, 1.0, 10.0)}

ENTRIES = (
    Entry(
        name="ProSVM",
        learner=_PROSVM,
        paper=_PAPER,
        summary="Large margins for PRO loss: the set of relevant labels and their order",
        settings={"fit_intercept": True},
        needs=("order",),
        grid=_STRENGTHS,
    ),
    Entry(
        name="ProSVM-A",
        learner=_PROSVM,
        paper=_PAPER,
        summary="ProSVM by its upper bound: preferences with the threshold, and a chain",
        settings={"fit_intercept": True, "approximate": True},
        needs=("order",),
        grid=_STRENGTHS,
    ),
    Entry(
        name="ProSVM-A+",
        learner=_PROSVM,
        paper=_PAPER,
        summary="ProSVM-A with the strength that suits rows of length 1, such as texts",
        settings={"approximate": True, "C": 40.0, "tol": 0.1},
        needs=("order",),
        improves="ProSVM-A",
        grid={"C": (10.0, 20.0, 40.0, 80.0)},
    ),
    Entry(
        name="ProSVM'",
        learner=_PROSVM,
        paper=_PAPER,
        summary="ProSVM without preferences between relevant labels",
        settings={"fit_intercept": True, "ordered": False},
        grid=_STRENGTHS,
    ),
    Entry(
        name="ProSVM-A'",
        learner=_PROSVM,
        paper=_PAPER,
        summary="ProSVM-A without preferences between relevant labels",
        settings={"fit_intercept": True, "approximate": True, "ordered": False},
        grid=_STRENGTHS,
    ),
    Entry(
        name="RankSVM",
        learner="labelrank.learners.margins.ranksvm:RankSVM",
        paper="Elisseeff & Weston 2002, as in 002",
        summary="Large margins of relevant over irrelevant labels, threshold by least squares",
        settings={"fit_intercept": True},
        grid=_STRENGTHS,
    ),
    Entry(
        name="RankSVM-R",
        learner="labelrank.learners.margins.ranksvm:TwoStageRanker",
        paper=_PAPER,
        summary="RankSVM decides the set, pairwise comparison orders it",
        parts={"selector": "RankSVM", "orderer": "PCnR"},
        needs=("order",),
        grid={"selector__C": (0.01, 0.1, 1.0, 10.0)},
    ),
    Entry(
        name="BSVM",
        learner="labelrank.learners.margins.binary_relevance:BinaryRelevanceSVM",
        paper="Boutell et al. 2004, as in 002",
        summary="One linear SVM a label, all labels in one pass over the data",
        settings={"fit_intercept": True, "loss": "hinge"},
        grid=_STRENGTHS,
    ),
    Entry(
        name="BSVM+",
        learner="labelrank.learners.margins.binary_relevance:BinaryRelevanceSVM",
        paper="Boutell et al. 2004, as in 002",
        summary="BSVM with the squared hinge: smoother, and faster to solve",
        settings={"fit_intercept": True},
        improves="BSVM",
        grid=_STRENGTHS,
    ),
)
