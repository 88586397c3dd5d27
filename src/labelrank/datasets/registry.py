"""Which data sets have a name: what they are, where they come from, on which terms.

Each entry points to the function that builds the set from its files (`module:function` and
the arguments it needs), so that listing the names reads nothing.
"""

from typing import Any, NamedTuple

_MULAN = "Mulan project (tsoumakas/mulan)"
_MEKA = "MEKA project (Waikato/meka)"
_MLDR = "mldr.datasets project (fcharte/mldr.datasets), first from MEKA"
_UCI = "UCI repository"
_RESEARCH = "for research; the rights in the data lie with their first authors"
_CC_BY = "CC BY 4.0"


class Entry(NamedTuple):
    """A named data set: `task` and `format` in words, the `files` its `builder` needs.

    Files are relative to a data folder and named without their compression.
    """

    name: str
    task: str
    format: str
    origin: str
    terms: str
    builder: str
    files: tuple[str, ...]
    arguments: dict[str, Any] = {}


def _mulan(name: str, *stems: str, xml: str = "", origin: str = _MULAN) -> Entry:
    files = tuple(f"mulan/{stem}" for stem in (*stems, xml or f"{name}.xml"))
    return Entry(name, "multi-label", "Mulan ARFF", origin, _RESEARCH, "tables:mulan", files)


def _mulan_split(name: str, stem: str = "", ending: str = "") -> Entry:
    stem = stem or name
    train, test = (f"{stem}-{part}{ending}.arff" for part in ("train", "test"))
    return _mulan(name, train, test, xml=f"{stem}.xml")


def _meka(name: str, stem: str, task: str, terms: str) -> Entry:
    return Entry(name, task, "MEKA ARFF", _MEKA, terms, "tables:meka", (f"meka/{stem}.arff",))


def _targets(name: str, n_targets: int, task: str, terms: str) -> Entry:
    files = (f"multitarget/{name}.arff",)
    arguments = {"n_targets": n_targets}
    builder = "tables:graded_targets" if task == "graded" else "tables:class_targets"
    return Entry(name, task, "ARFF, targets last", _MULAN, terms, builder, files, arguments)


def _yahoo(topic: str) -> Entry:
    origin = "web pages of Ueda and Saito in M.-L. Zhang's version"
    files = (f"yahoo/yahoo_{topic}.npz",)
    return Entry(f"yahoo-{topic}", "multi-label", "numpy archive", origin, _RESEARCH,
                 "tables:yahoo", files)  # fmt: skip


def _distribution(stem: str) -> Entry:
    origin = "X. Geng's label distribution sets and Emotion6, from PyLDL (SpriteMisaka/PyLDL)"
    return Entry(stem.lower().replace("_", "-"), "label distribution", "MATLAB 5", origin,
                 _RESEARCH, "tables:distribution", (f"ldl/{stem}.mat",))  # fmt: skip


def _ranking(stem: str, partial: bool) -> Entry:
    folder = "partiallabelranking" if partial else "labelranking"
    task = "partial label ranking" if partial else "label ranking"
    origin = "scikit-lr project (alfaro96/scikit-lr), sets of Cheng, Huehn and Huellermeier (2009)"
    return Entry(f"{'plr' if partial else 'lr'}-{stem}", task, "label ranking CSV", origin,
                 "for research (scikit-lr is MIT)", "tables:ranking",
                 (f"{folder}/{stem}.csv",))  # fmt: skip


def _text(
    name: str, origin: str, terms: str, *files: str, format: str = "JSON lines",
    task: str = "multi-label text",
) -> Entry:  # fmt: skip
    return Entry(name, task, format, origin, terms, f"corpora:{name.replace('-', '_')}", files)


