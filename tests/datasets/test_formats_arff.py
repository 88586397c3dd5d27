"""ARFF as Weka, Mulan and MEKA write it: dense, sparse, quoted, missing, nominal."""

import os
from pathlib import Path

import arff as liac
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrank.datasets import formats
from labelrank.datasets.arff import Table, read_table, write_table
from labelrank.datasets.arff_parsing import Attribute, quote, split_values
from labelrank.datasets.mulan import label_parents
from labelrank.datasets.opening import Source
from labelrank.errors import FormatError, InputError


@pytest.fixture
def table(tmp_path):
    def make(text, **options):
        path = tmp_path / "data.arff"
        path.write_text(text, encoding="utf-8", newline="")
        return read_table(Source(path), **options)

    return make


@pytest.fixture
def read(tmp_path):
    def make(text, xml=None, **options):
        path = tmp_path / "data.arff"
        path.write_text(text, encoding="utf-8")
        if xml:
            (tmp_path / "data.xml").write_text(xml)
        return formats.read(path, **options)

    return make


def test_keywords_in_any_case_comments_and_blank_lines(table):
    got = table(
        "% a comment\r\n@RELATION  x\r\n\r\n@Attribute a REAL % of one\r\n"
        "@attribute b Integer\r\n@DATA\r\n% another\r\n1, -2.5e1\r\n\r\n 3 ,4 % tail\r\n"
    )
    assert [a.name for a in got.attributes] == ["a", "b"]
    np.testing.assert_array_equal(got.values, [[1, -25], [3, 4]])


def test_quoting_and_escapes(table):
    got = table(
        "@relation 'it\\'s'\n@attribute 'a b' {'x, y',\"q\\\"q\",'}', z, '?'}\n"
        "@attribute \"c'\" string\n@data\n'x, y','tab\\there'\n\"q\\\"q\",\"a 'b' % c\"\n"
        "'}',plain text\nz,?\n?,'\\\\ \\u00e9'\n'?',x\n"
    )
    assert got.relation == "it's"
    assert [a.name for a in got.attributes] == ["a b", "c'"]
    np.testing.assert_array_equal(got.values[:, 0], [0, 1, 2, 3, np.nan, 4])
    assert got.texts[1] == ["tab\there", "a 'b' % c", "plain text", "", "\\ é", "x"]


def test_a_value_a_sparse_row_leaves_out_is_zero_or_the_first_value(table):
    got = table(
        "@relation r\n@attribute a {x,y}\n@attribute b numeric\n@attribute c string\n@data\n"
        "{0 y, 2 'some, text'}\n{}\n{ 1 ?,0 x }\n"
    )
    assert sp.issparse(got.values)
    np.testing.assert_array_equal(got.values.toarray(), [[1, 0, 0], [0, 0, 0], [0, np.nan, 0]])
    assert got.texts[2] == ["some, text", "", ""]


def test_numbers_in_string_and_date_columns_of_sparse_rows_stay_text_and_dates(table):
    got = table(
        "@relation r\n@attribute a string\n@attribute b date yyyy\n@attribute c {}\n@data\n"
        "{0 12,1 1971}\n{}\n"
    )
    assert got.texts == {0: ["12", ""]}
    np.testing.assert_array_equal(got.values.toarray()[:, 1], [365 * 86400, 0])


def test_sparse_numbers_go_through_the_bulk_reader(table):
    got = table(
        "@relation r\n@attribute a {0,1}\n@attribute b numeric\n@attribute c {0,1,2}\n@data\n"
        "{0 1,\t1 -2.5e-3 , 2 2}\n{ }\n{1 ?}\n{2 1,0 1}\n"
    )
    expected = [[1, -0.0025, 2], [0, 0, 0], [0, np.nan, 0], [1, 0, 1]]
    np.testing.assert_array_equal(got.values.toarray(), expected)


def test_dates_are_seconds_of_1970(table):
    got = table(
        "@relation r\n@attribute a date\n@attribute b date 'dd.MM.yyyy HH:mm'\n@data\n"
        "1970-01-02T00:00:01,'01.01.1970 00:01'\n?,?\n"
    )
    np.testing.assert_array_equal(got.values, [[86401, 60], [np.nan, np.nan]])


def test_tabs_between_values(table):
    got = table("@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n1\t2\n3 4\n")
    np.testing.assert_array_equal(got.values, [[1, 2], [3, 4]])


HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"
SPARSE = "@relation r\n@attribute a numeric\n@attribute b {0,1}\n@data\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("hello\n", "line 1.*not an ARFF header"),
        ("@relation r\n@data\n", "line 2: @data before"),
        ("@relation r\n@attribute a numeric\n", "no @data"),
        ("@relation r\n@attribute a {x,y\n@data\n", "line 2.*'}'"),
        ("@relation r\n@attribute a {x,x}\n@data\n", "line 2.*twice"),
        ("@relation r\n@attribute a relational\n@data\n", "line 2.*relational"),
        ("@relation r\n@attribute\n@data\n", "line 2.*without a name"),
        (HEAD + "1,x\n2,z\n", r"line 6: got 'z' for attribute 'b', but one of \{x, y\}"),
        (HEAD + "1,x\none,x\n", "line 6: got 'one' for attribute 'a'"),
        (HEAD + "1,x\n1,x,3\n", "line 6: got 3 values, but 2 attributes"),
        (HEAD + "1,x\n2\n", "line 6: got 1 values"),
        (HEAD + "1e999,x\n", "line 5: got '1e999'"),
        (HEAD + "1,'x\n", "line 5.*quotation"),
        (SPARSE + "{0 1}\n{0 1,2147483647 1}\n", "line 6: got index 2147483647"),
        (SPARSE + "{0 1}\n{0 1,1 2}\n", "line 6: got nominal value 2"),
        (SPARSE + "{0 1}\n{0 1,0 2}\n", "line 6: got an index twice"),
        (SPARSE + "{0 1}\n{0 1 2}\n", "line 6: got something else"),
        (SPARSE + "{0 1}\n{1e20 1}\n", "line 6: got index 1e"),
        (SPARSE + "{0 1}\n{-1 1}\n", "line 6: got index -1"),
        (SPARSE + "{0 1}\n{0 inf}\n", "line 6: got an infinite"),
        (SPARSE + "{0 1}\n1,0\n", "line 6.*sparse row"),
        (SPARSE + "{0 1}\n{0 1\n", "line 6.*sparse row"),
        (SPARSE.replace("{0,1}", "{u,v}") + "{0 1}\n{1 w}\n", "line 6: got 'w'"),
        (SPARSE.replace("{0,1}", "{u,v}") + "{0 1}\n{99999999999 v}\n", "line 6.*below 2"),
    ],
)
def test_broken_files_are_refused_with_the_line(table, text, message):
    with pytest.raises(FormatError, match=message):
        table(text)


def test_labels_by_xml_beside_in_the_order_of_the_xml(read):
    xml = '<labels><label name="c"><label name="a"/></label></labels>'
    text = (
        "@relation 'r: -C 1'\n@attribute a {0,1}\n@attribute b numeric\n"
        "@attribute c {0,1}\n@data\n1,2,0\n?,3,1\n"
    )
    data = read(text, xml)
    assert (data.label_names, data.feature_names) == (["c", "a"], ["b"])
    np.testing.assert_array_equal(data.Y.toarray(), [[0, 1], [1, np.nan]])


def test_nested_labels_have_parents(tmp_path):
    path = tmp_path / "h.xml"
    path.write_text(
        '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">'
        '<label name="a"><label name="b"><label name="c"/></label></label><label name="d"/>'
        "</labels>"
    )
    assert label_parents(path) == {"a": "", "b": "a", "c": "b", "d": ""}


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ('<labels><label name="z"/></labels>', "'z'.*not an attribute"),
        ('<labels><label name="a"/><label name="a"/></labels>', "twice"),
        ("<labels><label/></labels>", "without a name"),
        ("<labels/>", "no <label"),
        ("<labels>", "not a plain XML"),
        (
            '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
            '<labels><label name="&b;"/></labels>',
            "not a plain XML",
        ),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><labels/>', "not a plain XML"),
    ],
)
def test_bad_label_files_are_refused(read, xml, message):
    with pytest.raises(FormatError, match=message):
        read("@relation r\n@attribute a {0,1}\n@attribute b numeric\n@data\n1,2\n", xml)


MEKA = (
    "@relation 'r: {}'\n@attribute a {{0,1}}\n@attribute b {{1,0}}\n"
    "@attribute c {{0,1}}\n@data\n1,1,0\n0,0,1\n"
)


def test_both_signs_of_meka(read):
    assert read(MEKA.format("-C 2")).label_names == ["a", "b"]
    assert read(MEKA.format("-C -2")).label_names == ["b", "c"]
    np.testing.assert_array_equal(read(MEKA.format("-C 2")).Y.toarray(), [[1, 1], [0, 0]])


def test_the_split_of_meka(read):
    data = read(MEKA.format("-C 2 -split-number 1"))
    assert (data.train.n_instances, data.test.n_instances) == (1, 1)


def test_labels_by_number_first_or_last(read):
    plain = MEKA.format("")
    assert read(plain, n_labels=1).label_names == ["c"]
    assert read(plain, n_labels=2, labels_at="first").label_names == ["a", "b"]
    with pytest.raises(FormatError, match="which attributes are labels"):
        read(plain)
    with pytest.raises(FormatError, match="got 9 labels"):
        read(plain, n_labels=9)
    with pytest.raises(InputError, match="labels_at"):
        read(plain, n_labels=1, labels_at="middle")


def test_reversed_pairs_keep_their_meaning_in_sparse_files(read):
    text = (
        "@relation 'r: -C 1'\n@attribute l {1,0}\n@attribute f {YES,NO}\n"
        "@attribute g {no,yes}\n@data\n{}\n{0 0,1 NO,2 yes}\n{1 ?}\n"
    )
    data = read(text)
    np.testing.assert_array_equal(data.Y.toarray(), [[1], [0], [1]])
    np.testing.assert_array_equal(data.X.toarray(), [[1, 0], [0, 1], [np.nan, 0]])


