# Everything lives in a virtual environment of its own, made on the first call.
# uv is used where it is installed, else venv and pip. Only python3 and make are needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
PYTEST_ARGS ?= -n auto --dist worksteal
# Plugins by name: pytest rewrites all of Hypothesis in every process where it finds them itself.
# Compiled modules are kept, else each process that tests start compiles the package again.
PYTEST = PYTHONDONTWRITEBYTECODE= PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 $(BIN)/python -m pytest -p xdist -p hypothesispytest
TORCH = "torch==2.13.0"
APT ?= --quiet=2 --yes -o Acquire::Retries=1 -o Acquire::http::Timeout=30
PYTHONS ?= 3.11 3.12 3.13 3.14

PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
ifdef UV
INSTALL = $(UV) pip install --quiet --python $(BIN)/python
else
INSTALL = $(PIP)
endif

.PHONY: demo app everything browser test test-all test-browser test-lowest test-pythons test-peers faults fuzz audit lint format bench reproduce docs docs-quick docs-access screenshots dist torch clean help

help:
	@echo "make demo    cluster the built-in table; labels and a report go to demo-output/"
	@echo "make app     start the app in the browser: cluster tables without commands"
	@echo "make test    run the tests that can find a mistake in a change: minutes"
	@echo "make test-all      all tests: real browser, killed processes, workers, memory, faults too"
	@echo "make test-browser  the main path in a real browser: table, clusters, download, report"
	@echo "make test-lowest   run the tests with the lowest versions that pyproject.toml allows"
	@echo "make test-pythons  run the tests on every Python from 3.11 to 3.14 found here; PYTHONS=3.12"
	@echo "make test-peers    run scikit-learn's own tests on the estimators here"
	@echo "make browser install Debian's Chromium, so that the tests in a real browser run too; needs root"
	@echo "make faults  interrupt, kill and starve the program, twenty times each way"
	@echo "make fuzz    100,000 mutated model files, 50,000 mutated tables, 10,000 odd arrays"
	@echo "make audit   compare the dependencies with the list of known weaknesses; needs the network"
	@echo "make lint    check style, spelling, types and the direction of imports"
	@echo "make format  put the code into the house format"
	@echo "make bench   run the benchmarks and write docs/performance.md; BENCH_ARGS='--data D --rows F'"
	@echo "make reproduce  the paper's figures in a quick form; they go to results/quick/"
	@echo "make docs    build the documentation into docs/_build/html; warnings are errors"
	@echo "make docs-access   check the built pages with axe, light and dark; needs Chromium and chromedriver"
	@echo "make screenshots  take the documentation's screenshots again; needs Chromium and chromedriver"
	@echo "make dist    build the wheel and the sdist, check them, try each by itself"
	@echo "make torch   add PyTorch to the environment, so that its tests run too"
	@echo "make everything   install all that is needed to test, check, document and build, and PyTorch"
	@echo "make clean   remove the virtual environment and caches"

$(BIN)/python:
ifdef UV
	$(UV) venv --quiet --seed --python $(PYTHON) $(VENV)
else
	$(PYTHON) -m venv $(VENV)
endif

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(INSTALL) -e ".[all]"
	@touch $@

$(VENV)/.app: $(BIN)/python pyproject.toml
	$(INSTALL) -e ".[app]"
	@touch $@ $(VENV)/.demo

$(VENV)/.test: $(BIN)/python pyproject.toml
	$(INSTALL) -e ".[test]"
	@touch $@ $(VENV)/.app $(VENV)/.demo

$(VENV)/.lint: $(BIN)/python pyproject.toml
	$(INSTALL) -e ".[lint]"
	@touch $@ $(VENV)/.test $(VENV)/.app $(VENV)/.demo

$(VENV)/.docs: $(BIN)/python pyproject.toml
	$(INSTALL) -e ".[docs]"
	@touch $@ $(VENV)/.demo

$(VENV)/.dist: $(BIN)/python pyproject.toml
	$(INSTALL) build hatchling twine
	@touch $@

