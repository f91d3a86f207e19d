# Everything a developer does here; `make` alone lists the targets.
PYTHON ?= python3
BIN := .venv/bin
COMPILE := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m compileall -q src
SERVER_TIERS := tests/rest/test_schemathesis.py tests/mcp_server/test_mutated_messages.py tests/mcp_server/test_soak.py
# Most tests wait for the disk: in memory they take half the time. The crash tests stay on the disk.
IN_MEMORY := $(shell [ "$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }')" -gt 4000000 ] 2>/dev/null && echo TMPDIR=/dev/shm)
FAST_PYTEST = $(IN_MEMORY) $(BIN)/pytest -o tmp_path_retention_policy=failed -n 2 --dist=worksteal --ignore=tests/crash
# `make quick` leaves out what starts servers, browsers, agent hosts or databases, and tests of ten seconds and more.
SLOW := rest mcp_server web hosts engines docs/test_install.py index/test_damage_storm.py lifecycle/test_year.py importers/test_large_export.py
LOWEST := .venv/lowest
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt

.DELETE_ON_ERROR:
.PHONY: help setup demo check quick test fix docs golden picture screenshots bench crash shuffle lowest clean

help:
	@sed -n 's/^\([a-z]*\):.*## /make \1	/p' Makefile | expand -t 14

setup: .venv/dev-installed  ## make .venv with all that development needs

demo: .venv/installed  ## watch Memolith at work, in a temporary folder
	@$(COMPILE)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh scripts/demo.sh

check: .venv/dev-installed  ## format, lint, strict types, import layers, house rules: one minute
	$(BIN)/ruff format --check . && $(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/test_house_rules.py

quick: .venv/dev-installed  ## the tests that start no server and kill no process: four minutes
	@$(COMPILE)
	$(FAST_PYTEST) -p no:randomly $(SLOW:%=--ignore=tests/%)

test: check  ## check, then every test (this is what CI runs): 15 minutes
	@sh scripts/install_test_tools.sh
	@$(COMPILE)
	$(FAST_PYTEST) -p no:randomly --ignore=tests/test_house_rules.py
	$(BIN)/pytest -p no:randomly -n 2 --dist=worksteal tests/crash

fix: .venv/dev-installed  ## format, and repair what ruff can repair
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

docs: .venv/dev-installed  ## generate the reference pages, run every example of README and docs
	$(BIN)/python -m tests.docs.test_configuration_page
	$(BIN)/python -m tests.docs.test_rest_page
	$(BIN)/python -m tests.cli.reference
	$(BIN)/python -m tests.mcp_server.tool_table
	$(BIN)/python -m tests.contract.method_table
	$(BIN)/python -m tests.text.test_language_page
	$(BIN)/pytest -q -n 2 tests/docs

golden: .venv/dev-installed  ## record again what jobs and surfaces answer (tests/golden, tests/contract/golden)
	$(BIN)/python -m tests.lifecycle.test_golden
	$(BIN)/python -m tests.lifecycle.test_golden_dream
	$(BIN)/python -m tests.contract.transcripts

picture: .venv/installed  ## draw the terminal of the README again (docs/images/terminal.svg)
	$(BIN)/python -m scripts.picture

screenshots: .venv/dev-installed  ## take pictures of the page, and the one of the README (docs/images/page.png)
	@sh scripts/install_test_tools.sh
	$(BIN)/python -m scripts.screenshots

bench: .venv/dev-installed  ## measure speed, printed as ratios
	@$(COMPILE)
	$(BIN)/python benchmarks/store.py
	$(BIN)/python benchmarks/lifecycle.py
	$(BIN)/python benchmarks/context.py
	$(BIN)/python benchmarks/hooks.py
	$(BIN)/python benchmarks/mcp_start.py
	$(BIN)/python benchmarks/many_memories.py
	$(BIN)/python -m benchmarks.dream
	$(BIN)/python -m benchmarks.summaries.run
	$(BIN)/python -m benchmarks.relevance.run
	$(BIN)/python -m benchmarks.http

crash: .venv/dev-installed  ## the long tier of the crash and server tests, with new random examples
	@sh scripts/install_test_tools.sh
	MEMOLITH_CRASH_TIER=long $(BIN)/pytest -s tests/crash $(SERVER_TIERS)
	for round in 1 2 3 4 5; do \
		MEMOLITH_CRASH_TIER=long $(BIN)/pytest -q -n 2 -m hypothesis --ignore=tests/crash || exit; done

shuffle: .venv/dev-installed  ## every test but tests/crash in a random order; pytest prints the seed
	@sh scripts/install_test_tools.sh
	@$(COMPILE)
	$(FAST_PYTEST)

lowest: .venv/dev-installed  ## the quick tests with the lowest versions that pyproject.toml allows
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip compile --quiet --only-binary :all: --resolution lowest-direct --python $(BIN)/python \
		--output-file $(LOWEST)/versions.txt pyproject.toml
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --constraint $(LOWEST)/versions.txt \
		--editable . --group dev
	$(MAKE) quick BIN=$(LOWEST)/bin

clean:  ## remove .venv and every cache
	rm -rf .venv build dist .hypothesis .*_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@echo "Installing Memolith into .venv, once: this takes about half a minute."
	@sh scripts/check_python.sh $(PYTHON)
	@$(PYTHON) -m venv .venv
	@$@ -m pip uninstall --quiet --yes setuptools 2>/dev/null  # its .pth is 10 % of every start
.venv/installed: pyproject.toml constraints.txt | .venv/bin/python
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(INSTALL) --editable .
	@touch $@
.venv/dev-installed: .venv/installed
	@echo "Installing the development tools into .venv."
	@$(INSTALL) --group dev
	@touch $@