@pytest.mark.parametrize("rows", ["a,1\nc,0\n?,1\n", "{0 a,1 1}\n{0 c}\n{0 ?,1 1}\n"])
def test_one_column_a_value_on_request(read, rows):
    text = f"@relation 'r: -C -1'\n@attribute f {{a,b,c}}\n@attribute l {{0,1}}\n@data\n{rows}"
    ordinal, onehot = read(text), read(text, nominal="onehot")
    assert ordinal.feature_names == ["f"]
    assert onehot.feature_names == ["f=a", "f=b", "f=c"]
    X = onehot.X.toarray() if sp.issparse(onehot.X) else onehot.X
    np.testing.assert_array_equal(X, [[1, 0, 0], [0, 0, 1], [0, 0, 0]])


def test_nominal_targets_of_several_values_are_classes(read):
    text = (
        "@relation 'r: -C 2'\n@attribute s {A,B,NEG}\n@attribute t {0,1}\n"
        "@attribute f numeric\n@data\nNEG,1,2\nA,0,3\n"
    )
    data = read(text)
    assert data.target_classes == [["A", "B", "NEG"], ["0", "1"]]
    np.testing.assert_array_equal(data.Y, [[2, 1], [0, 0]])
    assert data.Y.dtype.kind == "i"
    missing = read(text.replace("NEG,1,2", "?,1,2"))
    np.testing.assert_array_equal(missing.Y, [[np.nan, 1], [0, 0]])


def test_numeric_targets_are_grades_unless_negative(read):
    text = "@relation 'r: -C 1'\n@attribute t numeric\n@attribute f numeric\n@data\n{}2,1\n0,1\n"
    assert read(text.format("")).Y.toarray().ravel().tolist() == [2, 0]
    assert read(text.format("-")).target_classes == [["-2", "0"]]
    assert read(text.format(""), targets="classes").target_classes == [["0", "2"]]


def test_text_attributes_become_texts(read):
    data = read(
        "@relation 'r: -C 1'\n@attribute l {0,1}\n@attribute t string\n@data\n1,'some text'\n"
    )
    assert data.texts == ["some text"]
    assert data.X is None


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), min_size=1)
)
def test_quoted_values_read_back(values):
    assert split_values(",".join(map(quote, values))) == values


NAMES = st.text(st.sampled_from("ab '\"\\,{}%?é\t1"), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_generated_tables_read_back_here_and_in_liac_arff(tmp_path_factory, data):
    names = data.draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    nominal = data.draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    attributes = [Attribute(name) for name in names[1:]]
    attributes.append(Attribute(names[0], "nominal", tuple(nominal)))
    n = data.draw(st.integers(0, 4))
    numbers = st.one_of(st.just(float("nan")), st.floats(-1e300, 1e300))
    rows = [[data.draw(numbers) for _ in names[1:]] for _ in range(n)]
    codes = [float(data.draw(st.integers(0, len(nominal) - 1))) for _ in range(n)]
    values = np.array([[*r, c] for r, c in zip(rows, codes)]).reshape(n, len(names))
    if data.draw(st.booleans()):
        values = sp.csr_array(np.nan_to_num(values))
    path = tmp_path_factory.mktemp("arff") / "t.arff"
    write_table(Table("r", attributes, values), path)
    back = read_table(Source(path))
    assert back.attributes == attributes
    dense = values.toarray() if sp.issparse(values) else values
    np.testing.assert_array_equal(
        back.values.toarray() if n and sp.issparse(back.values) else back.values, dense
    )
    simple = all(c not in "\"'\\%{}\t?" for c in "".join(names + nominal))
    # liac-arff loses blanks at the ends of quoted names and values.
    trimmed = all(text == text.strip() for text in names + nominal)
    if simple and trimmed and not sp.issparse(values):
        theirs = liac.loads(path.read_text(encoding="utf-8"))["data"]
        assert [row[-1] for row in theirs] == [nominal[int(c)] for c in codes]


def folder():
    return Path(os.environ["LABELRANK_DATA"])


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "sparse"),
    [
        ("mulan/emotions-test", False),
        ("mulan/foodtruck", False),
        ("mulan/genbase-test", False),
        ("meka/solar_flare", False),
        ("meka/Music", False),
        ("mulan/medical-train", True),
        ("mulan/enron-test", True),
        ("multitarget/wq", False),
    ],
)
def test_real_files_agree_with_liac_arff(file, sparse):
    source = Source(folder() / f"{file}.arff.xz")
    ours = read_table(source)
    kind = liac.LOD if sparse else liac.DENSE
    theirs = liac.loads(source.text(fallback="latin-1"), encode_nominal=True, return_type=kind)
    assert [a.name for a in ours.attributes] == [name for name, _ in theirs["attributes"]]
    rows = theirs["data"]
    if sparse:
        expected = np.zeros(ours.values.shape)
        for i, row in enumerate(rows):
            for k, value in row.items():
                expected[i, k] = value
        np.testing.assert_array_equal(ours.values.toarray(), expected)
    else:
        expected = np.array([[np.nan if v is None else v for v in row] for row in rows], float)
        np.testing.assert_array_equal(ours.values, expected)
