"""Relevance, preferences and decoding: the conventions all learners stand on."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labelrank import RelevanceBinarizer, decoding
from labelrank.errors import InputError
from labelrank.preferences import PRO_LOSS_KINDS, Kind, arcs, count, pairs_of
from labelrank.relevance import check_relevance, from_classes
from labelrank.rows import as_rows


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[0, -1]], "negative"),
        ([[0, np.inf]], "infinite"),
        ([["a", "b"]], "RelevanceBinarizer"),
        ([["a"], ["a", "b"]], "RelevanceBinarizer"),
        (np.zeros((2, 3, 4)), "3 dimension"),
        (np.zeros((2, 0)), "without labels"),
        (sp.csr_array([[0.0, -2.0]]), "negative"),
        ([[1 + 2j]], "complex"),
    ],
)
def test_what_is_no_relevance_is_refused_in_one_sentence(Y, message):
    with pytest.raises(InputError, match=message) as caught:
        check_relevance(Y)
    assert "\n" not in str(caught.value)


def test_unknown_labels_survive_dense_and_sparse():
    dense = np.array([[np.nan, 0.0, 2.0]])
    stored = sp.csr_array((np.array([np.nan, 0.0, 2.0]), [0, 1, 2], [0, 3]), shape=(1, 3))
    for Y in (dense, stored, sp.coo_array(dense)):
        canonical = check_relevance(Y)
        assert canonical.nnz == 2
        np.testing.assert_array_equal(canonical.toarray(), dense)


def test_input_is_never_changed():
    Y = sp.csr_array((np.array([0.0, 1.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    before = Y.data.copy(), Y.indices.copy()
    check_relevance(Y)
    np.testing.assert_array_equal(Y.data, before[0])
    np.testing.assert_array_equal(Y.indices, before[1])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool, np.int32, np.float32, np.int64])
def test_narrow_label_types_keep_every_column(dtype):
    Y = np.eye(300, dtype=dtype)
    np.testing.assert_array_equal(check_relevance(Y).toarray(), np.eye(300))
    np.testing.assert_array_equal(check_relevance(sp.csr_array(Y)).toarray(), np.eye(300))


def test_wrong_heights_and_widths_name_both_numbers():
    with pytest.raises(InputError, match=r"3 rows but Y has 2"):
        check_relevance(np.eye(2), n_rows=3)
    with pytest.raises(InputError, match=r"2 label columns but 5"):
        check_relevance(np.eye(2), n_labels=5)


def test_rows_take_both_index_widths_and_any_order():
    wide = sp.csr_array(np.array([[0, 3.0, 1.0]]))
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    mixed = sp.csr_array((np.array([1.0, 3.0]), np.array([2, 1]), np.array([0, 2])), shape=(1, 3))
    for X in (wide, mixed, np.array([[0, 3.0, 1.0]])):
        rows = as_rows(X)
        assert rows.indptr.dtype == np.int64
        assert rows.indices.dtype == np.int32
        np.testing.assert_array_equal(rows.indices, [1, 2])
        np.testing.assert_array_equal(rows.data, np.float32([3, 1]))


label_lists = st.lists(st.lists(st.sampled_from("abcdef"), unique=True), min_size=1).filter(any)


@given(label_lists)
@settings(deadline=None)
def test_ordered_lists_come_back_as_they_went_in(lists):
    binarizer = RelevanceBinarizer(ordered=True)
    assert binarizer.inverse_transform(binarizer.fit_transform(lists)) == lists


@given(label_lists)
@settings(deadline=None)
def test_unordered_lists_come_back_sorted(lists):
    binarizer = RelevanceBinarizer(sparse_output=False)
    back = binarizer.inverse_transform(binarizer.fit_transform(lists))
    assert back == [sorted(labels) for labels in lists]


def test_unseen_labels_are_an_error_or_ignored_with_a_warning():
    strict = RelevanceBinarizer().fit([["a"], ["b"]])
    with pytest.raises(InputError, match="'c'"):
        strict.transform([["a", "c"]])
    lenient = RelevanceBinarizer(unseen="ignore").fit([["a"], ["b"]])
    with pytest.warns(UserWarning, match="1 unseen"):
        Y = lenient.transform([["c", "a"]])
    np.testing.assert_array_equal(Y.toarray(), [[1, 0]])


def test_a_string_is_not_a_list_of_labels():
    with pytest.raises(InputError, match=r"wrap it in \[ \]"):
        RelevanceBinarizer().fit(["grain"])


def test_labels_of_several_types_are_kept_apart():
    binarizer = RelevanceBinarizer(sparse_output=False).fit([[1, "1"]])
    np.testing.assert_array_equal(binarizer.transform([["1"], [1]]).sum(axis=1), [1, 1])
    assert binarizer.inverse_transform(binarizer.transform([["1"]])) == [["1"]]


def test_a_class_vector_is_one_relevant_label():
    Y = from_classes(np.array(["b", "a"]), np.array(["a", "b", "c"]))
    np.testing.assert_array_equal(Y.toarray(), [[0, 1, 0], [1, 0, 0]])
    with pytest.raises(InputError, match="unknown classes"):
        from_classes(np.array(["z"]), np.array(["a", "b"]))


grades = hnp.arrays(float, st.integers(1, 6), elements=st.sampled_from([0, 0, 1, 2, 3, np.nan]))


@given(grades)
@settings(deadline=None)
def test_kinds_have_as_many_arcs_as_the_theory_says(row):
    r, irrelevant = int((row > 0).sum()), int((row == 0).sum())
    expected = {
        Kind.RELEVANT_IRRELEVANT: r * irrelevant,
        Kind.RELEVANT_THRESHOLD: r,
        Kind.THRESHOLD_IRRELEVANT: irrelevant,
        Kind.GRADED: sum(a > b for a in row for b in row if a > 0 and b > 0),
    }
    for kind, number in expected.items():
        assert len(list(pairs_of(row, kind))) == number
        assert count(row[None, :], kind).tolist() == [number]


@given(grades)
@settings(deadline=None)
def test_every_arc_points_from_more_to_less_relevant(row):
    level = dict(enumerate(row)) | {len(row): 0.5}
    for kind in Kind:
        for a, b in pairs_of(row, kind):
            assert level[a] > level[b]


def test_a_chain_without_ties_has_one_arc_less_than_labels():
    assert list(pairs_of(np.array([1.0, 3.0, 0.0, 2.0]), Kind.CHAIN)) == [(1, 3), (3, 0)]


def test_pro_loss_weights_of_an_instance_sum_to_a_quarter_a_group():
    found = arcs([[3, 1, 0, 0]], PRO_LOSS_KINDS, weighting="pro_loss")
    assert found.weight.sum() == pytest.approx(1.0)
    assert arcs([[0, 0]], (Kind.GRADED,)).weight.size == 0


scores = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 4), st.integers(1, 30)),
    elements=st.integers(-3, 3).map(float),
)


@given(scores, st.integers(1, 32))
@settings(deadline=None)
def test_the_top_is_the_beginning_of_the_whole_ranking(s, top):
    whole = decoding.rank(s)
    np.testing.assert_array_equal(decoding.rank(s, top), whole[:, :top])
    for i in range(len(s)):
        keys = [(-s[i, k], k) for k in whole[i]]
        assert keys == sorted(keys)


@given(scores, st.integers(0, 32))
@settings(deadline=None)
def test_the_first_labels_are_a_prefix_of_the_ranking(s, size):
    members = decoding.first(s, size)
    order = decoding.rank(s)
    in_order = np.take_along_axis(members, order, axis=1)
    assert (in_order.sum(axis=1) == min(size, s.shape[1])).all()
    assert (np.diff(in_order.astype(int), axis=1) <= 0).all()


@given(scores, st.integers(0, 32), st.integers(1, 32))
@settings(deadline=None)
def test_members_that_score_highest_leave_the_ranking_as_it_is(s, size, top):
    members = decoding.first(s, size)
    by_definition = np.lexsort((-s, ~members), axis=1)[:, :top]
    np.testing.assert_array_equal(decoding.rank(s, top, members), by_definition)


def test_given_members_come_first_in_the_ranking():
    s = np.array([[1.0, 5.0, 3.0, 4.0]])
    members = np.array([[True, False, True, False]])
    np.testing.assert_array_equal(decoding.rank(s, members=members), [[2, 0, 1, 3]])


def test_an_impossible_top_is_refused():
    with pytest.raises(InputError, match="top=0"):
        decoding.rank(np.zeros((1, 3)), top=0)
