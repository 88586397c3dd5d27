"""What a model was told of rows without labels and of row names holds for later files."""

import json

import pytest

COLOURS = ["red", "green", "blue", ""]


@pytest.fixture
def customers(tmp_path):
    """Forty rows with a number of their own; those without a colour have no label."""
    lines = ["Customer No;Colour;Spend;Tags"]
    for k in range(40):
        colour = COLOURS[k % 4]
        lines.append(f"C{k:03};{colour};{k * 7 % 13},5;{'warm' if colour == 'red' else colour}")
    path = tmp_path / "customers.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("asked", "n_rows"), [("none", 40), ("skip", 30), (None, 30)])
def test_rows_without_labels_are_evaluated_as_they_were_learned(run, customers, asked, n_rows):
    model = customers.with_suffix(".labelrank")
    options = [] if asked is None else ["--unlabelled", asked]
    assert run("fit", customers, "-o", model, "-q", *options).exit_code == 0
    told = run("evaluate", model, customers).stdout
    assert f"{n_rows} documents of customers" in told


def test_the_one_identifier_of_a_table_names_the_answers(run, customers):
    model = customers.with_suffix(".labelrank")
    assert run("fit", customers, "-o", model, "-q").exit_code == 0
    lines = run("predict", model, customers, "--json").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [f"C{k:03}" for k in range(40)]
