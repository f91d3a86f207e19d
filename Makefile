# Everything a developer does here; `make` alone lists the targets.
PYTHON ?= python3
BIN := .venv/bin
COMPILE := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m compileall -q src
SERVER_TIERS := tests/rest/test_schemathesis.py tests/mcp_server/test_mutated_messages.py tests/mcp_server/test_soak.py
# Most tests wait for the disk: in memory they take half the time. The crash tests stay on the disk.
IN_MEMORY := $(shell [ "$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }')" -gt 4000000 ] 2>/dev/null && echo TMPDIR=/dev/shm)
FAST_PYTEST := $(IN_MEMORY) $(BIN)/pytest -o tmp_path_retention_policy=failed -n 2 --dist=worksteal --ignore=tests/crash
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt

.DELETE_ON_ERROR:
.PHONY: help setup demo test shuffle check fix crash bench docs golden clean

help:
	@sed -n 's/^\([a-z]*\):.*## /make \1	/p' Makefile | expand -t 12

setup: .venv/dev-installed  ## make .venv with all that development needs

demo: .venv/installed  ## watch Memolith at work, in a temporary folder
	@$(COMPILE)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh scripts/demo.sh

test: check  ## check, then run the whole test suite (this is what CI runs)
	@sh scripts/install_test_tools.sh
	@$(COMPILE)
	$(FAST_PYTEST) -p no:randomly --ignore=tests/test_house_rules.py
	$(BIN)/pytest -p no:randomly -n 2 --dist=worksteal tests/crash

shuffle: .venv/dev-installed  ## run the test suite in a random order; pytest prints the seed
	@sh scripts/install_test_tools.sh
	@$(COMPILE)
	$(FAST_PYTEST)

check: .venv/dev-installed  ## format, lint, strict types, import layers, house rules
	$(BIN)/ruff format --check . && $(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/test_house_rules.py

fix: .venv/dev-installed  ## format, and repair what ruff can repair
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

crash: .venv/dev-installed  ## the long tier of the crash tests and of those that load the servers, and new examples for the others
	@sh scripts/install_test_tools.sh
	MEMOLITH_CRASH_TIER=long $(BIN)/pytest -s tests/crash $(SERVER_TIERS)
	for round in 1 2 3 4 5; do \
		MEMOLITH_CRASH_TIER=long $(BIN)/pytest -q -n 2 -m hypothesis --ignore=tests/crash || exit; done

bench: .venv/dev-installed  ## measure speed, printed as ratios
	@$(COMPILE)
	$(BIN)/python benchmarks/store.py
	$(BIN)/python benchmarks/lifecycle.py
	$(BIN)/python benchmarks/context.py
	$(BIN)/python benchmarks/mcp_start.py
	$(BIN)/python benchmarks/many_memories.py
	$(BIN)/python -m benchmarks.dream
	$(BIN)/python -m benchmarks.summaries.run
	$(BIN)/python -m benchmarks.relevance.run
	$(BIN)/python -m benchmarks.http

docs: .venv/dev-installed  ## write the table of settings anew, run every example of README and docs
	$(BIN)/python -m tests.docs.test_configuration_page
	$(BIN)/python -m tests.docs.test_rest_page
	$(BIN)/pytest tests/docs

golden: .venv/dev-installed  ## write again what jobs make of tests/golden, and the transcripts of all surfaces
	$(BIN)/python -m tests.lifecycle.test_golden
	$(BIN)/python -m tests.lifecycle.test_golden_dream
	$(BIN)/python -m tests.contract.transcripts

clean:  ## remove .venv and every cache
	rm -rf .venv build dist .hypothesis .*_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@sh scripts/check_python.sh $(PYTHON)
	$(PYTHON) -m venv .venv
	@$@ -m pip uninstall --quiet --yes setuptools 2>/dev/null  # its .pth is 10 % of every start
.venv/installed: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(INSTALL) --editable .
	@touch $@
.venv/dev-installed: .venv/installed
	$(INSTALL) --group dev
	@touch $@
