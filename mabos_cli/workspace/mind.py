"""The cognitive files of an agent, edited under its lock and never over what a person saved meanwhile; and the conflicts among
its beliefs: the last comparison, the reports, and the ledger of resolved ones."""

import re
from _blake2 import blake2b
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from mabos_cli import __version__
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.mind.claims.disagreement import Disagreement
from mabos_cli.core.mind.conflicts import Conflict, Memo, Show, find_conflicts
from mabos_cli.core.mind.mind import Attitude, Belief, Problem
from mabos_cli.core.mind.pairs import Marks
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import MabosError
from mabos_cli.formats.json.text import dump_line, parse_json
from mabos_cli.formats.mind import mind_md
from mabos_cli.formats.mind.attitudes import KINDS, find_unread, parse_attitudes, parse_beliefs
from mabos_cli.formats.mind.cognitive import find_vouchers
from mabos_cli.formats.mind.shortened import shorten
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import DerivedFiles
from mabos_cli.workspace.files import (
    append_bytes,
    list_names,
    plan_edit,
    read_bytes,
    read_saved,
    replace_file,
    stamp_of,
)
from mabos_cli.workspace.layout import DAY
from mabos_cli.workspace.memory.trust_log import voucher_lines
from mabos_cli.workspace.transaction import Fresh, Write, transact

PLAYBOOKS = "Playbooks.md"
_CYCLE_SETTINGS = (
    "bdi.certainty_floor",
    "bdi.chunk",
    "bdi.open_minded",
    "bdi.cautious",
    "bdi.capacity",
    "bdi.autonomy",
)
_MATERIALIZED = ("belief", "desire", "goal")


def read_mind(agent: Agent, kind: str) -> str:
    """Returns the text of the file of a kind; empty when there is none. Bytes that are not UTF-8 pass through."""
    return (read_saved(agent.paths.root / KINDS[kind].file) or b"").decode("utf-8", "surrogateescape")


def load_beliefs(agent: Agent) -> tuple[list[Belief], list[Problem]]:
    """Returns what an agent holds true, and what in its file makes no sense."""
    return parse_belief_text(read_mind(agent, "belief"))


def parse_belief_text(text: str) -> tuple[list[Belief], list[Problem]]:
    """Returns the beliefs in the text of Beliefs.md, and what in it makes no sense."""
    name = KINDS["belief"].file
    beliefs, problems = _parse_once(_clean(text), name)
    return [*beliefs], [*_odd_bytes(text, name), *problems]


@lru_cache(maxsize=2)  # a cycle loads the same beliefs again for mabos-beliefs.md
def _parse_once(text: str, name: str) -> tuple[list[Belief], list[Problem]]:
    return parse_beliefs(text, name)


@lru_cache(maxsize=5)  # and goals, desires, ... for what it does one after the other
def _parse_attitudes_once(text: str, kind: str, name: str) -> tuple[list[Attitude], list[Problem]]:
    return parse_attitudes(text, kind, name)


def load_attitudes(agent: Agent, kind: str) -> tuple[list[Attitude], list[Problem]]:
    """Returns the desires, goals, ... of an agent, and what in their file makes no sense."""
    text, name = read_mind(agent, kind), KINDS[kind].file
    clean = _clean(text)
    found, problems = _parse_attitudes_once(clean, kind, name)
    return [*found], [*_odd_bytes(text, name), *problems]


def list_unread(agent: Agent, kind: str) -> list[Problem]:
    """Returns the lines of the file of a kind that no entry was made of."""
    return find_unread(_clean(read_mind(agent, kind)), kind, KINDS[kind].file)


def load_playbooks(agent: Agent) -> list[Attitude]:
    """Returns the plans in Playbooks.md, which are for any goal that they fit."""
    data = read_saved(agent.paths.root / PLAYBOOKS) or b""
    return parse_attitudes(data.decode("utf-8", "replace"), "plan", PLAYBOOKS)[0]


