"""What a practitioner meets in the first hour: everyday files through fit, predict and evaluate."""

import datetime as dt
import json
import zipfile

import pytest

from labelrank import datasets, persistence
from labelrank.cli.workbook import Workbook

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


def said(text):
    return " ".join(text.split())


def written(folder, name, lines):
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_columns_of_ones_and_twos_are_refused_with_the_option_to_type(run, tmp_path):
    rows = [f"{k}.5,{1 + k % 2},{1 + k // 2 % 2}" for k in range(12)]
    path = written(tmp_path, "spss.csv", ["size,y1,y2", *rows])
    done = run("fit", path, "--labels", "2", "--dry-run")
    assert done.exit_code == 2
    assert "write 1 and 0 (or yes and no), or give --graded if 2 is more" in said(done.stderr)
    done = run("fit", path, "--labels", "2", "--dry-run", "--graded")
    assert "Labels have grades from 1 to 2: the higher, the more relevant." in said(done.stdout)
    assert "2 labels met in every row." in said(done.stdout)


def test_grades_in_cells_are_overruled(run, tmp_path):
    path = written(tmp_path, "a.csv", ["text,labels", "rye,sea:2", "oil,farm:1;sea:1", "tar,sea:2"])
    for options, labels, grades in ((), 2, [1, 2]), (("--no-graded",), 3, None):
        read = json.loads(run("fit", path, "--dry-run", "--json", *options).stdout)["read"]
        assert (read["labels"], read["grades"]) == (labels, grades)
    lines = written(tmp_path, "labels.txt", ["sea:2", "farm:1;sea:1", "sea:2"])
    path = written(tmp_path, "b.csv", ["text", "rye", "oil", "tar"])
    done = run("fit", path, "--labels-file", lines, "--no-graded", "--dry-run", "--json")
    assert json.loads(done.stdout)["read"]["labels"] == 3


def test_dates_that_leave_their_order_open_are_told(run, tmp_path):
    rows = [f"0{1 + k % 9}/0{1 + k % 7}/2024,{'xy'[k % 2]}" for k in range(30)]
    done = run("fit", written(tmp_path, "a.csv", ["day,labels", *rows]), "--dry-run")
    assert "warning: day has dates, taken as month first" in said(done.stdout)
    done = run(
        "fit", written(tmp_path, "b.csv", ["day,labels", *rows, "30/01/2024,x"]), "--dry-run"
    )
    assert "warning" not in done.stdout


def test_a_model_of_texts_asks_which_of_several_columns_it_is_to_read(run, tmp_path):
    from labelrank import BinaryRelevanceSVM, Tagger

    tagger = Tagger(BinaryRelevanceSVM(random_state=0))
    tagger.fit(["rye and wheat", "crude oil", "rye harvest"], [["grain"], ["oil"], ["grain"]])
    model = persistence.save(tagger, tmp_path / "m")
    rows = ["heads up,much rye was reaped this year", "read this,crude oil prices fall again"]
    path = written(tmp_path, "mails.csv", ["about,mail", *rows])
    done = run("predict", model, path)
    assert done.exit_code == 2
    assert "has words in columns 'about', 'mail'" in said(done.stderr)
    assert "name the column by --text-column" in said(done.stderr)
    assert predicted(run, model, path, "--text-column", "mail") == [["grain"], ["oil"]]
    path = written(tmp_path, "text.csv", ["place,text", *rows])
    assert predicted(run, model, path) == [["grain"], ["oil"]]


@pytest.mark.filterwarnings("always")
def test_numbers_far_outside_what_was_learned_are_told_once_per_column(shell, colours, tmp_path):
    rows = ["1.5,red"] * 2100
    rows[2004] = rows[2050] = "1e30,blue"
    written(tmp_path, "new.csv", ["size,colour", *rows])
    for jobs in ("1", "2"):
        done = shell("predict", "m", "new.csv", "-o", "out.csv", "--jobs", jobs)
        told = done.stderr.decode()
        assert "column 'size': 2 of 2,100 values are far outside what was learned" in told
        assert "(0.5 to 6.5), first in row 2,005" in told
        assert told.count("far outside") == 1
    written(tmp_path, "near.csv", ["size,colour", "60,red", "-50,red"])
    assert b"far outside" not in shell("predict", "m", "near.csv", "-o", "out.csv").stderr


