"""A matrix with named columns is read by these names, whatever their order in the next file."""

import json

import numpy as np
import pytest

from labelrank import persistence
from labelrank.errors import ModelFileError

RNG = np.random.default_rng(0)
A, B = RNG.random(60).round(3), RNG.random(60).round(3)
RED = RNG.integers(0, 2, 60).astype(bool)


def arff(path, attributes, rows, count="1"):
    lines = [f"@attribute {one}" for one in attributes]
    rows = [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join([f"@relation 't: -C {count}'", *lines, "@data", *rows, ""]))
    return path


def fitted(run, path):
    done = run("fit", path, "-o", path.with_suffix(".labelrank"), "--learner", "BSVM", "-q")
    assert done.exit_code == 0, done.output
    return path.with_suffix(".labelrank")


def answers(run, model, path):
    done = run("predict", model, path, "--json")
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def refusal(run, model, path):
    done = run("predict", model, path)
    assert done.exit_code == 2, done.output
    return " ".join(done.stderr.split())


@pytest.fixture
def learned(run, tmp_path):
    rows = zip((A > B).astype(int), A, B, strict=True)
    names = ["hi {0,1}", "a numeric", "b numeric"]
    return fitted(run, arff(tmp_path / "t.arff", names, rows))


def test_columns_in_another_order_and_further_ones_change_no_answer(run, learned, tmp_path):
    wanted = answers(run, learned, tmp_path / "t.arff")
    assert len({tuple(row["labels"]) for row in wanted}) == 2
    names = ["hi {0,1}", "b numeric", "c numeric", "a numeric"]
    rows = zip((A > B).astype(int), B, A[::-1], A, strict=True)
    other = arff(tmp_path / "u.arff", names, rows)
    assert answers(run, learned, other) == wanted
    done = run("convert", other, tmp_path / "u.npz", "-q")
    assert done.exit_code == 0, done.output
    assert answers(run, learned, tmp_path / "u.npz") == wanted


def test_a_column_of_another_name_is_missed(run, learned, tmp_path):
    rows = zip((A > B).astype(int), A, B, strict=True)
    other = arff(tmp_path / "u.arff", ["hi {0,1}", "a numeric", "bb numeric"], rows)
    assert "no column 'b', which the model has learned; did you mean bb?" in refusal(
        run, learned, other
    )


def test_archives_are_read_by_name(run, tmp_path):
    Y = (A > B).astype(float)[:, None]
    for name, columns in (("t.npz", "ab"), ("u.npz", "ba")):
        X = np.column_stack([{"a": A, "b": B}[one] for one in columns])
        np.savez(tmp_path / name, X=X, Y=Y, feature_names=list(columns), label_names=["hi"])
    model = fitted(run, tmp_path / "t.npz")
    assert answers(run, model, tmp_path / "u.npz") == answers(run, model, tmp_path / "t.npz")


def colours(path, values, names):
    hi = ["hi {0,1}", "n numeric", "colour {" + values + "}"]
    return arff(path, hi, [(int(red), 1, names[int(red)]) for red in RED])


def test_nominal_values_keep_the_codes_that_were_learned(run, tmp_path):
    model = fitted(run, colours(tmp_path / "t.arff", "blue,green,red", ("blue", "red")))
    wanted = answers(run, model, tmp_path / "t.arff")
    assert [row["labels"] == ["hi"] for row in wanted] == RED.tolist()
    for values in ("red,blue", "pink,red,green,blue"):
        other = colours(tmp_path / "u.arff", values, ("blue", "red"))
        assert answers(run, model, other) == wanted
    strange = colours(tmp_path / "u.arff", "pink,blue", ("blue", "pink"))
    assert "leave out the rows with 'pink'" in refusal(run, model, strange)
    rows = [(int(red), 1, int(red)) for red in RED]
    numbers = arff(tmp_path / "u.arff", ["hi {0,1}", "n numeric", "colour numeric"], rows)
    assert "is numeric, but the model has learned {blue,green,red}" in refusal(run, model, numbers)
    rows = ["{0 1,1 1}"]
    sparse = arff(tmp_path / "u.arff", ["hi {0,1}", "n numeric", "colour {red,blue}"], [rows])
    assert "sparse rows leave out the first value" in refusal(run, model, sparse)


def test_a_matrix_of_other_width_is_one_sentence(run, tmp_path):
    lines = [f"{k % 2} 1:{k % 2} 2:1 3:{k}" for k in range(20)]
    np.save(tmp_path / "X.npy", np.column_stack([A, B, A]))
    np.save(tmp_path / "narrow.npy", np.column_stack([A, B]))
    (tmp_path / "X.svm").write_text("\n".join(lines))
    (tmp_path / "wide.svm").write_text("0 1:1 4:1\n")
    (tmp_path / "y.txt").write_text("".join(f"{'hi' if hi else 'lo'}\n" for hi in A > B))
    for name, options in (("X.svm", ()), ("X.npy", ("--labels-file", tmp_path / "y.txt"))):
        done = run("fit", tmp_path / name, *options, "-l", "BSVM", "-o", tmp_path / "m", "-q")
        assert done.exit_code == 0, done.output
        told = "wide has 4 features" if name == "X.svm" else "narrow has 2 columns"
        other = "wide.svm" if name == "X.svm" else "narrow.npy"
        assert f"{told}, the model learned 3;" in refusal(run, tmp_path / "m", tmp_path / other)


def test_a_matrix_without_labels_asks_for_a_file_of_them(run, tmp_path):
    np.save(tmp_path / "X.npy", np.column_stack([A, B]))
    done = run("fit", tmp_path / "X.npy")
    assert done.exit_code == 2
    assert "X has no labels; give those of each row by --labels-file" in " ".join(
        done.stderr.split()
    )


@pytest.mark.parametrize("reading", [
    {"features": [1]}, {"features": "ab"}, {"features": ["a"], "values": {"a": "red"}},
    {"features": ["a"], "values": [["red"]]},
])  # fmt: skip
def test_names_in_a_model_file_that_are_none_are_refused(learned, reading):
    tagger = persistence.load(learned)
    assert tagger.reading_["features"] == ["a", "b"]
    tagger.reading_ = reading
    persistence.save(tagger, learned)
    with pytest.raises(ModelFileError, match="strange reading"):
        persistence.load(learned)