def _clean(text: str) -> str:
    """Returns a text as values that can be shown: bytes that are not UTF-8 are drawn. The file itself keeps them."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _odd_bytes(text: str, name: str) -> list[Problem]:
    """Returns that a file is not UTF-8, with the first line that is not; such bytes are kept as they are."""
    odd = re.search("[\udc80-\udcff]", text)
    return [Problem(name, text.count("\n", 0, odd.start()) + 1, "not valid UTF-8")] if odd else []


def edit_mind(
    agent: Agent,
    command: str,
    kind: str,
    edit: Callable[[str], str],
    ids: Callable[[], list[str]],
    is_adding: bool = False,
) -> tuple[bool, list[str]]:
    """Rewrites the file of a kind by a function of its text, under the agent's lock: whether it changed, and warnings. The
    ids are those of the entries that it is about, known when the edit was made. Who vouches for an entry is logged. Where one
    belief is added to a long file, only that is read."""
    name = KINDS[kind].file

    def planned(fresh: Fresh) -> tuple[Write | None, bool]:
        texts: list[str] = []

        def edited(old: str) -> str:
            texts[:] = [old, edit(old)]
            return texts[1]

        file = plan_edit(agent.paths.root / name, edited)
        if file is None:
            return None, False
        is_current = is_adding and _is_page_current(agent)
        follow = (lambda: _refresh_page(agent, texts[0], texts[1], is_current)) if kind in _MATERIALIZED else None
        vouched = find_vouchers(*texts)
        lines = [line for by, claim, text in vouched for line in voucher_lines(agent, by, [(claim, text)])]
        return Write([file], lines=lines, follow=follow, part="mind", ids=ids(), counts={name: 1}), True

    return transact(agent, command, planned)


def _is_page_current(agent: Agent) -> bool:
    """Returns whether mabos-beliefs.md is younger than all that it is made from."""
    with suppress(OSError):
        written = agent.paths.beliefs_md.stat().st_mtime_ns
        sources = (agent.paths.root / KINDS[kind].file for kind in _MATERIALIZED)
        return all(path.stat().st_mtime_ns < written for path in sources if path.exists())
    return False


def _refresh_page(agent: Agent, old: str, new: str, is_current: bool) -> list[str]:
    """Brings mabos-beliefs.md up to date behind an edit: where it was current and the file is long, only the belief that was added is
    read and written there."""
    before, after = (shorten(old), shorten(new)) if is_current else (None, None)
    page = read_bytes(agent.paths.beliefs_md) if before and after else None
    if not before or not after or not page:
        return refresh_mind(agent)[1]
    beliefs = parse_belief_text(after.text)[0]
    known = {belief._replace(line=0) for belief in parse_belief_text(before.text)[0]}
    at = next((n for n, belief in enumerate(beliefs) if n and belief._replace(line=0) not in known), 0)
    text = mind_md.insert_belief(page.decode("utf-8", "replace"), beliefs[at - 1], beliefs[at]) if at else None
    if text is None:
        return refresh_mind(agent)[1]
    files = DerivedFiles(agent)
    files.write(agent.paths.beliefs_md, text)
    return files.warnings


def refresh_mind(agent: Agent) -> tuple[list[str], list[str]]:
    """Does what materialize_mind does, behind an edit that is done: trouble with what is derived is only a warning."""
    try:
        return materialize_mind(agent)
    except MabosError as error:
        return [], [f"derived files are behind: {error.message}"]


def materialize_mind(agent: Agent) -> tuple[list[str], list[str]]:
    """Writes mabos-beliefs.md if it is not as it should be: its name then, and warnings. Under the agent's lock."""
    beliefs = load_beliefs(agent)[0]
    desires, goals = (load_attitudes(agent, kind)[0] for kind in ("desire", "goal"))
    if not (beliefs or desires or goals or agent.paths.beliefs_md.exists()):
        return [], []
    files = DerivedFiles(agent)
    files.write(agent.paths.beliefs_md, mind_md.render_mind(agent.id, beliefs, desires, goals))
    return files.changed, files.warnings


