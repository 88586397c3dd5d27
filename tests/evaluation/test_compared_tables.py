"""Tables are compared as they are: features come from the training part of each fold alone."""

import numpy as np
import pytest

from labelrank import Rocchio
from labelrank.datasets import Dataset
from labelrank.evaluation import compare
from labelrank.relevance import check_relevance
from labelrank.table import TablePreparation, n_rows


@pytest.fixture
def data():
    draw = np.random.default_rng(0)
    colour = draw.choice(["red", "green", "blue"], 60).tolist()
    age = draw.integers(18, 80, 60).tolist()
    Y = [[c == "red", a is not None and a > 50] for c, a in zip(colour, age)]
    age[3] = None
    code = [f"{k % 7}" for k in range(60)]
    return Dataset(
        "people", None, check_relevance(np.array(Y, float)), label_names=["warm", "old"],
        table={"colour": colour, "age": age, "code": code},
        reading={"roles": {"code": "ignore", "colour": "category", "gone": "text"}},
    )  # fmt: skip


def test_categories_gaps_and_given_roles_are_compared(data):
    found = compare(data, {"Rocchio": Rocchio()}, cv=3, criteria=["macro_auc"])
    assert found.filter(criterion="macro_auc")["value"].min() > 0.9


def test_features_are_learned_from_the_training_part_alone(data, monkeypatch):
    seen = []
    fit = TablePreparation.fit_transform

    def spy(self, X, y=None, **more):
        seen.append((n_rows(X), self.roles))
        return fit(self, X, y, **more)

    monkeypatch.setattr(TablePreparation, "fit_transform", spy)
    compare(data, {"a": Rocchio(), "b": Rocchio(beta=2)}, cv=3, criteria=["micro_f1"])
    assert [rows for rows, _ in seen] == [40, 40, 40]
    assert seen[0][1] == {"code": "ignore", "colour": "category"}


def test_other_roles_are_another_comparison(data, tmp_path):
    def values(roles):
        data.reading = {"roles": roles}
        given = {"cv": 2, "criteria": ["micro_auc"], "out": tmp_path}
        return compare(data, {"Rocchio": Rocchio()}, **given)["value"][0]

    assert values({}) != values({"colour": "ignore"})