@pytest.mark.parametrize(("name", "n_rows"), [("named", 2), ("zeros", 3)])
def test_an_empty_line_of_labels_is_left_out_and_a_row_of_zeros_is_none(
    run, tmp_path, name, n_rows
):
    rows = {"named": ["x|y", "", "y"], "zeros": ["1,1", "0,0", "0,1"]}[name]
    labels = written(tmp_path, "labels.txt", rows)
    data = written(tmp_path, "a.csv", ["size", "1.5", "2.5", "4"])
    found = json.loads(run("fit", data, "--labels-file", labels, "--dry-run", "--json").stdout)
    assert (found["instances"], found["read"]["unlabelled_rows"]) == (n_rows, 1)
    options = ["--unlabelled", "none" if name == "named" else "skip"]
    done = run("fit", data, "--labels-file", labels, "--dry-run", "--json", *options)
    assert json.loads(done.stdout)["instances"] == 5 - n_rows


def test_answers_are_rounded_for_people_and_can_be_learned(run, colours, tmp_path):
    path = written(
        tmp_path, "new.csv", ["weight,size,colour", *["0.123456789,1.5,red", "2,3,blue"] * 9]
    )
    out = tmp_path / "out.csv"
    assert run("predict", colours, path, "-o", out, "--probabilities").exit_code == 0
    names, first, *_ = out.read_text().splitlines()
    assert names == "id,weight,size,colour,labels,ranked,scores,probabilities"
    kept, numbers = (
        first.split(",")[:4],
        [float(x) for x in "|".join(first.split(",")[6:]).split("|")],
    )
    assert kept == ["1", "0.123456789", "1.5", "red"]
    assert all(number == float(f"{number:.6g}") for number in numbers)
    read = json.loads(run("fit", out, "--dry-run", "--json").stdout)["read"]
    assert {one["name"] for one in read["columns"]} == {"weight", "size", "colour"}
    assert read["labels"] == 2


def test_one_row_per_label_is_learned_and_judged_by_document_and_answered_by_row(run, tmp_path):
    path = tmp_path / "long.csv"
    rows = [f"{c}{k % 7},{k % 7}.5,{c},{label}\n" for k in range(14) for c in COLOURS
            for label in (COLOURS[c], "large" if k % 7 > 3 else "small")]  # fmt: skip
    path.write_text("id,size,colour,label\n" + "".join(rows))
    done = run("fit", path, "-o", tmp_path / "m", "--learner", "BSVM")
    assert "84 rows, one per label, are 21 documents; --no-join-rows keeps them" in done.stdout
    told = json.loads(run("evaluate", tmp_path / "m", path, "--json").stdout)
    assert told["micro_f1"] == 1.0
    assert len(predicted(run, tmp_path / "m", path)) == 84
    apart = run("fit", path, "--no-join-rows", "--dry-run", "--json")
    assert json.loads(apart.stdout)["read"]["rows"] == 84


@pytest.mark.parametrize(("header", "rows", "told"), [
    ("text,a,b", ["some words here,1,0", "other words,0,1"], "give --labels 2"),
    ("size,tag_1,tag_2", ["1,red,", "2,blue,red"], "give --label-column 'tag*'"),
    ("3.5,red,warm", ["2.5,blue,cold"], "must be the names of the columns"),
    ("a,b,text", ["1,0,some words here", "0,1,other words"], "give --labels 2 --labels-first"),
])  # fmt: skip
def test_where_labels_may_be_is_told(run, tmp_path, header, rows, told):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    done = run("fit", path)
    assert done.exit_code == 2
    assert told in " ".join(done.output.split())


def test_one_row_per_label_is_asked_about_where_the_model_learned_otherwise(run, colours, tmp_path):
    path = tmp_path / "long.csv"
    rows = [f"{c}{k},{k}.5,{c},{label}\n" for k in range(7) for c in COLOURS
            for label in (COLOURS[c], "large")]  # fmt: skip
    path.write_text("id,size,colour,labels\n" + "".join(rows))
    for words in (["evaluate", colours, path], ["learn", colours, path, "-o", tmp_path / "x"]):
        done = run(*words)
        assert done.exit_code == 2
        assert "50% of the first 42 rows differ from another" in " ".join(done.output.split())
    done = run("evaluate", colours, path, "--join-rows", "--json")
    assert json.loads(done.stdout)["precision_at_1"] == 1.0


