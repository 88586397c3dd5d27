"""What is written reads back the same, compressed or not, in every writable format."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labelrank.datasets import formats
from labelrank.datasets.dataset import Dataset
from labelrank.errors import InputError, MissingError
from labelrank.relevance import check_relevance

SETTINGS = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NUMBERS = st.one_of(st.just(0.0), st.floats(-1e6, 1e6), st.integers(-5, 5).map(float))


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


@st.composite
def matrices(draw, graded=False):
    n, d, k = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    X = draw(hnp.arrays(float, (n, d), elements=NUMBERS))
    grades = st.sampled_from([0.0, 1.0, 2.5, np.nan] if graded else [0.0, 1.0])
    Y = draw(hnp.arrays(float, (n, k), elements=grades))
    names = [f"l {j}" for j in range(k)]
    features = [f"f'{j}" for j in range(d)]
    X = sp.csr_array(X) if draw(st.booleans()) else X
    return Dataset("made", X, check_relevance(Y), label_names=names, feature_names=features)


@pytest.mark.parametrize("ending", [".svm", ".svm.gz", ".txt.zst"])
@SETTINGS
@given(data=matrices())
def test_libsvm_and_extreme_read_back(tmp_path, ending, data):
    name = "libsvm" if ".svm" in ending else "extreme"
    formats.write(data, tmp_path / f"d{ending}", format=name)
    sizes = {"n_features": data.n_features, "n_labels": data.n_labels, "zero_based": False}
    options = sizes if name == "libsvm" else {}
    back = formats.read(tmp_path / f"d{ending}", format=name, **options)
    np.testing.assert_array_equal(dense(back.X), dense(data.X))
    np.testing.assert_array_equal(back.Y.toarray(), data.Y.toarray())


@pytest.mark.parametrize("name", ["d.arff", "d.arff.bz2", "d.npz"])
@SETTINGS
@given(data=matrices(graded=True))
def test_grades_and_unknown_labels_read_back(tmp_path, name, data):
    formats.write(data, tmp_path / name)
    back = formats.read(tmp_path / name)
    np.testing.assert_array_equal(dense(back.X), dense(data.X))
    np.testing.assert_array_equal(back.Y.toarray(), data.Y.toarray())
    assert (back.label_names, back.feature_names) == (data.label_names, data.feature_names)


@SETTINGS
@given(data=matrices(graded=True))
def test_meka_reads_back(tmp_path, data):
    formats.write(data, tmp_path / "d.arff.xz", format="meka")
    back = formats.read(tmp_path / "d.arff.xz", format="meka")
    np.testing.assert_array_equal(dense(back.X), dense(data.X))
    np.testing.assert_array_equal(back.Y.toarray(), data.Y.toarray())
    assert not list(tmp_path.glob("*.xml"))


@pytest.mark.parametrize("name", ["d.jsonl", "d.csv.xz", "d.tsv", "d.parquet", "d.jsonl.zst"])
@SETTINGS
@given(data=matrices(graded=True))
def test_records_of_features_read_back(tmp_path, name, data):
    formats.write(data, tmp_path / name)
    back = formats.read(tmp_path / name, label_names=data.label_names)
    np.testing.assert_array_equal(dense(back.X), dense(data.X))
    np.testing.assert_array_equal(back.Y.toarray(), data.Y.toarray())
    assert back.feature_names == data.feature_names


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@pytest.mark.parametrize("name", ["d.jsonl", "d.csv", "d.tsv", "d.parquet", "d.npz", "d.arff"])
@SETTINGS
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
@example(texts=["\r", 'a "b", c\n'])
def test_texts_ids_and_split_read_back(tmp_path, name, texts):
    n = len(texts)
    Y = check_relevance(np.ones((n, 1)))
    ids = [f"id{k}" for k in range(n)]
    data = Dataset("made", None, Y, texts=texts, label_names=["a:b|c"], ids=ids)
    if n > 1:
        data.train, data.test = data.subset(np.arange(1)), data.subset(np.arange(1, n))
    formats.write(data, tmp_path / name)
    back = formats.read(tmp_path / name)
    assert (back.texts, back.label_names) == (texts, ["a:b|c"])
    if name != "d.arff":
        assert back.ids == ids
        assert (back.test and back.test.texts) == (data.test and data.test.texts)


@pytest.mark.parametrize("name", ["d.arff", "d.npz", "d.csv", "d.parquet", "d.jsonl"])
def test_classes_read_back(tmp_path, name):
    Y = np.array([[2, 0], [0, 1], [1, np.nan]])
    classes = [["p", "q", "r"], ["no x", "yes, x"]]
    data = Dataset("made", np.eye(3), Y, label_names=["s", "t"], target_classes=classes)
    formats.write(data, tmp_path / name)
    records = name not in ("d.arff", "d.npz")
    back = formats.read(tmp_path / name, **({"label_column": ["s", "t"]} if records else {}))
    np.testing.assert_array_equal(back.Y, Y)
    np.testing.assert_array_equal(back.X, np.eye(3))
    assert back.target_classes == classes


def test_missing_features_read_back(tmp_path):
    X = np.array([[np.nan, 1.0], [2.0, 0.0]])
    data = Dataset("made", X, check_relevance([[1], [0]]), label_names=["a"])
    for name in ("d.arff", "d.npz", "d.csv", "d.jsonl", "d.parquet"):
        formats.write(data, tmp_path / name)
        np.testing.assert_array_equal(dense(formats.read(tmp_path / name).X), X)


def test_names_met_twice_stay_apart(tmp_path):
    Y = check_relevance([[1], [0]])
    data = Dataset("made", np.eye(2), Y, label_names=["a"], feature_names=["a", "b"])
    formats.write(data, tmp_path / "d.arff")
    back = formats.read(tmp_path / "d.arff")
    assert (back.label_names, back.feature_names) == (["a"], ["a_2", "b"])


def test_what_a_format_cannot_hold_is_refused(tmp_path):
    graded = Dataset("made", np.eye(2), check_relevance([[2], [0]]), label_names=["a"])
    text = Dataset("made", None, check_relevance([[1]]), texts=["t"], label_names=["a"])
    missing = Dataset("made", np.array([[np.nan]]), check_relevance([[1]]), label_names=["a"])
    for data, reason in ((graded, "no grades"), (text, "no raw text"), (missing, "no missing")):
        with pytest.raises(InputError, match=reason):
            formats.write(data, tmp_path / "d.svm")
    with pytest.raises(InputError, match="read only"):
        formats.write(text, tmp_path / "d.mat")
    with pytest.raises(InputError, match="names no format"):
        formats.write(text, tmp_path / "d.xyz")
    with pytest.raises(MissingError, match="not known"):
        formats.write(text, tmp_path / "d", format="xls")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_no_file(tmp_path):
    wide = Dataset("made", sp.csr_array((9, 10_000_000)), check_relevance(np.ones((9, 1))))
    with pytest.raises(InputError, match="too many for csv"):
        formats.write(wide, tmp_path / "d.csv")
    with pytest.raises(MissingError, match="writable"):
        formats.write(wide, tmp_path / "none" / "d.svm")
    assert list(tmp_path.iterdir()) == []
