# Everything runs in .venv, which is made on first use from requirements.lock.
SHELL  := /bin/bash
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PRESET ?= quick
OUT    ?= runs/$(PRESET)

.PHONY: release test bench lint format lock clean help

release: $(READY)  ## build and prove a release (PRESET=quick, OUT=runs/quick)
	$(BIN)/agentbound build --preset $(PRESET) --out $(OUT)

test: $(READY)  ## every test but the benchmarks (ARGS="-k kernel" passes options on)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -p no:benchmark $(ARGS)

bench: $(READY)  ## the benchmarks, with their figures
	$(BIN)/python -m pytest tests/bench --benchmark-sort=name $(ARGS)

lint: $(READY)  ## formatting, rules and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(READY)  ## write the formatting and the mends that are safe
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(READY)  ## write requirements.lock (UPGRADE=--upgrade for newer versions)
	@command -v uv >/dev/null || [ -x $(BIN)/uv ] || $(BIN)/python -m pip install --quiet uv
	PATH="$$PATH:$(BIN)" uv pip compile pyproject.toml --group dev --universal --python-version 3.11 $(UPGRADE) \
	  --generate-hashes --no-annotate --no-emit-index-url --custom-compile-command "make lock" \
	  --quiet --output-file requirements.lock

clean:  ## remove .venv, caches and build leavings; runs/ stays
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## /\1\t/p' Makefile | expand -t 10

# An environment that works is kept; otherwise one is made with PYTHON, or with the first interpreter that is new enough.
# pip installs exactly what the lock says, hashes checked; bytecode is written afterwards on all cores, which is twice
# as fast as pip doing it on one.
NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))'

$(READY): requirements.lock pyproject.toml
	@if ! $(BIN)/python -c 'import pip' 2>/dev/null; then \
	  for python in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11); do \
	    if $$python $(NEW_ENOUGH) 2>/dev/null; then found=$$python; break; fi; \
	  done; \
	  if [ -z "$${found:-}" ]; then \
	    echo "No Python of 3.11 or newer found; install one, or say where it is: make PYTHON=/path/to/python3.11"; exit 1; \
	  fi; \
	  $$found -m venv --clear $(VENV); \
	fi
	@echo "Setting up $(VENV) with $$($(BIN)/python --version); once, a minute or two."
	@set -o pipefail; total=$$(grep -c == requirements.lock); count=0; \
	$(BIN)/python -m pip install --no-deps --require-hashes --no-compile -r requirements.lock 2>&1 \
	| tee $(VENV)/install.log | while read -r word _; do \
	  case $$word in \
	    Collecting|Processing|Requirement) count=$$((count + 1)); \
	      if [ $$((count % 40)) = 0 ]; then echo "  $$count of $$total packages fetched"; fi;; \
	    Installing) echo "  $$count packages fetched; unpacking";; \
	  esac; \
	done || { grep -v '^ ' $(VENV)/install.log | tail -15; echo "Set-up failed; the whole log is $(VENV)/install.log."; exit 1; }
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --no-index --editable .
	@echo "  compiling"; $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
	@touch $(READY)
