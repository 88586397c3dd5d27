"""Which data sets have a name: what they are, where they come from, on which terms."""

import io
import os
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

from labelrank.datasets.fetching import addresses, cache_folder
from labelrank.datasets.opening import COMPRESSED, AnyPath, Limits, Source
from labelrank.errors import FormatError, MissingError

_MULAN = "Mulan project (tsoumakas/mulan)"
_MEKA = "MEKA project (Waikato/meka)"
_MLDR = "mldr.datasets project (fcharte/mldr.datasets), first from MEKA"
_UCI = "UCI repository"
_RESEARCH = "for research; the rights in the data lie with their first authors"
_CC_BY = "CC BY 4.0"


class Entry(NamedTuple):
    """A named data set; its `files` are relative to a data folder, named without compression."""

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
    return Entry(name, "multi-label", "Mulan ARFF", origin, _RESEARCH, "mulan_arff", files)


def _mulan_split(name: str, stem: str = "", ending: str = "") -> Entry:
    stem = stem or name
    train, test = (f"{stem}-{part}{ending}.arff" for part in ("train", "test"))
    return _mulan(name, train, test, xml=f"{stem}.xml")


def _meka(name: str, stem: str, task: str, terms: str) -> Entry:
    return Entry(name, task, "MEKA ARFF", _MEKA, terms, "meka_arff", (f"meka/{stem}.arff",))


def _targets(name: str, n_targets: int, task: str, terms: str) -> Entry:
    files = (f"multitarget/{name}.arff",)
    arguments = {"n_targets": n_targets, "targets": "relevance" if task == "graded" else "classes"}
    return Entry(name, task, "ARFF, targets last", _MULAN, terms, "last_columns", files, arguments)


def _ranking(stem: str, partial: bool) -> Entry:
    folder = "partiallabelranking" if partial else "labelranking"
    task = "partial label ranking" if partial else "label ranking"
    origin = "scikit-lr project (alfaro96/scikit-lr), sets of Cheng, Huehn and Huellermeier (2009)"
    return Entry(f"{'plr' if partial else 'lr'}-{stem}", task, "label ranking CSV", origin,
                 "for research (scikit-lr is MIT)", "ranking",
                 (f"{folder}/{stem}.csv",))  # fmt: skip


def _text(
    name: str, origin: str, terms: str, *files: str, format: str = "JSON lines",
    task: str = "multi-label text",
) -> Entry:  # fmt: skip
    return Entry(name, task, format, origin, terms, name.replace("-", "_"), files)


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
    Entry("bridges", "multi-dimensional", "CSV", _UCI, _CC_BY, "bridges",
          ("multitarget/bridges.data.version2.csv",)),
    _text("reuters21578", "Reuters-21578, distribution 1.0", _REUTERS_TERMS, "reuters21578.tar",
          format="Reuters-21578 SGML"),
    Entry("rcv1v2", "multi-label", "multi-label LIBSVM",
          "rcv1v2 topics subsets of Lewis, Yang, Rose and Li (2004), from mldr.datasets",
          _REUTERS_TERMS, "rcv1v2",
          ("rcv1/rcv1v2_topics_train.svm", "rcv1/rcv1v2_topics_test.svm",
           "rcv1/rcv1v2_topics.labels.tsv")),
    _text("eurlex-titles",
          "EU legislative acts extracted from EUR-Lex by D. Toshkov, names from EuroVoc 4.3",
          "free reuse with acknowledgement (Toshkov 2019; European Union)",
          "eurlex/eurlex_titles_2004_2019.jsonl", "eurlex/eurovoc_descriptors_en.tsv"),
    *(Entry(f"yahoo-{topic}", "multi-label", "numpy archive",
            "web pages of Ueda and Saito in M.-L. Zhang's version", _RESEARCH, "yahoo",
            (f"yahoo/yahoo_{topic}.npz",))
      for topic in ("arts", "business", "computers", "education", "entertainment", "health",
                    "reference", "science", "society")),
    *(Entry(stem.lower().replace("_", "-"), "label distribution", "MATLAB 5",
            "X. Geng's label distribution sets and Emotion6, from PyLDL (SpriteMisaka/PyLDL)",
            _RESEARCH, "distribution", (f"ldl/{stem}.mat",))
      for stem in ("SJAFFE", "SBU_3DFE", "Movie", "emotion6", "Yeast_alpha", "Yeast_cold",
                   "Yeast_spo")),
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


class Content(Source):
    """Bytes already in memory, to be read as a file called `name`."""

    def __init__(self, name: str, content: bytes, limits: Limits | None = None) -> None:
        super().__init__(name, limits)
        self.content = content


class Folders:
    """Finds the files of one set, compressed or not, in the first folder that has them."""

    def __init__(self, entry: Entry, data: AnyPath | None, limits: Limits | None = None) -> None:
        self.name, self.files, self.limits = entry.name, entry.files, limits
        given = data if data is not None else os.environ.get("LABELRANK_DATA")
        self.folders = [*([Path(given)] if given else []), cache_folder()]

    def find(self, file: str) -> Path | None:
        """Path of a file given without its compression."""
        endings = ("", *COMPRESSED)
        paths = (folder / (file + ending) for folder in self.folders for ending in endings)
        return next((path for path in paths if path.is_file()), None)

    def path(self, file: str) -> Path:
        """As `find`, or an error that says how to get the file."""
        path = self.find(file)
        if path is not None:
            return path
        looked = " or ".join(str(folder) for folder in self.folders)
        remedy = "set LABELRANK_DATA (or --data) to the folder that has it"
        if self.name in addresses():
            remedy += f", or get it with 'labelrank datasets --fetch {self.name}'"
        raise MissingError(
            f"data set {self.name!r} is known, but {file} is not in {looked}; {remedy}"
        )

    def complete(self) -> bool:
        """Whether every file of the set, or the archive that holds it, is there."""
        return all(self.find(file) or self.find(_archive(file)) for file in self.files)

    def source(self, file: str) -> Source:
        """The file, to be read within the limits; loose, or out of its archive."""
        if self.find(file) is None and self.find(_archive(file)) is not None:
            return self.members(_archive(file), file)[0]
        return Source(self.path(file), self.limits)

    def members(self, archive: str, *names: str) -> list[Source]:
        """Files of a tar archive, found by the end of their path in it."""
        packed = self.source(archive)
        try:
            with tarfile.open(fileobj=io.BytesIO(packed.content), mode="r:") as tar:
                plain = [member for member in tar if member.isfile()]
                return [self._member(packed.name, tar, plain, name) for name in names]
        except tarfile.TarError as error:
            raise FormatError(
                f"{packed.name}: not a tar archive ({error}); get it again"
            ) from error

    def _member(
        self, archive: str, tar: tarfile.TarFile, members: list[tarfile.TarInfo], name: str
    ) -> Source:
        member = next((m for m in members if f"/{m.name}".endswith(f"/{name}")), None)
        file = tar.extractfile(member) if member is not None else None
        if file is None:
            raise FormatError(f"{archive}: there is no {name} in it; get the archive again")
        return Content(f"{archive}/{name}", file.read(), self.limits)


def _archive(file: str) -> str:
    """The archive that may hold a file: the label ranking sets come in one."""
    return "labelranking.tar" if Path(file).parent.name.endswith("labelranking") else file
