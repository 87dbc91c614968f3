# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: compiled demo test lint bench clean

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "mabos needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed; on Debian: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

# What pip does for a wheel, and an editable install leaves out where bytecode is not written by itself.
compiled: $(VENV)/.ready
	@$(BIN)/python -m compileall -q mabos_cli

demo: compiled
	@PATH="$(abspath $(BIN)):$$PATH" sh fixtures/tour.sh

test: compiled
	$(BIN)/ruff check .
	TMP=$$(test -w /dev/shm && echo /dev/shm || echo $${TMPDIR:-/tmp}); PYTEST_DEBUG_TEMPROOT=$$TMP $(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/.ready
	$(BIN)/ruff check .

bench: compiled
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/growth.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
