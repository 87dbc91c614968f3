"""Facts in the archive: what left, and why."""

from collections.abc import Sequence

from mabos_cli.core.knowledge.asserting import FactDeparture
from mabos_cli.formats.knowledge.facts import parse_fact_departures, render_fact_departure
from mabos_cli.workspace.archive import append_records, archive_files
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.layout import AgentPaths


def append_fact_departures(paths: AgentPaths, departures: Sequence[FactDeparture]) -> None:
    """Adds records of facts to the file of the month in which they left."""
    append_records(paths, ((departure.at, render_fact_departure(departure)) for departure in departures))


def find_fact_departures(paths: AgentPaths, wanted: bytes) -> list[FactDeparture]:
    """The facts that left and whose lines hold a text, oldest first: only those lines are decoded."""
    found: list[FactDeparture] = []
    for name in archive_files(paths):
        data = read_bytes(paths.archive / name) or b""
        if wanted in data:
            lines = b"\n".join(line for line in data.split(b"\n") if wanted in line)
            found += parse_fact_departures(lines, f"archive/{name}")
    return found
