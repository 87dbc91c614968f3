"""Remembering: drafts are stored, queued for the next write, or merged with what a language model finds to be the same."""

from _blake2 import blake2b
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.stores import Changes, Draft, Memory
from mabos_cli.core.memory.storing import Stored
from mabos_cli.core.memory.trust import Claim, trust_rank
from mabos_cli.core.records import NamedTuple
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.changing import plan_change, plan_drafts
from mabos_cli.workspace.memory.trust_log import voucher_lines
from mabos_cli.workspace.transaction import Fresh, transact, write_receipt

if TYPE_CHECKING:
    from mabos_cli.services.inputs import BatchLines


class Remembered(NamedTuple):
    """Holds the outcomes for drafts, warnings, and what the model did if it was asked."""

    results: list[Stored]
    warnings: list[str]
    llm: dict[str, Any] | None = None
    resumed: int = 0  # lines of a batch that an earlier call had stored


_CHUNK = 5_000  # lines of a batch that are stored in one transaction


def remember_batch(
    agent: Agent, file: BinaryIO, lines: "BatchLines", *, if_new: bool, llm: bool
) -> Iterator[Remembered]:
    """Stores the lines of a file and yields what became of them, piece by piece: a file too long for one transaction is checked
    first, and how far it is stored is kept beside the memories, so that a call after a crash goes on there."""
    total = sum(1 for _ in file)
    file.seek(0)
    if total <= _CHUNK:
        yield remember(agent, list(lines.read(agent.each("reading", file.readlines()))), if_new=if_new, llm=llm)
        return
    known, done, seen = agent.load().head.extra.get("batches"), 0, blake2b(digest_size=16)
    known = {name: at for name, at in known.items() if isinstance(at, int)} if isinstance(known, dict) else {}
    marks: dict[int, str] = {}  # what the file begins with, by the number of lines
    for number, line in enumerate(_check_lines(file, lines), 1):
        seen.update(line)
        if number % _CHUNK == 0:
            marks[number] = seen.hexdigest()
            done = number if known.get(marks[number]) == number else done
    file.seek(0)
    for _ in islice(file, done):
        pass
    show, resumed = agent.progress("storing") if agent.progress else None, done
    agent = agent._replace(progress=None)
    while piece := [*islice(file, _CHUNK)]:
        drafts = list(lines.read(piece, done, stored=done))
        before, done = marks.get(done), done + len(piece)
        left = {name: at for name, at in known.items() if name != before}
        known = left | ({marks[done]: done} if done < total else {})
        yield remember(agent, drafts, if_new=if_new, llm=llm, batches=known)._replace(resumed=resumed)
        if show:
            show(done, total)


def _check_lines(file: Iterable[bytes], lines: "BatchLines") -> Iterator[bytes]:
    """Yields lines that become drafts; one with a secret is reported when it is its turn."""
    unguarded = lines._replace(secrets="allow")
    for number, line in enumerate(file):
        for _ in unguarded.read([line], number):
            pass
        yield line


def remember(
    agent: Agent,
    drafts: list[Draft],
    *,
    if_new: bool = False,
    llm: bool = False,
    batches: Mapping[str, int] | None = None,
) -> Remembered:
    """Stores drafts under one lock; with `llm`, a language model may merge near duplicates in long-term memory. `batches` are kept
    with them."""
    if llm:
        from mabos_cli.services.memory.llm_words import Merger

        merger = Merger(agent)
        plan = plan_drafts(agent, drafts, if_new=if_new, agreed=merger.agree(drafts))
    else:
        merger, plan = None, plan_drafts(agent, drafts, if_new=if_new)
    ledger = (lambda results: _vouchers(agent, drafts, results)) if any(d.vouched_by for d in drafts) else None

    def noted(memory: Memory, fresh: Fresh) -> tuple[Changes, list[Stored]]:
        changes, results = plan(memory, fresh)
        return changes._replace(batches=batches), results

    results, warnings = transact(agent, "store", partial(plan_change, plan=noted, ledger=ledger))
    warnings += [*redacted_note(drafts), *_lowered(drafts, results)]
    if merger is None:
        return Remembered(results, warnings)
    return Remembered(results, warnings + merger.warnings(), merger.summary(results))


def _vouchers(agent: Agent, drafts: Sequence[Draft], results: Sequence[Stored]) -> list[tuple[Path, bytes]]:
    """Returns the lines of the trust log about drafts that became items trusted by a person's word."""
    pairs = zip(drafts, results, strict=True)
    made = [(draft.vouched_by, result.item) for draft, result in pairs if result.stored and not result.deduplicated]
    entries = [(by, (Claim(item.id, item.trust, item.source), item.content)) for by, item in made]
    return [line for by, entry in entries for line in voucher_lines(agent, by, [entry])]


def queue_drafts(agent: Agent, drafts: list[Draft]) -> Remembered:
    """Queues drafts for the next write, with a receipt."""
    queued = agent.defer(drafts)
    write_receipt(agent, "store --defer", {"queued": len(queued)}, [d.item.id for d in queued], part="memory")
    return Remembered([Stored(draft.item, draft.store) for draft in queued], redacted_note(drafts))


def store_drafts(agent: Agent, drafts: list[Draft]) -> tuple[list[Stored], list[str]]:
    """Stores drafts under one lock; returns the outcome for each, and warnings."""
    return agent.change("store", plan_drafts(agent, drafts))


def check_related(agent: Agent, ids: Sequence[str]) -> None:
    """NotFound for an item that was never stored here: a typing error. Ids of facts and other things are taken as they are."""
    item_ids = [item_id for item_id in ids if item_id[:1] == "M" or item_id[1:2] != "-"]
    if item_ids:
        from mabos_cli.services.memory.items import find_item

        memory = agent.memory()
        for item_id in item_ids:
            find_item(agent, memory, item_id)


def redacted_note(drafts: Sequence[Draft]) -> list[str]:
    """Returns a warning that names what was replaced in drafts."""
    kinds = sorted({kind for draft in drafts for kind in draft.redacted})
    return [f"secrets replaced: {', '.join(kinds)}"] if kinds else []


def _lowered(drafts: list[Draft], results: list[Stored]) -> list[str]:
    """Returns a warning when items are trusted less than was asked for."""
    pairs = zip(drafts, results, strict=True)
    fell = [r.item for d, r in pairs if not r.deduplicated and trust_rank(r.item.trust) < trust_rank(d.item.trust)]
    if not fell:
        return []
    which = fell[0].id if len(fell) == 1 else plural(len(fell), "item")
    trusts = " or ".join(sorted({item.trust for item in fell}))
    return [f"{which} stored as {trusts}: nothing is trusted more than what it derives from"]
