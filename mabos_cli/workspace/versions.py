"""Files of an agent that a newer version of mabos wrote."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from mabos_cli.formats.json.text import BEGINNING, newer_format
from mabos_cli.workspace.files import list_names
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.plain_files import read_regular


def find_newer(paths: AgentPaths) -> Iterator[tuple[Path, str]]:
    """Yields the files of an agent that are of a newer format, with what is said about them: those that there is one of."""
    single = (paths.manifest, paths.store, paths.facts, paths.derived_facts, paths.rules, paths.cases)
    ledgers = (paths.reasoning, paths.trust_log, paths.transcript_ledger, paths.log_ledger)
    yield from _newer_among((*single, *ledgers, paths.migration_ledger, paths.conflict_ledger))


def find_newer_in_folders(paths: AgentPaths) -> Iterator[tuple[Path, str]]:
    """Yields those that there is one of for each month or day, and ontologies with their proposals."""
    workspace = paths.workspace
    folders = (paths.store_pages, paths.archive, paths.observations, paths.harvest_ledgers)
    for folder in (*folders, workspace.ontologies, workspace.proposals_folder):
        yield from _newer_among(folder / name for name in list_names(folder) if ".json" in name)


def _newer_among(found: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    for path in found:
        try:
            told = newer_format(read_regular(os.fspath(path), BEGINNING))
        except OSError:
            continue
        if told:
            yield path, told
