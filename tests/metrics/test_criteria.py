"""The table of criteria: one spelling, one direction, and a door for those of other packages."""

import doctest
import inspect
import pickle
import sys

import numpy as np
import pytest

from labelrank import metrics
from labelrank.errors import InputError
from labelrank.metrics import criteria, exact_match, hamming_score

Y = np.array([[1, 0, 0, 2], [0, 1, 1, 0], [0, 0, 0, 1]])
SCORES = np.array([[2.0, -1.0, 1.0, 3.0], [-1.0, 3.0, 1.0, -2.0], [0.5, -1.0, -0.5, 1.5]])
PUBLIC = [getattr(metrics, name) for name in metrics.__all__ if callable(getattr(metrics, name))]


def given(criterion):
    return SCORES if criterion.needs == "scores" else (SCORES > 0).astype(int)


def test_the_names_are_those_that_evaluate_returns():
    values = metrics.evaluate(Y, SCORES)
    assert values.keys() <= criteria.TABLE.keys()
    rest = set(criteria.TABLE) - set(values)
    assert rest == {"average_precision", "exact_match", "hamming_score"}
    for name, value in values.items():
        criterion = criteria.get(name)
        assert criterion.name == name
        assert criterion(Y, given(criterion)) == value, name


def test_right_answers_are_at_the_better_end_of_every_criterion():
    for criterion in criteria.TABLE.values():
        worse = given(criterion)
        right = Y.astype(float) - 0.5 if criterion.needs == "scores" else (Y > 0).astype(int)
        gain = criterion(Y > 0, right) - criterion(Y > 0, worse)
        assert gain * criterion.direction >= 0, criterion.name


@pytest.mark.parametrize("other", [*criteria.ALIASES, "neg_hamming_loss", "neg_is_error"])
def test_other_spellings_mean_the_same_criterion(other):
    assert criteria.get(other) is criteria.TABLE[criteria.canonical(other)]


def test_any_cut_off_has_a_name():
    precision = criteria.get("precision_at_2")
    assert precision(Y, SCORES) == metrics.evaluate(Y, SCORES, k=[2])["precision_at_2"]
    assert criteria.get("ndcg_at_17").of_top


@pytest.mark.parametrize("name", ["micro_f2", "precision_at_0", "precision_at_k", ""])
def test_unknown_names_are_refused_with_the_nearest_ones(name):
    with pytest.raises(InputError, match=r"which is not known; .*labelrank criteria"):
        criteria.get(name)
    with pytest.raises(InputError, match=r"did you mean .*micro_f1"):
        criteria.get("micro_f2")


def test_criteria_cross_process_boundaries():
    for criterion in criteria.TABLE.values():
        assert pickle.loads(pickle.dumps(criterion)) == criterion


@pytest.mark.parametrize("function", PUBLIC, ids=lambda function: function.__name__)
def test_every_public_function_shows_its_signature_its_parameters_and_an_example(function):
    text = inspect.getdoc(function)
    for name in inspect.signature(function).parameters:
        assert name in text, name
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    examples = [runner.run(test) for test in finder.find(function, function.__name__, globs={})]
    assert sum(one.attempted for one in examples) > 0
    assert sum(one.failed for one in examples) == 0


def test_members_of_a_family_have_one_signature_and_one_description_of_each_parameter():
    first = inspect.signature(metrics.is_error)
    assert [*first.parameters] == [
        "Y", "scores", "ties", "random_state", "sample_weight", "per_instance",
    ]  # fmt: skip
    assert inspect.signature(metrics.ranking_loss) == first
    assert inspect.signature(metrics.coverage).parameters["zero_based"].default is True
    assert inspect.signature(metrics.f1).parameters["average"].default == "example"
    for function in (metrics.is_error, metrics.coverage, metrics.ndcg_at_k, metrics.f1):
        lines = inspect.getdoc(function).splitlines()
        for name in inspect.signature(function).parameters:
            assert sum(line.startswith(f"{name} : ") for line in lines) == 1, name
        sections = [lines[k - 1] for k, line in enumerate(lines) if line and set(line) == {"-"}]
        assert sections == ["Parameters", "Returns", "Examples"]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package that adds criteria by entry points."""
    folder = tmp_path / "strange-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[labelrank.criteria]\n"
        "largest_score = strange:largest\n"
        "set_size = strange:SET_SIZE\n"
        "broken = strange:undirected\n"
    )
    (tmp_path / "strange.py").write_text(
        "import numpy as np\n"
        "from labelrank.metrics.criteria import Criterion\n"
        "def largest(Y, scores):\n    return np.max(scores)\n"
        "largest.direction = 1\n"
        "def undirected(Y, scores):\n    return 0.0\n"
        "def size(Y, members, sample_weight=None):\n    return np.sum(members)\n"
        "SET_SIZE = Criterion('set_size', size, 'sets', -1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(criteria, "_added", {})
    yield
    sys.modules.pop("strange", None)


def test_a_package_adds_criteria_by_entry_points(package):
    assert "strange" not in sys.modules
    assert {"largest_score", "set_size"} <= set(criteria.names())
    assert "strange" not in sys.modules, "names are read without loading the package"
    assert criteria.get("largest_score")(Y, SCORES) == 3.0
    assert criteria.get("set_size").direction == -1
    assert metrics.get_scorer("neg_set_size").sign == -1
    assert criteria.get("largest_score") is criteria.get("largest_score")
    with pytest.raises(InputError, match="broken with direction=None"):
        criteria.get("broken")


def test_a_criterion_is_added_at_run_time_under_a_name_that_is_free(monkeypatch):
    monkeypatch.setattr(criteria, "_added", {})
    added = criteria.register("smallest", lambda Y, scores: np.min(scores), direction=1)
    assert criteria.get("smallest") is added
    assert "smallest" in criteria.names()
    for taken in ("micro_f1", "f1_micro", "neg_is_error"):
        with pytest.raises(InputError, match="name of another"):
            criteria.register(taken, metrics.f1, direction=1)
    with pytest.raises(InputError, match="needs 'texts'"):
        criteria.register("other", metrics.f1, direction=1, needs="texts")


@pytest.mark.parametrize("of", [list, "object", "category", "string"])
def test_names_of_classes_are_compared_as_their_codes(of):
    import pandas

    Y, predicted = np.array([[2, 0], [1, 3]]), np.array([[2, 0], [1, 1]])
    names = np.array(["no", "yes", "maybe", "never"])
    forms = [
        names[codes].tolist() if of is list else pandas.DataFrame(names[codes]).astype(of)
        for codes in (Y, predicted)
    ]
    for criterion in (exact_match, hamming_score):
        assert criterion(*forms) == criterion(Y, predicted)
        with pytest.raises(InputError, match="texts on one side and numbers"):
            criterion(forms[0], predicted)


def test_a_missing_name_of_a_class_is_unknown():
    assert exact_match([["yes", None], ["no", "no"]], [["yes", "no"], ["no", "yes"]]) == 0.5
