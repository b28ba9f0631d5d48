# Two commands do all the set-up:  make demo  and  make test. (make test-all also runs what takes long.)
PYTHON ?= python3
BIN := .venv/bin
DATA := $(abspath ../shared/data)
ifneq ($(wildcard $(DATA)),)
export SUDARE_DATA ?= $(DATA)
endif
# Test modules are rewritten once, and not by every worker of every run.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt

.PHONY: demo test test-all ready lint warm-up bench wheel docs format clean

demo: .venv/core
	$(BIN)/sudare demo --force

test: ready
	$(BIN)/pytest -m "not slow" --numprocesses auto --dist worksteal

test-all: ready
	SUDARE_PAIRS=100 $(BIN)/pytest --numprocesses auto --dist worksteal --cov --cov-report=term

# The linters need one core, and what is compiled takes all that are left.
ready:
	@$(MAKE) --no-print-directory --jobs=2 warm-up lint

warm-up: .venv/dev
	$(BIN)/sudare warm-up

lint: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/dev
	$(BIN)/python -m benchmarks

# With the kernels compiled, so that the first release of an installation waits for nothing.
wheel: .venv/core
	find src -name '*.nb[ic]' -delete
	$(BIN)/sudare warm-up
	$(PIP:install=wheel) --no-deps --wheel-dir dist .

# The site, in build/site: without a warning, or not at all.
docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

format: .venv/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv demo-output

.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Sudare needs Python 3.11 or later; $$($(PYTHON) --version) is too old. Name another: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "Python's venv module is missing. On Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	@touch $@

.venv/core: .venv/python pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

.venv/dev: .venv/python pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	@touch $@ .venv/core

.venv/docs: .venv/dev
	$(PIP) --editable '.[docs]'
	@touch $@
