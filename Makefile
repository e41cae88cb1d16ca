# The project's verbs. Each one installs what it needs first, into its own virtual environment.
# From a fresh clone, with Python 3.11 or later and pip: `make demo`, `make test`.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=

BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed-run
DEV_STAMP := $(VENV)/.installed-dev
# In a test, None or another kind of value where one was due fails the test; the types need not
# say so again, nor what a dict of JSON holds.
LENIENT := --allow-untyped-defs --allow-incomplete-defs --allow-untyped-calls \
	--no-warn-return-any --disable-error-code union-attr --disable-error-code type-arg \
	--disable-error-code comparison-overlap --follow-imports=silent
LOCK := $(BIN)/pip-compile --quiet --strip-extras --generate-hashes --allow-unsafe \
	--no-header --no-annotate --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	--no-emit-options

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test proof check fix lock

help:  ## list these verbs
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: $(DEV_STAMP)  ## install the project and its development tools into $(VENV)

demo: $(RUN_STAMP)  ## watch two releases of a sample agent be judged, in under a minute
	@$(BIN)/agent-monitor demo $(ARGS)

test: $(DEV_STAMP)  ## run the tests; ARGS is passed on to pytest
	@$(BIN)/python -m pytest $(ARGS)

proof: $(DEV_STAMP)  ## kill workers over a real broker, and compare every total (java, mvn); ARGS: --seed N
	@$(BIN)/python tests/proof.py $(ARGS)

check: $(DEV_STAMP)  ## only look: format, lint, types, import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/mypy $(LENIENT) --exclude "^tests/(sdk|peers)/" tests
	@$(BIN)/lint-imports --no-logo

fix: $(DEV_STAMP)  ## format, and mend what ruff can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lock: $(DEV_STAMP)  ## resolve the container's dependencies anew, with hashes (needs the network)
	@$(LOCK) --upgrade --extra aws --extra grpc --extra kafka --output-file deploy/requirements.txt pyproject.toml
	@$(LOCK) --upgrade --only-build-deps --build-deps-for wheel \
		--output-file deploy/requirements-build.txt pyproject.toml

# The environment is made without its own pip where the machine's Python has no ensurepip
# (Debian without python3-venv); the machine's pip then installs into it from outside.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "make: $(PYTHON) is missing or older than Python 3.11; set PYTHON=/path/to/python3.11" >&2; \
		exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || $(PYTHON) -m pip --version >/dev/null 2>&1 || { \
		echo "make: $(PYTHON) has neither ensurepip nor pip; install python3-venv or python3-pip" >&2; \
		exit 1; }
	@$(PYTHON) -m venv $$($(PYTHON) -c 'import ensurepip' 2>/dev/null || echo --without-pip) $(VENV)

define install
	@echo "make: installing into $(VENV)" >&2
	@if $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		$(BIN)/python -m pip install --quiet --editable '$(1)'; \
	else \
		$(PYTHON) -m pip --python $(BIN)/python install --quiet --editable '$(1)'; \
	fi
	@touch $@
endef

$(RUN_STAMP): pyproject.toml | $(BIN)/python
	$(call install,.)

$(DEV_STAMP): pyproject.toml | $(BIN)/python
	$(call install,.[dev])
	@touch $(RUN_STAMP)
