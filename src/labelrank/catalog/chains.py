"""Chains of classifiers, with logistic links as in the paper's Table 3."""

from functools import partial

from labelrank.catalog import row

_PAPER = "Read, Martino & Luengo 2013, Viterbi classifier chains"
_STRENGTHS = (0.01, 0.1, 1.0, 10.0)

_chain = partial(
    row, paper=_PAPER, grid={"estimator__C": _STRENGTHS},
    parts={"estimator": "labelrank.learners.chains.logistic:LogisticLink"},
)  # fmt: skip
_of_chains = partial(row, paper=_PAPER, grid={"estimator__estimator__C": _STRENGTHS})

ENTRIES = (
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
