"""Audits what the files of an agent cost in tokens, and finds what could be saved."""

import re
from _blake2 import blake2b
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mabos_cli.backends.tokenizers import Counter
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
from mabos_cli.workspace.memory.derived_pages import sound_pages, stale_domains
from mabos_cli.workspace.seen import Seen

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
    seen = Seen(agent)
    sources = _load_sources(agent, counter, _load_skill_sources(skills, counter.count), seen)
    inside = [source for source in sources if source.category in wanted]
    pairs = [
        pair
        for pair in auditing.find_duplicates(sources)
        if {pair.kept.source.category, pair.extra.source.category} & {*wanted}
    ]
    leaving = run_lifecycle(agent, dry_run=True, is_confirmed=True)[0].leaving if "domains" in wanted else ()
    stale = auditing.find_stale([away.departure.item for away in leaving if away.cause == "unused"], counter.count)
    logs = [name for name in list_names(agent.paths.memory) if re.fullmatch(rf"{DAY_NAME}\.md", name)]
    tokens = sum(_measure(agent.paths.memory / name, counter, seen) for name in logs)
    seen.save()
    always = sum(source.tokens for source in sources if source.category in auditing.ALWAYS)
    advice = _recommend(agent, wanted, inside, pairs, stale, counter.count) if recommend else []
    return Audit(inside, pairs, stale, (len(logs), tokens), always, advice, counter.name)


def _load_sources(
    agent: Agent, counter: Counter, skills: Sequence[auditing.Source], seen: Seen
) -> list[auditing.Source]:
    """Returns the sources of an agent in the order in which it reads them, those that are loaded when needed last, but for skills."""
    paths, index = agent.paths, agent.paths.relative(agent.paths.index_md)
    prompt = [
        _source(name, "index" if name == index else "system_prompt", text, counter)
        for name, text in load_prompt_files(agent).items()
    ]
    memory_md, *cognitive = (
        _source(paths.relative(path), category, _text(read_bytes(path) or b""), counter)
        for path, category in [
            (paths.memory_md, "memory_md"),
            *((paths.root / name, "cognitive") for name in _COGNITIVE),
        ]
    )
    first, later = [*prompt, memory_md], [*cognitive, *skills]
    written = auditing.Written([*first, *later])
    texts = "\n".join(place.text for place in written.places if place.source.category not in auditing.DERIVED)
    digest = blake2b(texts.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    domains = (
        _load_domain(agent, path, counter, seen, written, digest) for path in sorted(paths.domains.rglob("*.md"))
    )
    return [source for source in (*first, *domains, *later) if source.tokens]


def _source(name: str, category: str, text: str, counter: Counter) -> auditing.Source:
    # The lines of items in Memory.md repeat them by design.
    statements = tuple(find_statements(without_legacy_lines(text)))
    return auditing.Source(name, category, counter.count(text) if text.strip() else 0, statements)


def _load_domain(
    agent: Agent, path: Path, counter: Counter, seen: Seen, written: auditing.Written, digest: str
) -> auditing.Source:
    """Returns a domain file with those of its statements that something written repeats; they are kept while both are as they were."""
    name = agent.paths.relative(path)

    def look() -> tuple[int, list[tuple[int, str]]]:
        source = _source(name, "domains", _text(read_bytes(path) or b""), counter)
        return source.tokens, [(line, text) for line, text in source.statements if any(written.find(text))]

    tokens, repeated = seen.look("repeated", name, [path], look, f"{digest} {counter.name}")
    return auditing.Source(name, "domains", tokens, tuple((line, text) for line, text in repeated))


def _measure(path: Path, counter: Counter, seen: Seen) -> int:
    """Returns the tokens of a daily log, which are counted once while it is as it was."""
    return int(
        seen.look("tokens", path.name, [path], lambda: counter.count(_text(read_bytes(path) or b"")), counter.name)
    )


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
        advice += auditing.advise_on_index(
            bool(stale_domains(agent, sound_pages(agent, Seen(agent)))), not agent.paths.index_md.exists()
        )
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
