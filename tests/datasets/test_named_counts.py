"""Every named set has the instances, features, labels, cardinality and split it is known for."""

import functools

import numpy as np
import pytest

from labelrank.datasets import describe, load, names

pytestmark = pytest.mark.data

# name: instances, features, labels, cardinality, sizes of the parts
MULTILABEL = {
    "emotions": (593, 72, 6, 1.868, (391, 202)),
    "scene": (2407, 294, 6, 1.074, (1211, 1196)),
    "yeast": (2417, 103, 14, 4.237, (1500, 917)),
    "enron": (1702, 1001, 53, 3.378, (1123, 579)),
    "medical": (978, 1449, 45, 1.245, (333, 645)),
    "genbase": (662, 1186, 27, 1.252, (463, 199)),
    "bibtex": (7395, 1836, 159, 2.402, (4880, 2515)),
    "corel5k": (5000, 499, 374, 3.522, (4500, 500)),
    "delicious": (16105, 500, 983, 19.020, (12920, 3185)),
    "tmc2007-500": (28596, 500, 22, 2.158, (21519, 7077)),
    "foodtruck": (407, 21, 12, 2.290, ()),
    "slashdot": (3782, 1079, 22, 1.181, ()),
    "ohsumed": (13929, 1002, 23, 1.663, ()),
    "music": (592, 71, 6, 1.870, ()),
    "rcv1v2": (11614, 47236, 101, 2.915, (8790, 2824)),
    "eurlex-titles": (33263, None, 4341, 6.098, (26874, 6389)),
    "yahoo-arts": (5000, 462, 26, 1.636, (2000, 3000)),
    "yahoo-business": (5000, 438, 30, 1.588, (2000, 3000)),
    "yahoo-computers": (5000, 681, 33, 1.508, (2000, 3000)),
    "yahoo-education": (5000, 550, 33, 1.461, (2000, 3000)),
    "yahoo-entertainment": (5000, 640, 21, 1.420, (2000, 3000)),
    "yahoo-health": (5000, 612, 32, 1.662, (2000, 3000)),
    "yahoo-reference": (5000, 793, 33, 1.169, (2000, 3000)),
    "yahoo-science": (5000, 743, 40, 1.451, (2000, 3000)),
    "yahoo-society": (5000, 636, 27, 1.692, (2000, 3000)),
    "goemotions": (54263, None, 28, 1.176, (43410, 5426, 5427)),
    "pubmed-mesh": (1250, None, 5349, 12.77, (800, 200, 250)),
    "hallmarks": (1852, None, 36, 1.677, ()),
    "debtags": (29417, None, 598, 3.754, ()),
    "debtags-sample": (5000, None, 95, 3.758, (3804, 1196)),
}
GRADED = {
    "wq": (1060, 16, 14, ()),
    "affective-text": (1250, None, 6, (250, 1000)),
}
DISTRIBUTIONS = {
    "sjaffe": (213, 243, 6),
    "sbu-3dfe": (2500, 243, 6),
    "movie": (7755, 1869, 5),
    "emotion6": (1980, 168, 7),
    "yeast-alpha": (2465, 24, 18),
    "yeast-cold": (2465, 24, 4),
    "yeast-spo": (2465, 24, 6),
}
MULTIDIMENSIONAL = {
    "solar-flare": (323, 10, (5, 5, 5)),
    "thyroid": (9172, 29, (5, 5, 3, 2, 4, 4, 2)),
    "edm": (154, 16, (3, 3)),
    "sf1": (323, 10, (3, 4, 2)),
    "sf2": (1066, 10, (8, 6, 3)),
    "bridges": (108, 7, (2, 3, 3, 3, 7)),
}
RANKINGS = {
    "lr-authorship": (841, 70, 4),
    "lr-bodyfat": (252, 7, 7),
    "lr-cold": (2465, 24, 4),
    "lr-cpu": (8192, 6, 5),
    "lr-diau": (2465, 24, 7),
    "lr-dtt": (2465, 24, 4),
    "lr-glass": (214, 9, 6),
    "lr-housing": (506, 6, 6),
    "lr-iris": (150, 4, 3),
    "lr-pendigits": (10992, 16, 10),
    "lr-segment": (2310, 18, 7),
    "lr-spo": (2465, 24, 11),
    "lr-stock": (950, 5, 5),
    "lr-vehicle": (846, 18, 4),
    "lr-vowel": (528, 10, 11),
    "lr-wisconsin": (194, 16, 16),
    "plr-ecoli": (336, 7, 8),
    "plr-glass": (214, 9, 6),
    "plr-iris": (150, 4, 3),
    "plr-libras": (360, 90, 15),
    "plr-vehicle": (846, 18, 4),
    "plr-vowel": (528, 10, 11),
    "plr-yeast": (1484, 8, 10),
}


