"""Audits what the files of an agent cost in tokens, and finds what could be saved."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mabos_cli.core.context import audit as auditing
from mabos_cli.core.context.texts import Count
from mabos_cli.core.language.text import split_sentences
from mabos_cli.core.memory.item import check_choice
from mabos_cli.formats.context.prompt_md import split_sections
from mabos_cli.formats.markdown.escape import without_seal
from mabos_cli.formats.memory.memory_md import find_statements
from mabos_cli.formats.search.passages import without_legacy_lines
from mabos_cli.services.context.pack import open_counter
from mabos_cli.services.context.window import load_prompt_files, load_skills
from mabos_cli.services.memory.migrate import load_migrated, open_note_files, read_notes
from mabos_cli.services.memory.upkeep import run_lifecycle
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import list_names, read_bytes
from mabos_cli.workspace.layout import DAY as DAY_NAME
from mabos_cli.workspace.memory.derived_pages import stale_domains

# What commands read when they need it; the persona is among the files of the prompt.
_COGNITIVE = (
    *("Beliefs.md", "Desires.md", "Goals.md", "Intentions.md", "Plans.md", "Commitments.md", "Learnings.md"),
    *("Memory.md", "Knowledge.md", "Playbooks.md"),
)


class Audit(NamedTuple):
    """The sources in a scope, duplicates, stale items, daily logs (files and tokens), and what is always loaded."""

    sources: list[auditing.Source]
    duplicates: list[auditing.Duplicate]
    stale: list[auditing.Stale]
    logs: tuple[int, int]
    always_loaded: int
    advice: list[auditing.Advice]
    counted_by: str


def audit(agent: Agent, scope: str, skills: str = "", *, recommend: bool = False) -> Audit:
    """Counts what memory costs by source, and finds what occurs twice or is never used. Changes nothing."""
    wanted = auditing.SCOPES[check_choice(scope, list(auditing.SCOPES), "scope")]
    counter = open_counter(agent)
    sources = _load_sources(agent, counter.count) + _load_skill_sources(skills, counter.count)
    inside = [source for source in sources if source.category in wanted]
    pairs = [
        pair
        for pair in auditing.find_duplicates(sources)
        if {pair.kept.source.category, pair.extra.source.category} & {*wanted}
    ]
    leaving = run_lifecycle(agent, dry_run=True, is_confirmed=True)[0].leaving if "domains" in wanted else ()
    stale = auditing.find_stale([away.departure.item for away in leaving if away.cause == "unused"], counter.count)
    logs = [name for name in list_names(agent.paths.memory) if re.fullmatch(rf"{DAY_NAME}\.md", name)]
    tokens = sum(counter.count(_text(read_bytes(agent.paths.memory / name) or b"")) for name in logs)
    always = sum(source.tokens for source in sources if source.category in auditing.ALWAYS)
    advice = _recommend(agent, wanted, inside, pairs, stale, counter.count) if recommend else []
    return Audit(inside, pairs, stale, (len(logs), tokens), always, advice, counter.name)


def _load_sources(agent: Agent, count: Count) -> list[auditing.Source]:
    """Returns the sources of an agent in the order in which it reads them, those that are loaded when needed last."""
    prompt = load_prompt_files(agent)
    index = agent.paths.relative(agent.paths.index_md)
    found = [(name, text, "index" if name == index else "system_prompt") for name, text in prompt.items()]
    others = [(agent.paths.memory_md, "memory_md")]
    others += [(path, "domains") for path in sorted(agent.paths.domains.rglob("*.md"))]
    others += [(agent.paths.root / name, "cognitive") for name in _COGNITIVE]
    for path, category in others:
        data = read_bytes(path)
        if data:
            found.append((agent.paths.relative(path), _text(data), category))
    # The lines of items in Memory.md repeat them by design.
    return [
        auditing.Source(name, category, count(text), tuple(find_statements(without_legacy_lines(text))))
        for name, text, category in found
        if text.strip()
    ]


def _load_skill_sources(path: str, count: Count) -> list[auditing.Source]:
    """Loads the text of each skill that a host shows at all times: its name and description. The body, which is shown when a skill is
    loaded, is compared as well."""
    return [
        auditing.Source(
            f"skill {name}",
            "skills",
            count(f"- {name}: {description}"),
            tuple((0, text) for text in dict.fromkeys((description, *split_sentences(description), *_sentences(body)))),
        )
        for name, description, body in (load_skills(path) if path else ())
    ]


def _sentences(text: str) -> Iterator[str]:
    return (sentence for _, sentence in find_statements(text))


def _recommend(
    agent: Agent,
    wanted: Sequence[str],
    inside: Sequence[auditing.Source],
    pairs: Sequence[auditing.Duplicate],
    stale: Sequence[auditing.Stale],
    count: Count,
) -> list[auditing.Advice]:
    s = agent.settings
    known = _migrated_lines(agent) if "memory_md" in wanted else {}
    text = _text(read_bytes(agent.paths.memory_md) or b"").split("\n") if "memory_md" in wanted else []
    migrated = len({*known.values()}), count("\n".join(line for n, line in enumerate(text, 1) if n in known))
    left = split_sections("MEMORY.md", "\n".join(line for n, line in enumerate(text, 1) if n not in known))
    advice = auditing.advise_on_sections(
        [(each.name, count(each.text)) for each in left], migrated, s["audit.section_tokens"]
    )
    if any(each.action == "remove_migrated" for each in advice):
        pairs = [pair for pair in pairs if pair.extra.source.category != "memory_md" or pair.extra.line not in known]
    advice += auditing.advise_on_duplicates(pairs, count)
    advice += auditing.advise_on_stale(stale)
    advice += auditing.advise_on_files(inside, s["audit.file_tokens"])
    if "domains" in wanted or "index" in wanted:
        advice += auditing.advise_on_index(bool(stale_domains(agent)), not agent.paths.index_md.exists())
    return auditing.rank_advice(advice)


def _migrated_lines(agent: Agent) -> dict[int, str]:
    """Returns the lines of MEMORY.md whose entries became items, each with the key of its entry."""
    if not agent.paths.memory_md.exists():
        return {}
    ledger, [file] = load_migrated(agent.paths), open_note_files(agent, [agent.paths.memory_md.name])
    entries = (named for named in read_notes(agent, file).entries if named.key in ledger)
    return {line: named.key for named in entries for line in range(named.note.first, named.note.last + 1)}


def _text(data: bytes) -> str:
    return without_seal(data.decode("utf-8-sig", "replace"))