_YAHOO = "arts business computers education entertainment health reference science society"
_DISTRIBUTIONS = "SJAFFE SBU_3DFE Movie emotion6 Yeast_alpha Yeast_cold Yeast_spo"
_RANKINGS = (
    "authorship bodyfat cold cpu diau dtt glass housing "
    "iris pendigits segment spo stock vehicle vowel wisconsin"
)
_PARTIAL_RANKINGS = "ecoli glass iris libras vehicle vowel yeast"
_DEBTAGS_TERMS = "licences of the packages; tags of the Debtags project"
_REUTERS_TERMS = "for research only; copyright Reuters"

_ENTRIES = (
    _text("debtags-sample", "Debian 12 package metadata: 5,000 packages and 95 tags",
          _DEBTAGS_TERMS, format="JSON lines, in the package"),
    *map(_mulan_split, ("emotions", "scene", "yeast", "enron", "medical", "genbase", "bibtex")),
    _mulan_split("corel5k", "Corel5k", "-sparse"),
    *map(_mulan_split, ("delicious", "tmc2007-500")),
    _mulan("foodtruck", "foodtruck.arff"),
    _mulan("slashdot", "slashdot.arff", origin=_MLDR),
    _mulan("ohsumed", "ohsumed.arff", origin=_MLDR),
    _meka("music", "Music", "multi-label", _RESEARCH),
    _meka("solar-flare", "solar_flare", "multi-dimensional", _CC_BY),
    _meka("thyroid", "thyroid-L7", "multi-dimensional", _CC_BY),
    _targets("edm", 2, "multi-dimensional", _RESEARCH),
    _targets("sf1", 3, "multi-dimensional", _CC_BY),
    _targets("sf2", 3, "multi-dimensional", _CC_BY),
    _targets("wq", 14, "graded", _RESEARCH),
    Entry("bridges", "multi-dimensional", "CSV", _UCI, _CC_BY, "tables:bridges",
          ("multitarget/bridges.data.version2.csv",)),
    _text("reuters21578", "Reuters-21578, distribution 1.0", _REUTERS_TERMS, "reuters21578.tar",
          format="Reuters-21578 SGML"),
    Entry("rcv1v2", "multi-label", "multi-label LIBSVM",
          "rcv1v2 topics subsets of Lewis, Yang, Rose and Li (2004), from mldr.datasets",
          _REUTERS_TERMS, "tables:rcv1v2",
          ("rcv1/rcv1v2_topics_train.svm", "rcv1/rcv1v2_topics_test.svm",
           "rcv1/rcv1v2_topics.labels.tsv")),
    _text("eurlex-titles",
          "EU legislative acts extracted from EUR-Lex by D. Toshkov, names from EuroVoc 4.3",
          "free reuse with acknowledgement (Toshkov 2019; European Union)",
          "eurlex/eurlex_titles_2004_2019.jsonl", "eurlex/eurovoc_descriptors_en.tsv"),
    *map(_yahoo, _YAHOO.split()),
    *map(_distribution, _DISTRIBUTIONS.split()),
    _text("affective-text", "SemEval-2007 task 14", "freely available for research",
          "affectivetext_semeval2007.tar", format="XML headlines and scores", task="graded text"),
    *(_ranking(stem, partial=False) for stem in _RANKINGS.split()),
    *(_ranking(stem, partial=True) for stem in _PARTIAL_RANKINGS.split()),
    _text("goemotions", "GoEmotions (Google Research); Reddit comments, some of them offensive",
          _CC_BY, *(f"goemotions/{part}.tsv" for part in ("train", "dev", "test")),
          "goemotions/labels.txt", format="TSV"),
    _text("pubmed-mesh",
          "PubMed Multi Label Text Classification Dataset, a small random sample",
          "abstracts: copyright of the publishers; MeSH: US National Library of Medicine",
          "pubmed_mesh_sample.jsonl"),
    _text("hallmarks",
          "Hallmarks of Cancer corpus (sb895/Hallmarks-of-Cancer), gathered by document",
          "GPL-3", "hallmarks_of_cancer.jsonl"),
    _text("debtags", "Debian 12 package metadata (main, amd64)", _DEBTAGS_TERMS, "debtags.jsonl"),
)  # fmt: skip

REGISTRY = {entry.name: entry for entry in _ENTRIES}