# All that `.ci/run` needs, sought together: by uv, in a sixth of pip's processor time, or by pip
# where uv reaches no packages.
ALL = -e ".[docs,lint]" build hatchling twine $(TORCH)
everything: $(BIN)/python
	$(PIP) uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python \
		$(addprefix --find-links ,$(PIP_FIND_LINKS)) $(ALL) || $(PIP) $(ALL)
	@touch $(VENV)/.lint $(VENV)/.docs $(VENV)/.dist $(VENV)/.test $(VENV)/.app $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/pckid demo --out demo-output

app: $(VENV)/.app
	$(BIN)/pckid app

# Once more if it fails, and no failure if it cannot be done: the tests that need it are skipped then.
browser:
	@command -v chromium > /dev/null && command -v chromedriver > /dev/null && exit; \
	if command -v apt-get > /dev/null && test "$$(id -u)" = 0; then \
		for try in 1 2; do \
			apt-get $(APT) update && apt-get $(APT) install --no-install-recommends \
				chromium chromium-driver && exit; \
		done; \
	fi; \
	echo "No Chromium could be installed: the tests that need one are skipped."

test: $(VENV)/.test
	$(PYTEST) $(PYTEST_ARGS) -m "not slow" tests src

test-all: $(VENV)/.test
	$(PYTEST) $(PYTEST_ARGS)

test-browser: $(VENV)/.test
	$(PYTEST) -m main_path tests/app tests/reporting

test-lowest: $(BIN)/python
	$(BIN)/python tools/lowest.py test > $(VENV)/lowest.txt
	$(PYTHON) -m venv $(VENV)/lowest
	$(VENV)/lowest/bin/python -m pip install --quiet --disable-pip-version-check \
		-c $(VENV)/lowest.txt -e ".[test]"
	$(VENV)/lowest/bin/python -m pytest $(PYTEST_ARGS)

# Where pyenv puts them, or on the path; a name on the path may be a shim of a version not chosen,
# so only one that runs and is of that version counts.
test-pythons:
	@for version in $(PYTHONS); do \
		python=; \
		for found in $(HOME)/.pyenv/versions/$$version*/bin/python python$$version; do \
			$$found -c "import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '$$version')" \
				2>/dev/null && { python=$$found; break; }; \
		done; \
		test -n "$$python" || { echo "Python $$version is not here"; continue; }; \
		echo "Python $$version: $$python"; \
		$$python -m venv $(VENV)-$$version && \
		$(VENV)-$$version/bin/python -m pip install --quiet --disable-pip-version-check \
			-e ".[test]" && \
		$(VENV)-$$version/bin/python -m pytest $(PYTEST_ARGS) || exit 1; \
	done

screenshots: $(VENV)/.test
	$(BIN)/python docs/screenshots.py docs/images
	$(BIN)/python docs/app_screenshots.py docs/images

test-peers: $(VENV)/.test
	$(BIN)/python tools/peers.py

faults: $(VENV)/.test
	FAULTS=20 $(BIN)/python -m pytest -m slow tests/test_faults.py

fuzz: $(VENV)/.test
	FUZZ=100000 $(BIN)/python -m pytest $(PYTEST_ARGS) tests/test_fuzz.py

audit: $(VENV)/.test
	$(INSTALL) pip-audit
	$(BIN)/pip-audit --local --skip-editable

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/docstrings.py
	$(BIN)/python tools/names.py
	$(BIN)/python tools/structure.py

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

QUICK = --runs 2 --inits 5 --max-components 10 --kmeans-starts 10
reproduce: $(VENV)/.test
	$(BIN)/python -m experiments reproduce mnist $(QUICK) --out results/quick/mnist
	$(BIN)/python -m experiments reproduce landcover $(QUICK) --out results/quick/landcover

docs: $(VENV)/.docs
	rm -rf docs/_build docs/gallery docs/_extra docs/_pictures
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

docs-quick: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -D plot_gallery=0 -D run_commands=0 -b html docs docs/_build/quick

docs-access: $(VENV)/.test
	$(BIN)/python docs/check_access.py docs/_build/html

dist: $(VENV)/.test $(VENV)/.dist
	$(BIN)/python tools/check_dist.py

torch: $(BIN)/python
	$(PIP) $(TORCH)

clean:
	rm -rf $(VENV) $(VENV)-3.* .pytest_cache .ruff_cache .mypy_cache .hypothesis dist
	rm -rf docs/_build docs/gallery docs/_extra docs/_pictures
