PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DEMO   := $(VENV)/.labelrank
STAMP  := $(VENV)/.installed
BESIDE := $(wildcard ../shared/data)
ifneq ($(BESIDE),)
export LABELRANK_DATA ?= $(abspath $(BESIDE))
endif

.PHONY: help install demo test test-all test-lowest test-newest attack check bench bench-rivals docs mutants clean

help:
	@echo "make install | demo | test | test-all | test-lowest | test-newest | attack | check | bench | bench-rivals | docs | mutants | clean"

# The package and what it runs on: all that the demo needs.
$(DEMO): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "labelrank needs Python 3.11 or newer")'
	@echo "[1] a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@echo "[2] labelrank and the libraries it runs on: some 200 MB to download, 800 MB on disk, a minute or two"
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# Added to it: the tools of tests, checks and documentation.
$(STAMP): $(DEMO)
	@echo "[3] tools for tests, checks and documentation: 400 MB more on disk, a minute or two"
	@$(BIN)/python -m pip install --quiet --editable '.[dev,docs,distributed]'
	@touch $@

install: $(STAMP)

demo: $(DEMO)
	@echo "[demo] labelrank demo: learn the bundled sample, measure, write a model and a page to demo-output"
	@$(BIN)/labelrank demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2

test-all: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m ''
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n 2 tests/learners tests/promises

# The oldest and the newest libraries that pyproject.toml allows. TESTS="-n 2 tests/cli" runs some of the tests.
test-lowest test-newest: test-%: $(VENV)-%/.installed
	$(VENV)-$*/bin/python -m pytest $(or $(TESTS),-n 2)

$(VENV)-lowest/.installed $(VENV)-newest/.installed: $(VENV)-%/.installed: pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)-$*
	$(VENV)-$*/bin/python -m pip install --quiet uv
	$(VENV)-$*/bin/uv pip install --quiet --upgrade --python $(VENV)-$*/bin/python \
		--resolution $(if $(filter lowest,$*),lowest-direct,highest) --editable '.[dev,distributed]'
	@touch $@

attack: $(STAMP)
	cd tests && ../$(BIN)/python -m attack $(ATTACK)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --doctest-modules src/labelrank --doctest-glob="*.rst" docs --ignore=docs/conf.py --ignore=docs/_build -p no:cacheprovider

bench: $(STAMP)
	$(BIN)/python -m benchmarks.peers --again
	$(BIN)/python -m benchmarks

bench-rivals: $(STAMP)
	$(BIN)/python -m benchmarks.rivals

# Hours: each mutant runs the tests of its area. `python tools/mutants.py --help` says how to run some.
mutants: $(STAMP)
	$(BIN)/python tools/mutants.py --sample 100

docs: $(STAMP)
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-newest docs/_build .pytest_cache .mypy_cache .ruff_cache
