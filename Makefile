PY ?= python3
BIN := .venv/bin
ENGINE_VENV ?= .venv-engine

.PHONY: setup demo test browser screenshots test-engine lint bench soak eval eval-full lock

setup: .venv/.ready  ## a virtual environment with exactly what requirements.lock names

.venv/.ready: requirements.lock pyproject.toml
	$(PY) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

demo: setup  ## a long conversation through the real endpoint, on embedded parts
	$(BIN)/backscroll demo

test: lint browser  ## lint, types, import rules, tests
	$(BIN)/python -m pytest -q

# The inspector's pages are tested in it. Elsewhere than on Debian as root, without it, those tests are skipped.
browser:  ## Debian's Chromium with its driver, where it is missing and can be installed
	@if command -v chromedriver >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver >/dev/null || echo "Chromium could not be installed"; \
	else echo "no Chromium: the tests of the inspector's pages will be skipped"; fi

screenshots: setup browser  ## the pictures in docs/images; a font with Chinese is needed (Debian: fonts-wqy-microhei)
	BACKSCROLL_SCREENSHOTS=1 $(BIN)/python -m pytest -q tests/e2e/inspector -k screenshots

test-engine: setup $(ENGINE_VENV)/.ready  ## opt-in: a long chat through llama.cpp's server, with a real model; some ten minutes
	$(ENGINE_VENV)/bin/python tests/engine/serve.py $(BIN)/python -m pytest -q tests/engine

# Builds llama.cpp from source, once: some ten minutes, and CMake and a C++ compiler are needed.
$(ENGINE_VENV)/.ready: tests/engine/requirements.txt
	$(PY) -m venv $(ENGINE_VENV)
	$(ENGINE_VENV)/bin/python -m pip install --disable-pip-version-check -r tests/engine/requirements.txt
	touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup  ## time in each stage of the hot path
	$(BIN)/python -m evals.bench
	$(BIN)/python -m tests.bench.scaling

soak: setup  ## 20,000 generated requests of all dialects against engines that refuse: 0 may go wrong
	$(BIN)/python -m evals.soak --requests 20000 --seed 1

EVAL_QUICK := .backscroll/eval-quick
EVAL_FULL := .backscroll/eval-full
ABLATED := locomo beam-100k memdaily-joined madial agents chained-babi

eval: setup  ## recall on quick parts of the suites, compared with plain methods: some ten minutes
	$(BIN)/backscroll eval all --quick --out $(EVAL_QUICK) --report $(or $(REPORT),$(EVAL_QUICK)/report)

eval-full: setup  ## all suites whole: hours; goes on where it was stopped
	$(BIN)/backscroll eval all --out $(EVAL_FULL); failed=$$?; \
	$(BIN)/backscroll eval $(ABLATED) --ablate --questions 30 --out $(EVAL_FULL) && \
	$(BIN)/backscroll eval report $(EVAL_FULL)/*.jsonl --report $(or $(REPORT),$(EVAL_FULL)/report) && \
	exit $$failed

lock:  ## resolve the ranges of pyproject.toml anew
	$(BIN)/pip-compile --quiet --extra dev --extra eval --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-options --no-header -o requirements.lock pyproject.toml
