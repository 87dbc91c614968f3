"""context audit: what memory costs in tokens, and what could be saved."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core import BadValue
from mabos_cli.core.context.audit import (
    ALWAYS,
    SCOPES,
    Advice,
    Duplicate,
    Source,
    Stale,
    advise_on_duplicates,
    advise_on_files,
    advise_on_index,
    advise_on_sections,
    advise_on_stale,
    find_duplicates,
    find_stale,
    rank_advice,
)
from mabos_cli.core.language.clock import DAY, earlier, format_time
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.errors import CheckFailed
from mabos_cli.services.context.pack import Counter, open_counter
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.agent import Agent

_SHOWN = 10


def audit(
    ctx: typer.Context,
    scope: Annotated[str, typer.Option(help="all, memory_md, domains or system_prompt.")] = "all",
    recommend: Annotated[bool, typer.Option("--recommend", help="Say what could be done, and what it saves.")] = False,
    skills: Annotated[
        str, typer.Option(metavar="FILE", help="A skill in Markdown, or a folder of them, that the host loads.")
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Exit 7 when what is always loaded is above --max-tokens.")
    ] = False,
    max_tokens: Annotated[int | None, typer.Option(help="For --check: tokens that may always be loaded.")] = None,
) -> None:
    """Count what memory costs by source, and find what stands there twice or is never used. Changes nothing.

    Example: mabos context audit --recommend
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    wanted = SCOPES[check_choice(scope, list(SCOPES), "scope")]
    if check != (max_tokens is not None):
        raise BadValue("--check and --max-tokens go together", "like --check --max-tokens 4000")
    if (max_tokens or 0) < 0:
        raise BadValue("--max-tokens cannot be negative", "like --check --max-tokens 4000")
    # Other commands of the group do without what reads and splits all these files.
    from mabos_cli.services.context.audited import load_audited

    counter = open_counter(agent)
    sources = load_audited(agent, counter.count) + _skill_sources(skills, counter)
    inside = [source for source in sources if source.category in wanted]
    pairs = [
        pair for pair in find_duplicates(sources) if {pair.kept.source.category, pair.extra.source.category} & {*wanted}
    ]
    stale = _find_stale(agent, counter) if "domains" in wanted else []
    analysis = _analysis(agent, inside, pairs, stale, counter)
    data: dict[str, Any] = {"scope": scope, "analysis": analysis, "counted_by": counter.name}
    data["always_loaded_tokens"] = always = sum(each.tokens for each in sources if each.category in ALWAYS)
    advice = _recommend(agent, wanted, inside, pairs, stale, counter) if recommend else []
    if recommend:
        data["recommendations"] = [_advice_row(each) for each in advice]
    call.emit("context.audit", data, _lines(data, advice, recommend))
    if check and always > (max_tokens or 0):
        fault = f"{always:,} tokens are always loaded, {always - (max_tokens or 0):,} more than {max_tokens:,}"
        raise CheckFailed(fault, "mabos context audit --recommend says what to do")


def _skill_sources(path: str, counter: Counter) -> list[Source]:
    """What a host tells an agent of each skill at all times: its name and what it is for."""
    if not path:
        return []
    from mabos_cli.services.context.skill_files import load_skills

    found = []
    for skill in load_skills(path):
        line = f"- {skill.name}: {skill.description}"
        found.append(Source(f"skill {skill.name}", "skills", counter.count(line), ((0, skill.description),)))
    return found


def _find_stale(agent: Agent, counter: Counter) -> list[Stale]:
    before = earlier(agent.now(), agent.settings["audit.stale_after"])
    return find_stale(agent.memory().long_term, format_time(before), counter.count)


def _recommend(
    agent: Agent,
    wanted: Sequence[str],
    inside: Sequence[Source],
    pairs: Sequence[Duplicate],
    stale: Sequence[Stale],
    counter: Counter,
) -> list[Advice]:
    from mabos_cli.services.context.audited import memory_md_sections
    from mabos_cli.workspace.memory.derived_pages import stale_domains

    s = agent.settings
    advice = advise_on_duplicates(pairs, counter.count)
    advice += advise_on_stale(stale, int(s["audit.stale_after"] // DAY))
    advice += advise_on_files(inside, s["audit.file_tokens"])
    if "memory_md" in wanted:
        advice += advise_on_sections(memory_md_sections(agent, counter.count), s["audit.section_tokens"])
    if "domains" in wanted or "index" in wanted:
        advice += advise_on_index(bool(stale_domains(agent)), not agent.paths.index_md.exists())
    return rank_advice(advice)


def _analysis(
    agent: Agent, inside: Sequence[Source], pairs: Sequence[Duplicate], stale: Sequence[Stale], counter: Counter
) -> dict[str, Any]:
    from mabos_cli.services.context.audited import count_logs

    total = sum(source.tokens for source in inside)
    files, tokens = count_logs(agent, counter.count)
    return {
        "total_tokens": total,
        "breakdown": [
            {
                "source": each.name,
                "tokens": each.tokens,
                "percentage": round(100 * each.tokens / total, 1) if total else 0.0,
                "category": each.category,
                "loaded": "always" if each.category in ALWAYS else "on demand",
            }
            for each in inside
        ],
        "duplicates": [
            {
                "content_a": pair.kept.text,
                "content_b": pair.extra.text,
                "similarity": pair.similarity,
                "sources": [pair.kept.ref, pair.extra.ref],
            }
            for pair in pairs
        ],
        "stale": [each._asdict() for each in stale],
        "daily_logs": {"files": files, "tokens": tokens},
    }


def _advice_row(each: Advice) -> dict[str, Any]:
    return {
        "action": each.action,
        "description": each.description,
        "estimated_savings_tokens": each.savings,
        "risk": each.risk,
    }


def _lines(data: dict[str, Any], advice: Sequence[Advice], recommend: bool) -> Iterator[str]:
    found = data["analysis"]
    yield from columns(
        [
            (row["source"], f"{row['tokens']:,}", f"{row['percentage']:.1f} %", f"{row['category']}, {row['loaded']}")
            for row in found["breakdown"]
        ]
    )
    logs = found["daily_logs"]
    yield f"total {found['total_tokens']:,} tokens, {data['always_loaded_tokens']:,} always loaded ({data['counted_by']})"
    if logs["files"]:
        yield f"apart from that, {plural(logs['files'], 'daily log')}: {logs['tokens']:,} tokens"
    for row in found["duplicates"][:_SHOWN]:
        a, b = row["sources"]
        yield f"{row['similarity']:.2f} alike: {a} and {b}: {one_line(row['content_b'], 80)}"
    if len(found["duplicates"]) > _SHOWN:
        yield f"and {len(found['duplicates']) - _SHOWN} more duplicates"
    for row in found["stale"]:
        yield f"unused for long in {row['domain']}: {plural(row['items'], 'item')}, {row['tokens']:,} tokens"
    for each in advice[:_SHOWN]:
        yield f"saves {each.savings:,} ({each.risk} risk): {each.description}"
    if len(advice) > _SHOWN:
        yield f"and {len(advice) - _SHOWN} more recommendations"
    if recommend and not advice:
        yield "nothing to recommend"
