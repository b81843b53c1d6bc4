# make demo     set up (once) and watch one message travel, sealed, from end to end
# make test     set up (once) and run the tests
# make check    lint, formatting, types, layering, links in the docs
# make bench    one line a measure
# make soak     the tests that run long: SOAK_SECONDS=600 for each
# make trace    which tests pin which sentence of the mission
# make lock     write requirements/*.txt anew from *.in (needs uv)

PYTHON ?= python3
VENV ?= .venv
SOAK_SECONDS ?= 600
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq
RUN := $(VENV)/.clankie-run
DEV := $(VENV)/.clankie-dev
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
# A step that takes long, and may be interrupted: the traceback that Python ends with then helps nobody.
STEP = errors=$$(mktemp); \
	trap 'rm -f "$$errors"; echo "Interrupted. Next: the same make again, which goes on from here." >&2; exit 130' INT; \
	$(1) 2>"$$errors" || { cat "$$errors" >&2; rm -f "$$errors"; exit 1; }; rm -f "$$errors"

.PHONY: help setup demo test check bench soak trace lock
.NOTPARALLEL:
.SILENT:

help:
	sed -n 's/^# //p' Makefile

setup: $(DEV)

demo: $(RUN)
	$(BIN)/clankie demo $(ARGS)

test: $(DEV)
	$(BIN)/pytest --numprocesses auto --maxprocesses 4 --dist worksteal $(ARGS)

check: $(DEV)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/check_docs.py

bench: $(DEV)
	for measure in bench/bench_*.py; do $(BIN)/python "$$measure" || exit 1; done

soak: $(DEV)
	SOAK_SECONDS=$(SOAK_SECONDS) $(BIN)/pytest -m soak --timeout $$(($(SOAK_SECONDS) * 2 + 600)) $(ARGS)

trace: $(DEV)
	$(BIN)/python tools/trace_sentences.py

lock:
	command -v uv >/dev/null || { echo "make lock needs uv. Next: pip install uv"; exit 1; }
	$(LOCK) requirements/run.in --output-file requirements/run.txt
	$(LOCK) requirements/dev.in --constraints requirements/run.txt --output-file requirements/dev.txt

$(RUN): requirements/run.txt pyproject.toml | $(BIN)/python
	echo "Installing what Clankie runs on into $(VENV) (once)"
	$(call STEP,$(PIP) install --no-compile --require-hashes --requirement requirements/run.txt)
	$(call STEP,$(PIP) install --no-deps --no-build-isolation --editable .)
	touch $@

$(DEV): requirements/dev.txt pyproject.toml | $(BIN)/python
	echo "Installing what the tests and checks need into $(VENV) (once)"
	$(call STEP,$(PIP) install --no-compile --require-hashes --requirement requirements/dev.txt)
	$(call STEP,$(PIP) install --no-deps --no-build-isolation --editable .)
	touch $@ $(RUN)

$(BIN)/python:
	command -v $(PYTHON) >/dev/null || { \
	  echo "Clankie needs Python 3.11 or newer, and there is no $(PYTHON) here."; \
	  echo "Next: install it, or name yours: make PYTHON=/path/to/python3.12 demo"; exit 1; }
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Clankie needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) -V 2>&1)."; \
	  echo "Next: name a newer one: make PYTHON=/path/to/python3.12 demo"; exit 1; }
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) has no venv module; Debian and Ubuntu package it apart."; \
	  echo "Next: apt-get install python3-venv"; exit 1; }
	$(call STEP,$(PYTHON) -m venv $(VENV))