@functools.lru_cache(maxsize=8)
def found(name):
    return load(name)


def shape(dataset):
    return dataset.n_instances, dataset.n_features, dataset.n_labels


def test_every_name_is_counted_here():
    counted = {*MULTILABEL, *GRADED, *DISTRIBUTIONS, *MULTIDIMENSIONAL, *RANKINGS, "reuters21578"}
    assert counted == set(names())


@pytest.mark.parametrize("name", MULTILABEL)
def test_multilabel_sets_have_their_published_counts(name):
    *expected, cardinality, parts = MULTILABEL[name]
    dataset = found(name)
    described = describe(dataset)
    assert shape(dataset) == tuple(expected)
    assert described["cardinality"] == pytest.approx(
        cardinality, abs=6e-4 if cardinality < 10 else 5e-3
    )
    assert described["graded"] == described["unknown"] == 0
    assert tuple(described["splits"].values()) == parts
    assert len(dataset.label_names) == len(set(dataset.label_names)) == dataset.n_labels
    if dataset.texts is not None:
        assert len(dataset.texts) == len(dataset.ids) == dataset.n_instances


@pytest.mark.parametrize("name", GRADED)
def test_graded_sets_have_their_published_counts(name):
    *expected, parts = GRADED[name]
    described = describe(found(name))
    assert shape(found(name)) == tuple(expected)
    assert tuple(described["splits"].values()) == parts
    assert described["graded"] > 0.4
    assert found(name).Y.data.max() == {"wq": 5, "affective-text": 96}[name]


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_degrees_of_a_label_distribution_sum_to_one(name):
    dataset = load(name)
    assert shape(dataset) == DISTRIBUTIONS[name]
    np.testing.assert_allclose(dataset.Y.sum(axis=1), 1, atol=1e-3)


@pytest.mark.parametrize("name", MULTIDIMENSIONAL)
def test_multidimensional_sets_have_their_classes(name):
    n, d, classes = MULTIDIMENSIONAL[name]
    dataset = load(name)
    assert shape(dataset) == (n, d, len(classes))
    assert tuple(describe(dataset)["classes"].values()) == classes
    assert np.nanmin(dataset.Y) == 0
    assert (np.nanmax(dataset.Y, axis=0) < classes).all()


@pytest.mark.parametrize("name", RANKINGS)
def test_rankings_order_all_labels(name):
    dataset = load(name)
    assert shape(dataset) == RANKINGS[name]
    grades = dataset.Y.toarray()
    assert (grades > 0).all()
    distinct = {len(set(row)) for row in grades.tolist()}
    if name.startswith("lr-"):
        assert distinct == {dataset.n_labels}
    else:
        assert min(distinct) < dataset.n_labels


def test_the_first_ranking_of_vowel_is_that_of_its_file():
    ranks = np.array([2, 1, 3, 7, 8, 9, 10, 11, 4, 6, 5])
    np.testing.assert_array_equal(np.argsort(-load("lr-vowel").Y.toarray()[0]), np.argsort(ranks))


