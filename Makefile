# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: compiled demo test check typeql matrix hosts bench clean

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "mabos needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed; on Debian: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

# What tests and checks need besides; a first look at the program does not wait for it.
$(VENV)/.ready-dev: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

# What pip does for a wheel, and an editable install leaves out where bytecode is not written by itself.
compiled: $(VENV)/.ready
	@$(BIN)/python -m compileall -q mabos_cli

demo: compiled
	@$(BIN)/mabos demo

# The official TypeQL parser needs Python 3.12: its tests run where there is one, and skip with the reason where there is none.
typeql:
	@test -e .venv-typeql/.ready && exit 0; \
	for p in python3.14 python3.13 python3.12 "$$HOME"/.pyenv/versions/3.1[2-9]*/bin/python; do \
	  command -v "$$p" >/dev/null 2>&1 && "$$p" -c 'import ensurepip' 2>/dev/null || continue; \
	  "$$p" -m venv .venv-typeql && .venv-typeql/bin/python -m pip install --quiet --disable-pip-version-check 'type-bridge-core>=2.3,<3' \
	    && touch .venv-typeql/.ready && exit 0; \
	done; echo "no Python 3.12 with type-bridge-core: tests against the official TypeQL parser are skipped"

# Tests run from memory where there is some, and write bytecode: collecting them is a fifth of the work otherwise.
PYTEST := TMP=$$(test -w /dev/shm && echo /dev/shm || echo $${TMPDIR:-/tmp}); \
  PYTHONDONTWRITEBYTECODE= PYTEST_DEBUG_TEMPROOT=$$TMP $(BIN)/python -m pytest

# Plain assertions are collected three times as fast; what fails runs once more with the values that it compared.
test: compiled $(VENV)/.ready-dev typeql
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(PYTEST) -n auto --dist loadfile --no-loadscope-reorder --assert=plain || { $(PYTEST) --last-failed --last-failed-no-failures none; exit 1; }

# Before a commit: ruff, mypy and the tests of what changed (against BASE, else what is not committed, else the last commit).
check: compiled $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(PYTEST) -n auto --dist loadfile --no-loadscope-reorder --assert=plain $$($(BIN)/python tests/changed.py $(BASE))

# What an installation has on every Python that is here: wheel, sources, each extra with and without, the lowest versions. Needs an index.
matrix: compiled $(VENV)/.ready-dev
	$(BIN)/python tests/matrix.py $(PYTHONS)

# Two sessions with real agent hosts, which npm installs into a cache, and a scripted model: what the second was told of the first. HOSTS="codex" narrows it down.
hosts: compiled $(VENV)/.ready-dev
	cd tests && ../$(BIN)/python -m hosts $(HOSTS)

bench: compiled
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/speed.py

clean:
	rm -rf $(VENV) .venv-typeql build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
