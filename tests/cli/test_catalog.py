"""Paper names to learners."""

import os
import subprocess
import sys

import pytest
from sklearn.model_selection import ParameterGrid

from labelrank import catalog
from labelrank.catalog import Entry
from labelrank.errors import InputError, MissingError


@pytest.mark.parametrize("name", catalog.names())
def test_every_entry_makes_its_learner(name):
    entry = catalog.describe(name)
    learner = catalog.make(name)
    assert type(learner).__name__ == entry.learner.rpartition(":")[2]
    assert all(learner.get_params()[key] == value for key, value in entry.settings.items())
    assert entry.summary
    assert entry.paper


# "auto" tries learners by itself.
@pytest.mark.parametrize("name", [name for name in catalog.names() if name != "auto"])
def test_every_entry_has_a_grid_of_settings_that_it_takes(name):
    settings = list(ParameterGrid({**catalog.describe(name).grid}))
    assert len(settings) >= 2
    for chosen in settings:
        learner = catalog.make(name, **chosen)
        assert chosen.items() <= learner.get_params().items()
        if hasattr(learner, "check_parameters"):
            learner.check_parameters()


def test_names_are_unique_whatever_their_capitals():
    names = [name.casefold() for name in catalog.names()]
    assert len(set(names)) == len(names)


def test_an_improved_entry_names_what_it_improves():
    for entry in catalog.entries():
        assert entry.improves is None or catalog.describe(entry.improves)
        assert entry.name.endswith("+") == (entry.improves is not None)


def test_overrides_win_over_settings_and_leave_the_entry_alone():
    assert catalog.make("BR+", epochs=9).epochs == 9
    assert catalog.make("BR+").epochs != 9


def test_capitals_do_not_matter():
    assert catalog.describe("mmp") is catalog.describe("MMP")


def test_unknown_names_and_parameters_get_near_ones():
    with pytest.raises(MissingError, match=r"did you mean.*BR"):
        catalog.make("BRX")
    with pytest.raises(MissingError, match="labelrank learners"):
        catalog.make("zzzzzz")
    with pytest.raises(InputError, match="'epoch'; use epochs"):
        catalog.make("BR", epoch=3)
    with pytest.raises(InputError, match="'colour'; use C or averaging"):
        catalog.make("BR", colour=3)


def test_parts_are_made_from_names_and_classes(monkeypatch):
    module = type(sys)("labelrank.catalog.tried")
    module.ENTRIES = (
        Entry("one", "ThresholdedRanker", "", "", parts={"estimator": "BR"}),
        Entry(
            "two",
            "ThresholdedRanker",
            "",
            "",
            parts={"estimator": "sklearn.linear_model:Perceptron"},
        ),
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(catalog, "TABLES", (*catalog.TABLES, "tried"))
    made = catalog.make("one", estimator__epochs=4, strategy="fixed")
    assert (made.estimator.epochs, made.strategy) == (4, "fixed")
    assert type(catalog.make("two").estimator).__name__ == "Perceptron"
    with pytest.raises(InputError, match="estimator__epoch'; use estimator__epochs"):
        catalog.make("one", estimator__epoch=4)


def test_a_seed_reaches_every_learner_inside_and_jobs_the_outermost():
    made = catalog.make("RankSVM-R", seed=7, n_jobs=2)
    assert made.random_state == 7
    states = [v for k, v in made.get_params().items() if k.endswith("__random_state")]
    assert len(states) >= 2
    assert None not in states
    assert catalog.make("LP", seed=7).estimator.random_state is not None
    bagged = catalog.make("bagged EP-PLM", seed=7, n_jobs=2)
    assert (bagged.n_jobs, bagged.estimator.n_jobs) == (2, None)
    assert catalog.make("kNN+", n_jobs=2).estimator.n_jobs == 2
    assert catalog.make("BR", seed=7, random_state=3).random_state == 3


def install(folder, package, entry_points, module=""):
    """A package as pip would leave it on the path: its module and what it says of itself."""
    about = folder / f"{package}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[labelrank.learners]\n{entry_points}\n")
    (folder / f"{package}.py").write_text(module)


MINE = '''
from labelrank import BinaryRelevancePerceptron
from labelrank.catalog import Entry

class Mine(BinaryRelevancePerceptron):
    """A perceptron of our own.

    More about it.
    """

def many_epochs():
    """Ten epochs of it."""
    return Mine(epochs=10)

row = Entry("any", "tried_learners:Mine", "A paper 2026", "With a grid", {"epochs": 4},
            grid={"epochs": (1, 2)})
count = 3
'''


@pytest.fixture
def packages(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    install(
        folder,
        "tried_learners",
        "mine = tried_learners:Mine\nmany = tried_learners:many_epochs\nrow = tried_learners:row",
        MINE,
    )
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("tried_learners", None)


def test_other_packages_add_learners_by_entry_points(packages):
    assert {"mine", "many", "row"} < set(catalog.names())
    assert "tried_learners" not in sys.modules
    entry = catalog.describe("Mine")
    assert (entry.name, entry.summary) == ("mine", "A perceptron of our own")
    assert entry.paper == "tried_learners 1.0"
    assert catalog.make("mine", seed=3, epochs=2).get_params().items() >= {
        "random_state": 3, "epochs": 2,
    }.items()  # fmt: skip
    assert catalog.make("many").epochs == 10
    assert catalog.describe("row").grid == {"epochs": (1, 2)}
    assert catalog.make("row").epochs == 4
    assert [entry.name for entry in catalog.entries()][-3:] == ["many", "mine", "row"]
    with pytest.raises(MissingError, match="did you mean mine"):
        catalog.make("mined")


BROKEN = {
    "gone = not_there:Learner": r"broken 1\.0 offers 'gone', .* cannot be loaded",
    "gone = tried_learners:Nothing": "AttributeError",
    "gone = broken:Learner": "ZeroDivisionError",
    "gone = tried_learners:count": "is int, not an Entry",
    "BR = tried_learners:Mine": "'BR', a name that the catalog has already",
}


@pytest.mark.parametrize("entry_point", BROKEN)
def test_a_broken_package_is_named_and_does_not_hurt_the_others(packages, entry_point):
    install(packages, "broken", entry_point, "1 / 0")
    with pytest.warns(UserWarning, match=BROKEN[entry_point]):
        names = [entry.name for entry in catalog.entries()]
    assert {"BR", "mine", "many", "row"} < set(names)
    assert type(catalog.make("BR")).__name__ == "BinaryRelevancePerceptron"
    if entry_point.startswith("gone"):
        with pytest.raises(MissingError, match=BROKEN[entry_point]):
            catalog.make("gone")


def test_commands_take_the_learners_of_other_packages(packages, run, shell, news, tmp_path):
    assert "mine" in run("learners").stdout
    assert "A perceptron of our own" in run("learners", "mine").stdout
    assert "4" in run("learners", "row").stdout
    assert run("fit", news, "-l", "mine", "-o", tmp_path / "m", "-q").exit_code == 0
    arguments = ["--learners", "BR,mine", "--cv", 2, "-o", tmp_path / "out", "-q"]
    assert run("compare", news, *arguments).exit_code == 0
    path = os.pathsep.join([str(packages), os.environ.get("PYTHONPATH", "")])
    done = shell("predict", tmp_path / "m", news, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout
    refused = shell("predict", tmp_path / "m", news)
    assert b"tried_learners.Mine" in refused.stderr


def test_listing_imports_no_learner():
    code = (
        "import sys; from labelrank import catalog; catalog.entries(); "
        "print([m for m in ('numpy', 'sklearn', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