@pytest.mark.parametrize(("cells", "told"), [
    (["1", "2"], "hold 1 and 2 but no 0"), (["x", ""], None), (["yes", "no"], None),
])  # fmt: skip
def test_label_columns_of_another_file_are_read_by_its_own_cells(run, tmp_path, cells, told):
    rows = [(f"{k % 5}.5", k % 5 > 1, k % 2) for k in range(40)]
    for name, spelled in (("train", ("1", "0")), ("test", cells)):
        lines = [f"{a},{k},{spelled[not b]},{spelled[not c]}" for k, (a, b, c) in enumerate(rows)]
        text = "\n".join(["heat,row,hot,odd", *lines])
        (tmp_path / f"{name}.csv").write_text(text)
    run("fit", tmp_path / "train.csv", "--labels", 2, "-l", "BSVM", "-q", "-o", tmp_path / "m")
    done = run("evaluate", tmp_path / "m", tmp_path / "test.csv", "--json")
    if told:
        assert done.exit_code == 2
        assert told in " ".join(done.output.split())
    else:
        same = run("evaluate", tmp_path / "m", tmp_path / "train.csv", "--json")
        assert json.loads(done.stdout) == json.loads(same.stdout)


def test_a_row_of_sums_below_labels_is_named(run, tmp_path):
    path = tmp_path / "table.csv"
    rows = [f"{k},{k % 2},{k % 3 == 0:d}" for k in range(40)]
    path.write_text("\n".join(["heat,hot,odd", *rows, "780,20,14"]))
    done = run("fit", path, "--labels", 2)
    assert done.exit_code == 2
    assert "line 42: got '20' in label column 'hot'" in " ".join(done.output.split())
    assert run("fit", path, "--labels", 2, "--graded", "--dry-run").exit_code == 0


def test_numbers_of_all_rows_are_read_as_those_of_the_first_rows(run, tmp_path):
    path = tmp_path / "train.csv"
    rows = [f'"{100 * k + 0.5:,.2f}",{"ab"[k % 2]},{"hi" if k > 25 else "lo"}' for k in range(60)]
    path.write_text("\n".join(["s,k,labels", *rows]))
    run("fit", path, "-l", "BSVM", "-q", "-o", tmp_path / "m")
    lines = [{"s": "4.000,50", "k": "a"}] * 2000 + [{"s": "4.000", "k": "a"}]
    new = tmp_path / "new.jsonl"
    new.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.warns(UserWarning, match="read as written 1.234,5"):
        done = run("predict", tmp_path / "m", new, "--json")
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert {tuple(answer["labels"]) for answer in answers} == {("hi",)}


def test_points_that_may_stand_between_thousands_are_told_where_none_were_learned(run, tmp_path):
    path = tmp_path / "train.csv"
    rows = [f"{400 * k},{'ab'[k % 2]},{'hi' if k > 25 else 'lo'}" for k in range(60)]
    path.write_text("\n".join(["s,k,labels", *rows]))
    run("fit", path, "-l", "BSVM", "-q", "-o", tmp_path / "m")
    (tmp_path / "new.csv").write_text("s,k\n22.000,a\n")
    with pytest.warns(UserWarning, match="'22.000' in column 's' is read as 22; if it is 22000"):
        run("predict", tmp_path / "m", tmp_path / "new.csv")


def test_numbers_in_several_units_are_told(run, tmp_path):
    path = tmp_path / "table.csv"
    rows = [f"{k}{' kg' if k % 3 else ' g'},{'ab'[k % 2]}" for k in range(40)]
    path.write_text("\n".join(["weight,label", *rows]))
    done = run("fit", path, "--dry-run")
    told = " ".join(done.stdout.split())
    assert "weight has numbers in g and kg, which are taken as names; write them in one" in told


def test_dates_of_a_workbook_come_back_as_dates(run, tmp_path):
    days = [dt.date(2024, 1, 30), dt.datetime(2024, 6, 5, 13, 30), dt.datetime(2023, 11, 5)]
    rows = [{"size": k, "since": days[k % 3], "labels": "ab"[k % 2]} for k in range(12)]
    path = tmp_path / "table.csv"
    path.write_text(
        "\n".join(["size,since,labels", *(",".join(map(str, r.values())) for r in rows)])
    )
    run("fit", path, "-l", "BSVM", "-q", "-o", tmp_path / "m")
    with open(tmp_path / "new.xlsx", "wb") as file:
        book = Workbook(file, "new.xlsx")
        book.write([["size", "since"], *([k, day] for k, day in enumerate(days))])
        book.close()
    done = run("predict", tmp_path / "m", tmp_path / "new.xlsx", "-o", tmp_path / "out.xlsx", "-q")
    assert done.exit_code == 0, done.output
    back = datasets.load(tmp_path / "out.xlsx").columns["since"]
    assert [str(one) for one in back] == [
        "2024-01-30 00:00:00", "2024-06-05 13:30:00", "2023-11-05 00:00:00",
    ]  # fmt: skip
    with zipfile.ZipFile(tmp_path / "out.xlsx") as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    assert '<c s="1"><v>45321</v></c>' in sheet
    assert '<c s="2"><v>45448.5625</v></c>' in sheet
