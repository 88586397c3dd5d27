"""Every table and figure of the five papers: which experiment measures it, or why none does."""

from typing import NamedTuple

TITLES = {
    "000": "Loza Mencía & Fürnkranz 2008, pairwise multilabel perceptrons",
    "001": "Lauriola et al. 2018, preference learning machine",
    "002": "Xu, Li & Zhou 2013, PRO loss",
    "003": "Text classification, a lecture",
    "004": "Read, Martino et al., Viterbi classifier chains",
}


class Entry(NamedTuple):
    """A table or figure; `by` names its experiments (the whole one first), `note` what differs."""

    paper: str
    label: str
    what: str
    by: tuple[str, ...] = ()
    note: str = ""


_DRAWING = "a drawing: it holds no measurement"
_PSEUDOCODE = "pseudocode: built as an algorithm, nothing to measure"
_SMALL_RCV1 = "on 8,790 training documents of RCV1 instead of 535,987"
_NOT_HERE = "data not available: "
_PLM_SETS = ("plm-pubmed", "plm-eurlex", "plm-debtags", "plm-synthetic")

CONTENTS = (
    Entry("000", "Figure 1", "the MMP algorithm", note=_PSEUDOCODE),
    Entry("000", "Figure 2", "the perceptrons an example trains", note=_DRAWING),
    Entry("000", "Figure 3", "the MLPP algorithm", note=_PSEUDOCODE),
    Entry("000", "Table I", "expected operations an example", ("mlpp-complexity",),
          "its formulas, filled in with what was counted on RCV1"),
    Entry("000", "Table II", "losses on RCV1", ("mlpp-rcv1",), _SMALL_RCV1),
    Entry("000", "Table III", "losses on Reuters-21578, yeast and scene",
          ("mlpp-small", "mlpp-yeast")),
    Entry("000", "Table IV", "perceptron operations", ("mlpp-operations",), _SMALL_RCV1),
    Entry("000", "Figures 4 to 6", "learning curves on RCV1", ("mlpp-curves",), _SMALL_RCV1),
    Entry("000", "Figure 7", "errors after one to ten epochs", ("mlpp-curves",), _SMALL_RCV1),
    Entry("001", "Figure 1", "preference graphs", note=_DRAWING),
    Entry("001", "Figure 2", "AUC by epochs", ("plm", *_PLM_SETS),
          "on a PubMed sample and three other sets; the paper's 20,000 abstracts are not public"),
    Entry("001", "Figure 3", "AUC by bagged models", ("plm", *_PLM_SETS), "as Figure 2"),
    Entry("001", "Figure 4", "AUC by dimension of the codes, and of networks",
          ("plm", *_PLM_SETS, "plm-quick"), "as Figure 2"),
    Entry("001", "section 5.2", "seconds of an epoch and of the codes", ("plm", "plm-quick"),
          "on a synthetic stream of the paper's size"),
    Entry("001", "section 5.2", "what the order of the learners depends on", ("plm-ablation",),
          "one change a row: words, codes, preferences, documents"),
    Entry("002", "Figure 1", "images with ordered labels", note=_DRAWING),
    Entry("002", "Table 1", "PRO loss on MSRA-M", ("pro-loss-real", "pro-loss-real-quick"),
          _NOT_HERE + "MSRA-M is not public; on 24 other sets with real grades instead"),
    Entry("002", "Table 2", "PRO loss on 19 sets with synthetic order",
          ("pro-loss", "pro-loss-quick"),
          "16 of the sets; Image, Yahoo recreation and Yahoo social are not available"),
    Entry("002", "Figure 2", "nine criteria without order", ("pro-loss", "pro-loss-quick")),
    Entry("002", "Figure 3a", "robustness of time", ("pro-loss", "pro-loss-quick")),
    Entry("002", "Figure 3b", "time of ProSVM by cores", ("pro-loss", "pro-loss-quick"),
          "as many cores as the machine has"),
    Entry("003", "Figures 1 to 4", "event models of naive Bayes by size of the vocabulary",
          ("event-models",), _NOT_HERE + "Yahoo, Industry Sector, Newsgroups and WebKB texts; "
          "on Reuters-21578 and debtags instead"),
    Entry("003", "over-fitting", "capacity control", ("capacity",)),
    Entry("003", "language tree", "50 languages by compression",
          note=_NOT_HERE + "the Declaration of Human Rights in 50 languages"),
    Entry("003", "category sizes", "documents of the ten common categories of Reuters-21578",
          ("reuters-sizes",)),
    Entry("003", "Dumais et al.", "Reuters-21578 by category, four learners", ("reuters",)),
    Entry("003", "Joachims", "Reuters-21578, break-even points, kernels",
          ("reuters", "reuters-kernels"), "kernels on the ten largest categories alone"),
    Entry("003", "Yang & Liu", "Reuters-21578, micro and macro F1", ("reuters",)),
    Entry("003", "recall/precision curve", "four learners on one Reuters category",
          ("reuters-curve",), "the lecture does not name the category; on 'interest'"),
    Entry("003", "RCV1 topics", "share of the largest topics of RCV1", ("rcv1-topics",),
          _SMALL_RCV1 + "; the lecture's bars have no printed numbers"),
    Entry("003", "multiple data sets", "naive Bayes, maximum entropy and SVM on three sets",
          note=_NOT_HERE + "20 Newsgroups, Open Directory and WebKB texts"),
    Entry("003", "RCV1 results", "calibrated pairwise classification on RCV1",
          ("cmlpc-rcv1",), _SMALL_RCV1),
    Entry("004", "Table 1, Figures 1 to 3", "notation, paradigms and graphical models",
          note=_DRAWING),
    Entry("004", "Table 2", "the Viterbi chain", note=_PSEUDOCODE),
    Entry("004", "Figures 4 and 5", "paths and trellis of a chain", ("chains-trellis",),
          "from a real instance of Music; the paper's is invented"),
    Entry("004", "Table 3", "Jaccard index with logistic links", ("chains", "chains-logistic")),
    Entry("004", "Table 4", "Jaccard index with forests", ("chains", "chains-forest-evidence")),
)  # fmt: skip

# The left one is a part or a reduced form of the right one, which the whole book runs in its place.
SHORT_FORMS = {
    "mlpp-yeast": "mlpp-small",
    "plm-pubmed": "plm",
    "plm-eurlex": "plm",
    "plm-debtags": "plm",
    "plm-synthetic": "plm",
    "plm-quick": "plm",
    "pro-loss-quick": "pro-loss",
    "pro-loss-real-quick": "pro-loss-real",
    "chains-logistic": "chains",
}

QUICK = (
    "reuters-sizes", "rcv1-topics", "mlpp-rcv1", "cmlpc-rcv1", "mlpp-operations",
    "mlpp-complexity", "mlpp-curves", "chains-trellis", "chains-logistic", "event-models",
    "reuters-curve", "plm-quick", "pro-loss-real-quick",
)  # fmt: skip


def planned(names: list[str], quick: bool) -> list[str]:
    """Of the experiments those of a whole book, or of the quick one.

    >>> planned(["plm", "plm-quick", "mlpp-rcv1"], quick=False)
    ['plm', 'mlpp-rcv1']
    """
    if quick:
        return [name for name in names if name in QUICK]
    return [name for name in names if SHORT_FORMS.get(name) not in names]
