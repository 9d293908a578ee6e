# Every target sets up what it needs in .venv; the second time it is quick.
PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3,$(if $(shell command -v $(p)),$(p))))
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo web test coverage check bench docs clean

help: ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -m venv .venv

.venv/.core: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	@touch $@

.venv/.test: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[test]'
	@touch .venv/.core $@

.venv/.dev: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[dev]'
	@touch .venv/.core .venv/.test $@

demo: .venv/.core ## protect artificial survey data in several ways and write demo/report.html
	$(BIN)/sdckit demo --out demo

.venv/.web: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[web]'
	@touch .venv/.core $@

web: .venv/.web ## the page for data stewards, in your browser
	$(BIN)/sdckit web

test: .venv/.test ## run all tests (what is optional and absent is skipped)
	$(BIN)/python -m pytest -n 2 --dist loadgroup

# kernels are counted in a second run, in which they are plain Python
coverage: .venv/.test ## how much of src the tests run (a quarter of an hour)
	COVERAGE_FILE=.coverage.compiled $(BIN)/python -m pytest -n 2 --dist loadgroup --cov --cov-report=
	NUMBA_DISABLE_JIT=1 COVERAGE_FILE=.coverage.plain $(BIN)/python -m pytest -n 2 --cov --cov-report= -m "not compiled" \
		tests/kernels tests/models/test_gaussian_mixture.py tests/estimate/test_replicates.py tests/protect/test_swap_records.py
	$(BIN)/python -m coverage combine .coverage.compiled .coverage.plain
	$(BIN)/python -m coverage report --skip-covered --fail-under=95

check: .venv/.dev ## format, lint, types, import contracts, quick tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow" tests/data tests/methods tests/choose/test_scenario.py tests/choose/test_assess.py

bench: .venv/.test ## print the benchmarks
	$(BIN)/python -m benchmarks

.venv/.docs: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[docs]'
	@touch .venv/.core $@

docs: .venv/.docs ## build the documentation into docs/_build
	$(BIN)/sphinx-build -q -W -E docs docs/_build

clean: ## remove what was made
	rm -rf .venv demo docs/_build docs/reference