def stamp_mind(agent: Agent, owners: Sequence[str]) -> str:
    """Returns a stamp of everything that a cycle reads or writes: files of the agent, settings, the goals of the agents that it
    delegated goals to. The files are not read."""
    paths = agent.paths
    latest = latest_report_path(agent)
    files = [paths.root / name for name in (*(kind.file for kind in KINDS.values()), PLAYBOOKS)]
    files += [paths.manifest, paths.facts, paths.derived_facts, paths.cases, paths.beliefs_md, paths.conflict_ledger]
    files += [
        *([latest] if latest else []),
        *(paths.workspace.agent(name).root / KINDS["goal"].file for name in owners),
    ]
    chosen = {name: agent.settings[name] for name in _CYCLE_SETTINGS}
    state = f"{__version__} {chosen} {[stamp_of(path) for path in files]} {latest}"
    return blake2b(state.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def read_settled(agent: Agent) -> dict[str, Any]:
    """Returns what the last cycle left for the next one; nothing where that cannot be read."""
    with suppress(MabosError, ValueError):
        found = parse_json(read_bytes(agent.paths.settled) or b"{}", "the last cycle")
        return found if isinstance(found, dict) else {}
    return {}


def keep_settled(agent: Agent, found: dict[str, Any]) -> None:
    """Keeps what a cycle came to for the next one. Best effort."""
    data, path = dump_line(found).encode("utf-8", "replace") + b"\n", agent.paths.settled
    with suppress(MabosError):
        replace_file(path, data, root=agent.paths.workspace.root, expect=read_bytes(path))


class Comparison(NamedTuple):
    """The conflicts among beliefs, what they were compared by, whether that was news, and warnings about what was too much."""

    conflicts: list[Conflict]
    beliefs: Sequence[Belief]
    of: str
    is_new: bool
    warnings: list[str]
    memo: Memo = Memo({}, {})


def compare_beliefs(
    agent: Agent,
    beliefs: Sequence[Belief],
    floor: float | None = None,
    show: Show | None = None,
    known: Comparison | None = None,
) -> Comparison:
    """Returns the conflicts among an agent's beliefs. Those that the last cycle compared, or that are known, word for
    word, are not compared again, and else only pairs of beliefs that are new."""
    s = agent.settings
    floor = s["bdi.certainty_floor"] if floor is None else floor
    compared = f"{__version__} {floor} {[*beliefs]!r}"
    of = blake2b(compared.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    if known is not None and known.of == of:
        return known
    cached = _known_comparison(agent, of, beliefs)
    if cached is not None:
        return cached
    warnings: list[str] = []
    cut = lambda subject, pairs: warnings.append(_not_compared(subject, pairs))  # noqa: E731
    memo = _read_memo(agent)
    found = find_conflicts(beliefs, floor, max(1, s["bdi.chunk"]), show, cut, memo=memo)
    return Comparison(found, beliefs, of, True, warnings, memo)


def _not_compared(subject: str, pairs: int) -> str:
    return f"too many beliefs about {one_line(subject, 40)!r}: {plural(pairs, 'pair')} not compared"


def _read_compared(agent: Agent) -> dict[str, Any]:
    """Returns what the last comparison left; nothing where that cannot be read, or another version left it."""
    with suppress(MabosError, ValueError):
        found = parse_json(read_bytes(agent.paths.compared) or b"{}", "the comparison of beliefs")
        if isinstance(found, dict) and found.get("version") == __version__:
            return found
    return {}


def _read_memo(agent: Agent) -> Memo:
    """Returns what the last comparison came to, pair by pair."""
    with suppress(ValueError, TypeError, LookupError, AttributeError):
        found = _read_compared(agent).get("memo", {})
        if found:
            marks = {name: Marks(subject, frozenset(words.split()), n) for name, subject, words, n in found["marks"]}
            clashes = {pair: Disagreement(*why) for pair, why in found["clashes"].items()}
            return Memo(marks, {**dict.fromkeys(found["pairs"]), **clashes})
    return Memo({}, {})


def _known_comparison(agent: Agent, of: str, beliefs: Sequence[Belief]) -> Comparison | None:
    with suppress(TypeError, LookupError):
        found = _read_compared(agent)
        if found.get("of") == of:
            conflicts = [Conflict(beliefs[a], beliefs[b], *rest) for a, b, *rest in found["conflicts"]]
            return Comparison(conflicts, beliefs, of, False, [*map(str, found.get("warnings", ()))])
    return None


def keep_comparison(agent: Agent, compared: Comparison) -> None:
    """Keeps what a comparison came to for the next one. Under the agent's lock; best effort."""
    place = {id(belief): n for n, belief in enumerate(compared.beliefs)}
    rows = [[place[id(c.a)], place[id(c.b)], *c[2:]] for c in compared.conflicts]
    known = compared.memo
    memo = {
        "marks": [
            [name, each.subject, " ".join(sorted(each.words)), each.claims] for name, each in known.marks.items()
        ],
        "pairs": [pair for pair, why in known.verdicts.items() if why is None],
        "clashes": {pair: why for pair, why in known.verdicts.items() if why},
    }
    held = {"version": __version__, "of": compared.of, "conflicts": rows, "warnings": compared.warnings, "memo": memo}
    data = dump_line(held).encode("utf-8", "replace") + b"\n"
    path = agent.paths.compared
    with suppress(MabosError):
        replace_file(path, data, root=agent.paths.workspace.root, expect=read_bytes(path))


def read_resolved(agent: Agent) -> dict[str, mind_md.Resolution]:
    """Returns the conflicts that somebody resolved, by key."""
    return mind_md.parse_resolutions(read_bytes(agent.paths.conflict_ledger) or b"")


def note_resolved(agent: Agent, resolution: mind_md.Resolution) -> None:
    """Remembers how a conflict was resolved, for good. Under the agent's lock."""
    line = mind_md.render_resolution(resolution)
    append_bytes(agent.paths.conflict_ledger, line, root=agent.paths.workspace.root)


def latest_report(agent: Agent) -> tuple[Path, list[str]] | None:
    """Returns the latest conflict report, and the keys that it lists."""
    path = latest_report_path(agent)
    return (path, mind_md.parse_report_keys((read_bytes(path) or b"").decode("utf-8", "replace"))) if path else None


def latest_report_path(agent: Agent) -> Path | None:
    """Returns where the latest conflict report lies."""
    folder = agent.paths.conflict_reports
    names = [name for name in list_names(folder) if re.fullmatch(rf"{DAY}\.md", name)]
    return folder / names[-1] if names else None


def due_report(agent: Agent, day: str, conflicts: Sequence[Conflict]) -> Path | None:
    """Returns the report to be written: none when the latest one tells of the same conflicts, and is not today's."""
    path, latest = agent.paths.conflict_reports / f"{day}.md", latest_report(agent)
    if latest is None:
        return path if conflicts else None
    return path if latest[0] == path or set(latest[1]) != {c.key for c in conflicts} else None


def write_report(agent: Agent, day: str, conflicts: Sequence[Conflict]) -> tuple[str, list[str]]:
    """Writes the report of a day if there is news: its path, or nothing, and warnings. Under the agent's lock."""
    path = due_report(agent, day, conflicts)
    if path is None:
        return "", []
    text = mind_md.render_report(day, conflicts).encode("utf-8", "replace").decode("utf-8")
    files = DerivedFiles(agent)
    files.write(path, text)
    return "".join(files.changed), files.warnings
