"""`--encoder`: features of texts by a model in a folder, remembered by what was learned."""

import json
import sys
import zlib
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest


class StaticModel:
    """The sum of random vectors, one per word."""

    @classmethod
    def from_pretrained(cls, place):
        return cls()

    def encode(self, texts):
        return np.array([np.sum([_vector(word) for word in text.split()], axis=0)
                         for text in texts])  # fmt: skip


def _vector(word):
    return np.random.default_rng(zlib.crc32(word.encode())).normal(size=16)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a model, and a package that loads it."""
    package = ModuleType("model2vec")
    package.__spec__, package.StaticModel = ModuleSpec("model2vec", None), StaticModel
    monkeypatch.setitem(sys.modules, "model2vec", package)
    place = tmp_path / "words"
    place.mkdir()
    (place / "config.json").write_text('{"model_type": "model2vec"}')
    return place


@pytest.mark.parametrize("more", [[], ["--with-terms"]])
def test_the_model_remembers_its_encoder(run, news, folder, tmp_path, more):
    model = tmp_path / "m.labelrank"
    done = run("fit", news, "-o", model, "--learner", "BSVM+", "--encoder", folder, *more)
    assert done.exit_code == 0, done.output
    done = run("predict", model, "-", "--json", "--input-format", "text", stdin="rye\noil\n")
    assert [json.loads(line)["ranked"][0]["label"] for line in done.output.splitlines()] == [
        "grain", "oil"
    ]  # fmt: skip
    done = run("evaluate", model, news, "--json")
    assert json.loads(done.stdout)["micro_f1"] > 0.9
    done = run("explain", model, "-", "--input-format", "text", "--json", "--label", "oil",
               "--top", "100", stdin="oil wells\n")  # fmt: skip
    names = {one["feature"] for one in json.loads(done.output)["features"]}
    assert {f"embedding[{k}]" for k in range(1, 17)} == names - {"oil"}
    assert ("oil" in names) == bool(more)


def test_learn_and_tune_take_an_encoder(run, news, folder, tmp_path):
    model = tmp_path / "m.labelrank"
    for _ in range(2):
        made = [] if model.exists() else ["--learner", "BR+", "--encoder", folder]
        done = run("learn", model, news, *made)
        assert done.exit_code == 0, done.output
    done = run("fit", news, "--dry-run", "--json", "--encoder", folder, "-o", tmp_path / "n")
    assert json.loads(done.output)["features"] == 16


def test_mistakes_are_told_in_one_sentence(run, news, folder, tmp_path):
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("a,b,labels\n1,2,x\n3,4,y\n5,6,x\n7,8,y\n")
    for data, options, message in [
        (news, ["--with-terms"], "got --with-terms without --encoder"),
        (news, ["--encoder", tmp_path / "none"], "there is no such folder"),
        (numbers, ["--encoder", folder], "an encoder, which reads texts"),
    ]:
        done = run("fit", data, "-o", tmp_path / "m", "-l", "BR+", *options)
        assert done.exit_code != 0
        assert message in " ".join(done.output.split()), done.output
        assert not (tmp_path / "m").exists()
