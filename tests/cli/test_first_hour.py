"""What a practitioner meets in the first hour: everyday files through fit, predict and evaluate."""

import json

import pytest

from labelrank import persistence

COLOURS = {"red": "warm", "green": "cool", "blue": "cold"}


@pytest.fixture
def colours(run, tmp_path):
    """A model that has learned what colours are, from a table."""
    path = tmp_path / "colours.csv"
    rows = [f"{k % 7}.5,{c},{COLOURS[c]}\n" for k in range(20) for c in COLOURS]
    path.write_text("size,colour,labels\n" + "".join(rows))
    done = run("fit", path, "-o", tmp_path / "m", "--learner", "BSVM", "-q")
    assert done.exit_code == 0, done.output
    return tmp_path / "m"


def predicted(run, model, path, *options, stdin=None):
    done = run("predict", model, path, "--json", *options, stdin=stdin)
    assert done.exit_code == 0, done.output
    return [json.loads(line)["labels"] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("table", [
    "size,colour\n0.5,red\n", "colour,size\nblue,0.5\nred,1.5\ngreen,2.5\n",
    "key;colour;size\n7;green;0,5\n8;red;1,5\n", "colour\tsize\nblue\t\n",
])  # fmt: skip
def test_a_category_means_the_same_in_every_file(run, colours, tmp_path, table):
    path = tmp_path / "new.csv"
    path.write_text(table)
    wanted = [COLOURS[c] for line in table.split("\n") for c in COLOURS if c in line.split(",")
              or c in line.split(";") or c in line.split("\t")]  # fmt: skip
    assert predicted(run, colours, path) == [[label] for label in wanted]


def test_a_missing_column_is_one_sentence(run, colours, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("size,shade\n1,red\n")
    done = run("predict", colours, path)
    assert done.exit_code == 2
    assert "no column 'colour', which the model has learned" in " ".join(done.stderr.split())


TICKETS = [
    ("printer on fire", "it burns on the second floor since monday", "Hardware; urgent"),
    ("cannot log in", "my password is refused by the login page again", "access"),
    ("screen is black", "the monitor stays dark after the update today", "hardware"),
    ("new account please", "a colleague starts in march and needs a login", "access"),
    ("smoke in server room", "everyone has left the building, please hurry up", "hardware; urgent"),
    ("hello there", "this is only a greeting to all of you", ""),
]


@pytest.fixture
def tickets(tmp_path):
    path = tmp_path / "tickets.csv"
    lines = "".join(
        f'{k},{subject} {k},"{body} {k}",{tags}\n'
        for k, (subject, body, tags) in enumerate(TICKETS * 5)
    )
    path.write_text("Ref,Subject,Body,Tags\n" + lines)
    return path


def test_all_text_columns_of_tickets_are_learned_and_their_roles_told(run, tickets):
    done = run("fit", tickets, "--dry-run", "--json")
    read = json.loads(done.stdout)["read"]
    roles = {column["name"]: column["role"] for column in read["columns"]}
    assert roles == {"Ref": "id", "Subject": "text", "Body": "text"}
    assert read["labels"] == 4
    assert "Labels are in column 'Tags', separated by ';'." in read["remarks"]
    assert (read["unlabelled_rows"], read["spelled_alike"]) == (5, [["Hardware", "hardware"]])


def test_merged_spellings_are_remembered(run, tickets, tmp_path):
    done = run("fit", tickets, "--merge-spellings", "-o", tmp_path / "m", "-q")
    assert done.exit_code == 0, done.output
    assert persistence.load(tmp_path / "m").label_names_ == ["access", "hardware", "urgent"]
    shouted = tmp_path / "shouted.csv"
    shouted.write_text(tickets.read_text().replace("hardware", "HARDWARE  "))
    plain = run("evaluate", tmp_path / "m", tickets, "--json").stdout
    assert run("evaluate", tmp_path / "m", shouted, "--json").stdout == plain


def test_evaluate_reads_the_text_column_that_was_learned(run, tickets, tmp_path):
    done = run("fit", tickets, "--text-column", "Subject", "-o", tmp_path / "m", "-q")
    assert done.exit_code == 0, done.output
    turned = tmp_path / "turned.jsonl"
    turned.write_text("".join(
        json.dumps({"Body": "printer fire", "Tags": [t for t in tags.split("; ") if t],
                    "Subject": f"{subject} {k}"}) + "\n"
        for k, (subject, _, tags) in enumerate(TICKETS * 5)
    ))  # fmt: skip
    plain = run("evaluate", tmp_path / "m", tickets, "--json").stdout
    assert run("evaluate", tmp_path / "m", turned, "--json").stdout == plain
    with pytest.warns(UserWarning, match="Body is used, though the model has learned .*'Subject'"):
        other = run("evaluate", tmp_path / "m", tickets, "--text-column", "Body", "--json").stdout
    assert other != plain


def test_several_text_columns_are_all_learned(run, tickets, tmp_path):
    options = ["--text-column", "Subject", "--text-column", "Body"]
    read = json.loads(run("fit", tickets, *options, "--dry-run", "--json").stdout)["read"]
    assert [column["role"] for column in read["columns"]] == ["text", "text"]
    done = run("fit", tickets, *options, "-o", tmp_path / "m", "-q")
    assert done.exit_code == 0, done.output
    model = persistence.load(tmp_path / "m")
    assert model.vectorizer_.feature_names_in_.tolist() == ["Subject", "Body"]


def test_standard_input_is_read_as_the_model_has_learned(run, colours, tickets, tmp_path):
    assert predicted(run, colours, "-", stdin="colour,size\nblue,1\nred,\n") == [["cold"], ["warm"]]
    lines = '{"colour": "green", "size": 2}\n'
    assert predicted(run, colours, "-", stdin=lines) == [["cool"]]
    run("fit", tickets, "--text-column", "Subject", "-o", tmp_path / "m", "-q")
    assert predicted(run, tmp_path / "m", "-", stdin="cannot log in\n") == [["access"]]


def test_a_label_column_of_identifiers_is_warned_of(run, tickets):
    done = run("fit", tickets, "--label-column", "Ref", "--dry-run")
    assert "the label column seems to name the rows" in " ".join(done.stdout.split())


def test_labels_in_the_last_columns(run, tmp_path):
    path = tmp_path / "last.csv"
    path.write_text("a,b,x,y\n" + "".join(f"{k},{k % 3},{k % 2},{1 - k % 2}\n" for k in range(12)))
    done = run("fit", path, "--labels", "2", "--dry-run", "--json")
    read = json.loads(done.stdout)["read"]
    assert (read["labels"], [column["name"] for column in read["columns"]]) == (2, ["a", "b"])


def test_roles_that_are_given_hold_in_what_is_told_and_learned(run, tickets):
    options = ["--column", "Ref=id", "--column", "Subject=ignore"]
    done = run("fit", tickets, *options, "--dry-run", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["features"] > 10
    roles = ["--column", "Ref=category", "--column", "Subject=category"]
    read = json.loads(run("fit", tickets, *roles, "--dry-run", "--json").stdout)["read"]
    assert [column["role"] for column in read["columns"]] == ["category", "category", "text"]


@pytest.mark.parametrize("ending", ["arff", "svm", "npz"])
def test_a_table_is_not_written_where_it_would_be_lost(run, tmp_path, ending):
    path = tmp_path / "table.csv"
    path.write_text("size,colour,labels\n1,red,x\n2,blue,y\n3,red,x\n")
    done = run("convert", path, tmp_path / f"out.{ending}")
    assert done.exit_code == 2
    assert "write csv, jsonl or parquet" in " ".join(done.stderr.split())
    assert not (tmp_path / f"out.{ending}").exists()
    assert run("convert", path, tmp_path / "out.jsonl").exit_code == 0
    first = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert first == {"size": "1", "colour": "red", "labels": ["x"]}


def test_standard_input_is_a_table_where_the_model_has_learned_one(run, colours):
    assert predicted(run, colours, "-", stdin="colour,size\nred,3\n") == [["warm"]]
    done = run("predict", colours, "-", stdin="colour,weight\nred,3\n")
    assert done.exit_code == 2
    said = " ".join(done.stderr.split())
    assert "no column 'size', which the model has learned; it has 'colour', 'weight'" in said


def test_a_table_of_no_use_is_refused_with_the_option_to_type(run, tmp_path):
    path = tmp_path / "same.csv"
    path.write_text("kind,labels\n" + "a,x\na,y\n" * 9)
    done = run("fit", path, "-o", tmp_path / "m", "-q")
    assert done.exit_code == 2
    assert "give some a role by --column NAME=ROLE" in " ".join(done.stderr.split())
