"""A name, a path, a part, an option: what `load` makes of them, and how it says no."""

import lzma
import re
import tarfile

import numpy as np
import pytest

from labelrank.datasets import addresses, describe, info, is_available, load, names, save
from labelrank.datasets.opening import Limits
from labelrank.datasets.registry import REGISTRY
from labelrank.errors import FormatError, InputError, MissingError

TINY = "@relation t\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n"
XML = '<labels><label name="a"/><label name="b"/></labels>'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with a scene of three instances, and nowhere else to look."""
    monkeypatch.delenv("LABELRANK_DATA", raising=False)
    monkeypatch.setenv("LABELRANK_CACHE", str(tmp_path / "cache"))
    mulan = tmp_path / "data" / "mulan"
    mulan.mkdir(parents=True)
    (mulan / "scene.xml").write_text(XML)
    (mulan / "scene-train.arff").write_text(TINY + "1,1,0\n2,0,1\n")
    (mulan / "scene-test.arff.xz").write_bytes(lzma.compress((TINY + "3,1,1\n").encode()))
    return tmp_path / "data"


def test_the_sample_needs_no_folder(folder):
    sample = load("debtags-sample")
    assert describe(sample)["splits"] == {"train": 3804, "test": 1196}
    assert all("::" in name for name in sample.label_names)
    assert not any(name.startswith("role::") for name in sample.label_names)
    assert np.bincount(sample.train.Y.indices).min() >= 30
    assert set(sample.train.ids).isdisjoint(sample.test.ids)
    assert all(text.strip() for text in sample.texts)


def test_a_name_is_found_in_the_given_folder_compressed_or_not(folder):
    dataset = load("Scene", data=folder)
    assert dataset.name == "scene"
    np.testing.assert_array_equal(dataset.X.ravel(), [1, 2, 3])
    np.testing.assert_array_equal(dataset.test.Y.toarray(), [[1, 1]])


def test_the_environment_names_the_folder(folder, monkeypatch):
    monkeypatch.setenv("LABELRANK_DATA", str(folder))
    assert load("scene").n_instances == 3


def test_fetched_sets_are_found_without_a_folder(folder, monkeypatch):
    monkeypatch.setenv("LABELRANK_CACHE", str(folder))
    assert load("scene").n_instances == 3


def test_a_part_can_be_asked_for(folder):
    assert load("scene", split="test", data=folder).n_instances == 1
    with pytest.raises(MissingError, match="no validation part; its parts are: train, test"):
        load("scene", split="validation", data=folder)


def test_a_near_name_is_suggested(folder):
    with pytest.raises(MissingError, match=r"did you mean emotion.*LABELRANK_DATA.*--fetch"):
        load("emotoins")


def test_absent_files_say_how_to_get_them(folder):
    with pytest.raises(MissingError, match=r"mulan/yeast.*LABELRANK_DATA.*--fetch yeast"):
        load("yeast", data=folder)
    with pytest.raises(MissingError, match="LABELRANK_DATA") as caught:
        load("yahoo-arts", data=folder)
    assert "--fetch" not in str(caught.value)


def test_an_option_of_another_set_is_refused(folder):
    with pytest.raises(InputError, match="its options are: nominal"):
        load("scene", data=folder, graded=True)
    with pytest.raises(InputError, match="split='ModApte'"):
        load("scene", data=folder, split="ModApte")


def test_a_path_is_read_by_its_format(folder):
    assert load(folder / "mulan" / "scene-train.arff").n_instances == 2
    assert load(str(folder / "mulan" / "scene-test.arff.xz")).n_instances == 1
    with pytest.raises(MissingError, match="nowhere"):
        load(folder / "nowhere.arff")


def test_limits_reach_the_reader(folder):
    with pytest.raises(FormatError, match="limit"):
        load("scene", data=folder, limits=Limits(rows=1))


def test_saved_sets_load_again(folder, tmp_path):
    dataset = load("scene", data=folder)
    save(dataset, tmp_path / "again.arff.gz")
    again = load(tmp_path / "again.arff.gz")
    np.testing.assert_array_equal(again.Y.toarray(), dataset.Y.toarray())
    assert again.label_names == dataset.label_names


def test_every_set_has_its_origin_and_terms():
    assert len(names()) == len(set(names())) == 69
    for name in names():
        assert all(info(name)[key] for key in ("task", "format", "origin", "terms"))
    assert info("reuters21578")["options"] == ["common_topics", "split"]
    with pytest.raises(MissingError, match="yeast"):
        info("yeats")


def test_every_public_address_belongs_to_a_set_and_its_files():
    assert set(addresses()) <= set(REGISTRY)
    for name, sources in addresses().items():
        fetched = {re.sub(r"\.gz$", "", source.file) for source in sources}
        assert set(REGISTRY[name].files) <= fetched


def test_a_set_is_available_when_all_its_files_are(folder):
    assert is_available("debtags-sample")
    assert is_available("scene", folder)
    assert not is_available("scene")
    (folder / "mulan" / "scene.xml").unlink()
    assert not is_available("scene", folder)


def test_a_damaged_archive_is_one_clear_sentence(folder):
    (folder / "labelranking.tar.xz").write_bytes(lzma.compress(b"no archive" * 100))
    with pytest.raises(FormatError, match="not a tar archive"):
        load("lr-vowel", data=folder)
    with tarfile.open(folder / "labelranking.tar.xz", "w:xz"):
        pass
    with pytest.raises(FormatError, match=r"no labelranking/vowel.csv in it"):
        load("lr-vowel", data=folder)


def test_damaged_files_of_named_sets_are_one_clear_sentence(folder):
    broken = {
        "yahoo-arts": ("yahoo/yahoo_arts.npz", b"PK broken"),
        "bridges": ("multitarget/bridges.data.version2.csv", b"E1,M,3\n"),
        "hallmarks": ("hallmarks_of_cancer.jsonl", b'{"id": 1}\n'),
        "debtags": ("debtags.jsonl", b"{not json\n"),
    }
    for name, (file, content) in broken.items():
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes(content)
        with pytest.raises(FormatError, match=r"wanted|not JSON|not a numpy archive"):
            load(name, data=folder)


def test_headlines_without_scores_are_refused(folder, tmp_path):
    for file, text in {
        "affectivetext_trial.xml": '<corpus><instance id="1">a</instance></corpus>',
        "affectivetext_trial.emotions.gold": "2 0 0 0 0 0 0\n",
    }.items():
        (tmp_path / file).write_text(text)
    with tarfile.open(folder / "affectivetext_semeval2007.tar.gz", "w:gz") as tar:
        for file in tmp_path.glob("affectivetext_trial.*"):
            tar.add(file, f"AffectiveText.trial/{file.name}")
    with pytest.raises(FormatError, match="not headlines and their scores"):
        load("affective-text", data=folder)


@pytest.mark.data
def test_label_ranking_sets_are_found_by_the_names_of_the_literature(tmp_path, monkeypatch):
    assert load("vowel").name == load("lr-vowel").name
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vowel").write_text("x0,labels\n1,a\n2,b\n")
    assert load("vowel", format="csv").n_instances == 2
