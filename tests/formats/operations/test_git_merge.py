"""Which files git merges how, and .gitattributes with what people wrote there."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.formats.operations.git_merge import add_rules, kind_of, names_driver, remove_rules

KINDS = {
    "agents/cfo/memory-store.json": "store",
    "agents/cfo/memory-store/2026-02-2.json": "page",
    "agents/cfo/facts.json": "facts",
    "agents/cfo/facts-derived.json": "facts",
    "agents/cfo/rules.json": "rules",
    "agents/cfo/cases.json": "cases",
    "agents/cfo/memory/2026-02-24.md": "log",
    "agents/cfo/memory/archive/2026/2026-01-02.md": "log",
    "agents/cfo/memory/INDEX.md": "derived",
    "agents/cfo/memory/domains/lessons/2026-02.md": "derived",
    "agents/cfo/memory/mabos-facts.md": "derived",
    "agents/cfo/memory/mabos-memory-items/2026-02.md": "derived",
    "agents/cfo/memory/weekly/2026-W08.md": "derived",
    "agents/cfo/memory/bdi-conflicts/2026-02-24.md": "derived",
    "agents/cfo/memory/bdi-conflicts/resolved.jsonl": "union",
    "agents/cfo/archive/2026-02.jsonl": "union",
    "agents/cfo/trust.jsonl": "union",
    "agents/cfo/observations/harvested/2026-02-24.jsonl": "union",
    "agents/cfo/MEMORY.md": "mind",
    "agents/cfo/Memory.md": "mind",
    "agents/cfo/Beliefs.md": "mind",
    "agents/cfo/Playbooks.md": "mind",
    "agents/cfo/agent.json": "",
    "agents/cfo/memory/checkpoints/2026-02-24-1430.md": "checkpoint",
    "ontologies/ecommerce.jsonld": "",
    "ontologies/proposals/ecommerce-proposals.json": "proposals",
    "agents/cfo/AGENTS.md": "",
    "agents/cfo/memory/archive/edited/mabos-facts-1.md": "",
    "mabos.yaml": "",
}


@pytest.mark.parametrize("path", KINDS)
def test_kinds(path: str):
    assert kind_of(path) == kind_of(f"team/{path}") == KINDS[path]


def test_git_reads_the_patterns_as_we_do(tmp_path: Path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitattributes").write_text(add_rules(""))
    told = subprocess.run(
        ["git", "-C", tmp_path, "check-attr", "merge", *KINDS], check=True, capture_output=True, text=True
    ).stdout
    ways = {"": "unspecified", "union": "union"}
    assert dict(line.split(": merge: ") for line in told.splitlines()) == {
        path: ways.get(kind, "mabos") for path, kind in KINDS.items()
    }


@given(st.text("ab# \n*=", max_size=30))
def test_what_people_wrote_stays(text: str):
    installed = add_rules(text)
    assert names_driver(installed) and add_rules(installed) == installed
    assert remove_rules(installed) == text + ("\n" if text and not text.endswith("\n") else "")


def test_lines_of_an_earlier_version_are_replaced():
    old = add_rules("*.png binary\n").replace("agents/*/cases.json merge=mabos\n", "") + "*.pdf binary\n"
    assert add_rules(old) == "*.png binary\n*.pdf binary\n" + add_rules("")


def test_a_comment_names_no_driver():
    assert not names_driver("# agents/x merge=mabos\n*.md merge=union\n")
