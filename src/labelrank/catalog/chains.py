"""Chains of classifiers (004), with logistic links as in its Table 3."""

from labelrank.catalog.entry import Entry

_PAPER = "Read, Martino & Luengo, Viterbi classifier chains (004)"
_RANDOM_ORDER = {"order": "random"}
_LINK = {"estimator": "labelrank.learners.chains.logistic:LogisticLink"}
_STRENGTHS = (0.01, 0.1, 1.0, 10.0)

ENTRIES = (
    Entry(
        name="IC",
        learner="labelrank.learners.chains.greedy:IndependentClassifiers",
        paper=_PAPER,
        summary="Independent classifiers: one logistic regression a label",
        parts=_LINK,
        grid={"estimator__C": _STRENGTHS},
    ),
    Entry(
        name="CC",
        learner="labelrank.learners.chains.greedy:ClassifierChain",
        paper=_PAPER,
        summary="Classifier chain: each label sees those before it, taken greedily",
        settings=_RANDOM_ORDER,
        parts=_LINK,
        grid={"estimator__C": _STRENGTHS},
    ),
    Entry(
        name="PCC",
        learner="labelrank.learners.chains.probabilistic:ProbabilisticClassifierChain",
        paper=_PAPER,
        summary="Probabilistic classifier chain: the most probable path, exactly; few labels only",
        settings=_RANDOM_ORDER,
        parts=_LINK,
        grid={"estimator__C": _STRENGTHS},
    ),
    Entry(
        name="PCC-beam",
        learner="labelrank.learners.chains.probabilistic:ProbabilisticClassifierChain",
        paper="Kumar et al. 2013, as in 004",
        summary="Probabilistic classifier chain by beam search, for any number of labels",
        settings={**_RANDOM_ORDER, "inference": "beam"},
        parts=_LINK,
        grid={"estimator__C": _STRENGTHS},
    ),
    Entry(
        name="MCC",
        learner="labelrank.learners.chains.monte_carlo:MonteCarloClassifierChain",
        paper=_PAPER,
        summary="Classifier chain with the most probable of sampled paths",
        settings=_RANDOM_ORDER,
        parts=_LINK,
        grid={"estimator__C": _STRENGTHS},
    ),
    Entry(
        name="VCC",
        learner="labelrank.learners.chains.viterbi:ViterbiClassifierChain",
        paper=_PAPER,
        summary="Viterbi classifier chain: each label sees the one before it, best path exactly",
        settings=_RANDOM_ORDER,
        parts=_LINK,
        grid={"estimator__C": _STRENGTHS},
    ),
    Entry(
        name="MsCC",
        learner="labelrank.learners.chains.search:ChainSearch",
        paper=_PAPER,
        summary="The best of 50 random orders of a Monte Carlo classifier chain",
        parts={"estimator": "MCC"},
        grid={"estimator__estimator__C": _STRENGTHS},
    ),
    Entry(
        name="VsCC",
        learner="labelrank.learners.chains.search:ChainSearch",
        paper=_PAPER,
        summary="The best of 50 random orders of a Viterbi classifier chain",
        parts={"estimator": "VCC"},
        grid={"estimator__estimator__C": _STRENGTHS},
    ),
    Entry(
        name="ECC",
        learner="labelrank.learners.chains.ensemble:ChainEnsemble",
        paper="Read et al. 2011, as in 004",
        summary="Ensemble of classifier chains: ten random orders vote",
        parts={"estimator": "CC"},
        grid={"estimator__estimator__C": _STRENGTHS},
    ),
    Entry(
        name="CC+",
        learner="labelrank.learners.chains.ensemble:ChainEnsemble",
        paper=_PAPER,
        summary="Ten Monte Carlo chains of random orders, their probabilities averaged",
        settings={"voting": "soft"},
        parts={"estimator": "MCC"},
        improves="CC",
        grid={"estimator__estimator__C": _STRENGTHS},
    ),
)