def test_reuters_modapte_has_its_verified_counts():
    dataset = load("reuters21578", split="ModApte")
    train, test = dataset.train, dataset.test
    assert (train.n_instances, test.n_instances) == (9603, 3299)
    assert dataset.n_instances == 9603 + 3299
    assert dataset.n_labels == 118
    occur = [np.diff(part.Y.tocsc().indptr) > 0 for part in (train, test)]
    assert [part.sum() for part in occur] == [115, 93]
    assert (occur[0] & occur[1]).sum() == 90
    with_topic = [(np.diff(part.Y.indptr) > 0).sum() for part in (train, test)]
    assert with_topic == [7775, 3019]
    assert train.Y.nnz / 9603 == pytest.approx(1.00, abs=0.005)
    assert test.Y.nnz / 3299 == pytest.approx(1.14, abs=0.005)


def test_reuters_keeps_the_ninety_common_topics_if_asked():
    dataset = load("reuters21578", common_topics=True)
    assert dataset.n_labels == dataset.train.n_labels == len(dataset.label_names) == 90
    assert dataset.n_instances == 9603 + 3299


def test_reuters_modlewis_has_its_published_counts():
    dataset = load("reuters21578", split="ModLewis")
    assert (dataset.train.n_instances, dataset.test.n_instances) == (13625, 6188)


def test_topics_of_rcv1_come_with_their_parents():
    dataset = load("rcv1v2")
    column = {code: k for k, code in enumerate(dataset.label_names)}
    Y = dataset.Y.toarray() > 0
    linked = [
        (code, parent) for code, parent in zip(column, dataset.label_parents) if parent in column
    ]
    assert len(linked) > 80
    for code, parent in linked:
        assert Y[Y[:, column[code]], column[parent]].all(), (code, parent)
    cardinality = [part.Y.nnz / part.n_instances for part in (dataset.train, dataset.test)]
    assert cardinality == pytest.approx([2.913, 2.920], abs=6e-4)


def test_descriptors_of_eurlex_have_names():
    dataset = found("eurlex-titles")
    unnamed = [name for name in dataset.label_names if name.isdigit() or name.startswith("c_")]
    assert len(unnamed) == 121
    counts = np.bincount(dataset.Y.indices)
    assert ((counts == 1).sum(), (counts >= 10).sum()) == (757, 1898)
    assert (np.bincount(dataset.train.Y.indices) > 0).sum() == 3935
    assert load("eurlex-titles", min_count=10).n_labels == 1898


def test_empty_label_sets_are_where_they_are_known():
    assert describe(load("delicious"))["unlabelled_instances"] == 14
    assert describe(load("hallmarks"))["unlabelled_instances"] == 272


def test_roots_of_mesh_are_an_option():
    roots = load("pubmed-mesh", labels="roots")
    assert roots.n_labels == 14
    assert describe(roots)["cardinality"] == pytest.approx(5.73, abs=0.005)


def test_hallmarks_are_graded_by_sentences_if_asked():
    plain, graded = load("hallmarks"), load("hallmarks", graded=True)
    np.testing.assert_array_equal(plain.Y.indices, graded.Y.indices)
    assert set(plain.Y.data) == {1}
    assert graded.Y.data.max() > 3


def test_rare_tags_are_left_out_if_asked():
    counts = np.bincount(found("debtags").Y.indices)
    assert load("debtags", min_count=50).n_labels == (counts >= 50).sum()


def test_the_whole_of_emotions_is_its_parts():
    dataset = load("emotions")
    np.testing.assert_array_equal(dataset.X[:391], dataset.train.X)
    np.testing.assert_array_equal(dataset.Y[391:].toarray(), dataset.test.Y.toarray())


@pytest.mark.parametrize(
    ("missing", "n", "classes"), [("class", 108, (3, 4, 4, 4, 8)), ("drop", 89, (2, 3, 3, 3, 7))]
)
def test_unknown_bridges_become_what_is_asked(missing, n, classes):
    dataset = load("bridges", missing=missing)
    assert dataset.Y.dtype == np.int64
    assert dataset.n_instances == n
    assert tuple(map(len, dataset.target_classes)) == classes
    assert np.isnan(load("bridges").Y).any()
