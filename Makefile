# The verbs of the project, the same for people and for CI. Each sets up what it needs, once, in .venv:
# a machine has to have only make and Python 3.11 or newer (PYTHON=python3.12 names another interpreter).

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready

# Every distribution, each after the ones it needs, so that a sibling is taken from here and never from an index.
DISTS := models models-rerank packages/core packages/langchain packages/llamaindex
INSTALL := -e models -e models-rerank -e 'packages/core[embed,rerank,tools,mcp]' -e 'packages/langchain[agents,classic,testing]' \
	-e packages/llamaindex
VERSIONS := models/src/indelible_models/__init__.py models-rerank/src/indelible_reranker/__init__.py \
	packages/core/src/indelible/_version.py \
	packages/langchain/src/langchain_indelible/_version.py packages/llamaindex/src/llama_index_indelible/_version.py
SETUP_FROM := requirements-dev.txt $(DISTS:%=%/pyproject.toml) $(VERSIONS)

CHECK_PYTHON := import sys; sys.version_info >= (3, 11) or sys.exit( \
	"Indelible needs Python 3.11 or newer, but " + sys.executable + " is " + sys.version.split()[0] + ": make PYTHON=/path/to/python3.11")

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: demo test lint bench torture wheels clean help

demo: $(READY) ## show what it does, in one run (DATA=a folder or file of your own, SEED=a number)
	$(PY) examples/demo.py $(if $(DATA),--data '$(DATA)') $(if $(SEED),--seed '$(SEED)')

# Two halves at once, for two cores: what talks to other software, whose output is shown when it is done, and everything else.
test: $(READY) ## every test but the torture runs (ARGS='-k words' for a part)
ifeq ($(strip $(ARGS)),)
	@$(PY) -m pytest -p no:cacheprovider tests/interop > .interop.log 2>&1 & other=$$!; \
	$(PY) -m pytest --ignore=tests/interop; here=$$?; \
	wait $$other; there=$$?; cat .interop.log; \
	echo "tests/interop ended with $$there, all others with $$here (0 is good)"; \
	[ $$here -eq 0 ] && [ $$there -eq 0 ]
else
	$(PY) -m pytest $(ARGS)
endif

lint: $(READY) ## ruff check, ruff format --check and mypy --strict; changes nothing
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: $(READY) ## measure speed and recall quality (ARGS=... are passed on)
	$(PY) -m benchmarks $(ARGS)

torture: $(READY) ## the long random and crash runs that `make test` leaves out
	$(PY) -m pytest -m torture --hypothesis-profile=torture --timeout=3600 $(ARGS)

wheels: $(READY) ## build the wheel and sdist of every package into dist/
	rm -rf dist
	for dist in $(DISTS); do $(PY) -m build --outdir dist $$dist || exit 1; done

clean: ## remove what the verbs made, but keep .venv (the next verb checks it anew)
	rm -rf dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .interop.log $(READY)
	find packages models models-rerank tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

# A half-made environment is removed: it would look ready to the next run.
$(PY):
	@command -v '$(PYTHON)' >/dev/null || { echo 'Indelible needs Python 3.11 or newer, but $(PYTHON) is not there: make PYTHON=/path/to/python3.11' >&2; exit 1; }
	@'$(PYTHON)' -c '$(CHECK_PYTHON)'
	'$(PYTHON)' -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# An old pip comes with most interpreters and resolves this set many times slower.
$(READY): $(SETUP_FROM) | $(PY)
	@$(PY) -c '$(CHECK_PYTHON)'
	$(PY) -m pip install --quiet 'pip>=25'
	$(PY) -m pip install --quiet -r requirements-dev.txt $(INSTALL)
	@touch $@
