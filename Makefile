# make demo   sets up .venv from nothing and runs the whole job on generated photos
# make test   sets up .venv from nothing, then style, types and the fast tests

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo test test-slow test-lowest lint setup clean

demo: setup
	$(BIN)/orderless demo

test: lint
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4

test-slow: setup
	$(BIN)/python -m pytest -m slow --durations 15

# The lowest versions that pyproject.toml allows, but for torch: another build of it is gigabytes.
LOWEST := build/lowest
test-lowest:
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --constraint constraints.txt torch torchvision
	$(PYTHON) tests/reliability/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/constraints.txt --editable . pytest hypothesis scikit-learn
	$(LOWEST)/bin/python -m pytest tests/cli/test_main.py tests/data tests/evaluation tests/loss tests/model tests/training

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

setup: $(STAMP)

$(STAMP): pyproject.toml setup.py constraints.txt $(wildcard src/orderless/*/*.c)
	$(PYTHON) -m venv .venv
	# torch first and pinned: a range would let another package pull in a larger build
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv build dist
