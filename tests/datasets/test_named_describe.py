"""The numbers that describe a data set, against counting by hand."""

import numpy as np
import pytest

from labelrank.datasets.dataset import Dataset, as_text, describe, join
from labelrank.errors import InputError
from labelrank.relevance import check_relevance

NAN = float("nan")


def dataset(Y, **more):
    Y = np.asarray(Y, float)
    return Dataset(
        "made",
        np.eye(len(Y)),
        check_relevance(Y),
        label_names=[f"l{k}" for k in range(Y.shape[1])],
        **more,
    )


def test_counts_agree_with_counting_by_hand():
    found = describe(
        dataset([[1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 2, 0, 0]])
    )
    assert found["instances"] == 5
    assert found["features"] == 5
    assert found["labels"] == 4
    assert found["cardinality"] == 1.0
    assert found["density"] == 0.25
    assert found["distinct_label_sets"] == 4
    assert found["most_common_label_set"] == 0.4
    assert found["mean_imbalance"] == pytest.approx((1 + 1.5) / 2)
    assert found["max_imbalance"] == 1.5
    assert found["labels_never_relevant"] == 2
    assert found["unlabelled_instances"] == 1
    assert found["graded"] == 0.2
    assert found["splits"] == {}


def test_unknown_labels_are_neither_relevant_nor_a_label_set():
    found = describe(dataset([[1, NAN], [1, 0]]))
    assert found["unknown"] == 0.25
    assert found["cardinality"] == 1.0
    assert found["distinct_label_sets"] == 1


def test_no_relevant_label_at_all_has_no_imbalance():
    found = describe(dataset([[0, 0]]))
    assert found["mean_imbalance"] is None
    assert "mean imbalance" in as_text(found)


def test_multidimensional_targets_show_their_classes():
    Y = np.array([[0, 2], [1, 2], [0, 2]])
    data = Dataset(
        "md", np.eye(3), Y, label_names=["a", "b"], target_classes=[["x", "y"], list("pqr")]
    )
    found = describe(data)
    assert found["targets"] == 2
    assert found["classes"] == {"a": 2, "b": 3}
    assert found["distinct_target_vectors"] == 2
    assert found["most_common_target_vector"] == pytest.approx(2 / 3)
    assert "classes" in as_text(found)


def test_splits_are_part_of_the_description():
    data = dataset([[1, 0], [0, 1], [1, 1]]).with_split(
        {"train": [0, 1], "test": [False, False, True]}
    )
    assert describe(data)["splits"] == {"train": 2, "test": 1}
    assert data.test.name == "made-test"
    assert "train 2, test 1" in as_text(describe(data))


def test_choosing_labels_reaches_every_part():
    data = dataset([[1, 0, 3], [0, 1, 0]]).with_split({"train": [0], "test": [1]})
    cut = data.with_labels([2, 1])
    assert cut.label_names == ["l2", "l1"]
    np.testing.assert_array_equal(cut.Y.toarray(), [[3, 0], [0, 1]])
    np.testing.assert_array_equal(cut.train.Y.toarray(), [[3, 0]])


def test_parts_of_other_labels_cannot_be_joined():
    with pytest.raises(InputError, match="other labels"):
        join({"train": dataset([[1, 0]]), "test": dataset([[1]])}, "both")


def test_the_table_follows_the_rows():
    table = {"colour": ["red", None, "blue"], "size": [1, "2,5", 3]}
    data = dataset([[1], [0], [1]], table=table, reading={"graded": True})
    parts = data.with_split({"train": [True, False, True], "test": [1]})
    assert parts.train.table == {"colour": ["red", "blue"], "size": [1, 3]}
    whole = join({"train": parts.train, "test": parts.test}, "both")
    assert whole.table == {"colour": ["red", "blue", None], "size": [1, 3, "2,5"]}
    assert whole.reading == {"graded": True}


def test_parts_of_other_columns_cannot_be_joined():
    parts = {part: dataset([[1]], table={part: ["x"]}) for part in ("train", "test")}
    with pytest.raises(InputError, match="other labels or features"):
        join(parts, "both")
