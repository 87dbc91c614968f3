"""reasoning.jsonl of an agent: results that were kept, and what became of them. Append-only, under git."""

from collections.abc import Callable

from mabos_cli.core.knowledge.case import KeptResult
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import parse_id
from mabos_cli.errors import NotFound
from mabos_cli.formats.knowledge.reason_record import parse_past, render_outcome
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.runtime import IdSource
from mabos_cli.workspace.transaction import Fresh, Write, transact


def load_past(agent: Agent) -> tuple[list[tuple[KeptResult, str]], list[str]]:
    """Returns the results that were kept, oldest first, each with its summary, and a warning about lines that cannot be read."""
    path = agent.paths.reasoning
    found, odd = parse_past(read_bytes(path) or b"")
    cited = agent.paths.cited(path)
    lines = "1 line cannot be read, and is" if odd == 1 else f"{odd} lines cannot be read, and are"
    return found, [f"{cited}: {lines} passed over"] if odd else []


def keep_result(agent: Agent, render: Callable[[str, str], bytes]) -> tuple[str, list[str]]:
    """Adds a result, which is rendered with its id and time: the id, and warnings."""

    def planned(fresh: Fresh) -> tuple[Write, str]:
        ids = [past.id for past, _ in load_past(agent)[0] if parse_id(past.id)]
        new_id = IdSource(agent.moment, max(ids, key=lambda i: parse_id(i) or (0, 0), default=""), letter="T")()
        lines = [(agent.paths.reasoning, render(new_id, format_time(agent.now())))]
        return Write(lines=lines, part="reasoning", ids=[new_id], counts={"results": 1}), new_id

    return transact(agent, "reason --save", planned)


def note_outcome(agent: Agent, result_id: str, happened: bool, note: str) -> tuple[KeptResult, list[str]]:
    """Adds what became of a result: the result with it, and warnings."""

    def planned(fresh: Fresh) -> tuple[Write, KeptResult]:
        known = {past.id: past for past, _ in load_past(agent)[0]}
        if result_id not in known:
            raise NotFound(f"no kept result {result_id}", "see mabos reason history")
        lines = [(agent.paths.reasoning, render_outcome(result_id, happened, note, format_time(agent.now())))]
        write = Write(lines=lines, part="reasoning", ids=[result_id], counts={"outcomes": 1})
        return write, known[result_id]._replace(happened=happened, lesson=note)

    return transact(agent, "reason outcome", planned)
