PY ?= python3
BIN := .venv/bin

.PHONY: setup demo test lint bench soak lock

setup: .venv/.ready  ## a virtual environment with exactly what requirements.lock names

.venv/.ready: requirements.lock pyproject.toml
	$(PY) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

demo: setup  ## a long conversation through the real endpoint, on embedded parts
	$(BIN)/backscroll demo

test: lint  ## lint, types, import rules, tests
	$(BIN)/python -m pytest -q

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup  ## time in each stage of the hot path
	$(BIN)/python -m evals.bench

soak: setup  ## 20,000 generated requests of all dialects against engines that refuse: 0 may go wrong
	$(BIN)/python -m evals.soak --requests 20000 --seed 1

lock:  ## resolve the ranges of pyproject.toml anew
	$(BIN)/pip-compile --quiet --extra dev --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-options --no-header -o requirements.lock pyproject.toml
