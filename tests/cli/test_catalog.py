"""Paper names to learners."""

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
    assert type(learner).__name__ == entry.learner.partition(":")[2]
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
        if hasattr(learner, "_check_parameters"):
            learner._check_parameters()


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
    with pytest.raises(MissingError, match="use one of BR, "):
        catalog.make("zzzzzz")
    with pytest.raises(InputError, match="'epoch'; use epochs"):
        catalog.make("BR", epoch=3)
    with pytest.raises(InputError, match="'colour'; use C or averaging"):
        catalog.make("BR", colour=3)


def test_parts_are_made_from_names_and_classes(monkeypatch):
    module = type(sys)("labelrank.catalog.tried")
    thresholded = "labelrank.learners.thresholded:ThresholdedRanker"
    module.ENTRIES = (
        Entry("one", thresholded, "", "", parts={"estimator": "BR"}),
        Entry("two", thresholded, "", "", parts={"estimator": "sklearn.linear_model:Perceptron"}),
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(catalog, "FAMILIES", (*catalog.FAMILIES, "tried"))
    made = catalog.make("one", estimator__epochs=4, strategy="fixed")
    assert (made.estimator.epochs, made.strategy) == (4, "fixed")
    assert type(catalog.make("two").estimator).__name__ == "Perceptron"
    with pytest.raises(InputError, match="estimator__epoch'; use estimator__epochs"):
        catalog.make("one", estimator__epoch=4)


def test_listing_imports_no_learner():
    code = (
        "import sys; from labelrank import catalog; catalog.entries(); "
        "print([m for m in ('numpy', 'sklearn', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
