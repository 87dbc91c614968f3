# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench clean

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "mabos needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed; on Debian: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(VENV)/.ready
	@PATH="$(abspath $(BIN)):$$PATH" sh fixtures/tour.sh

test: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/python -m pytest

lint: $(VENV)/.ready
	$(BIN)/ruff check .

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/growth.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
