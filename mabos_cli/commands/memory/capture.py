"""capture: note down what happened, cheaply; harvest makes memories of it."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import TRUSTS, TYPES, check_choice
from mabos_cli.core.memory.observation import Observation, clean, with_origin
from mabos_cli.errors import InvalidFile, UsageFault
from mabos_cli.formats.memory.observations import observation_from_dict, parse_record
from mabos_cli.services.inputs import given_bytes, importance_of, stamp_of, stdin_bytes
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.observations import append_observations
from mabos_cli.workspace.receipts import write_receipt

app = typer.Typer()
MOST_NAMED = 10  # faults that are told one by one


class Fault(NamedTuple):
    """A line that could not be taken, and why."""

    place: str
    reason: str


@app.command()
def capture(
    ctx: typer.Context,
    text: Annotated[
        str, typer.Argument(metavar="[TEXT]", help="What happened; - reads text or NDJSON from standard input.")
    ] = "",
    tool: Annotated[str, typer.Option(help="The tool that said it; then it is untrusted.")] = "",
    type: Annotated[str, typer.Option("--type", "-t", help="The type of the item that it becomes.")] = "",
    session: Annotated[str, typer.Option(help="The conversation it was said in.")] = "",
    author: Annotated[str, typer.Option(help="Who said it.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="A tag; repeat it, or separate with commas.")] = None,
    source: Annotated[str, typer.Option(help="Where it comes from (default tool:NAME, or capture).")] = "",
    importance: Annotated[
        float | None, typer.Option("--importance", "-i", help="0 to 1; graded by harvest when left out.")
    ] = None,
    trust: Annotated[
        str, typer.Option(help="trusted, agent or untrusted (default agent; what a tool said, untrusted).")
    ] = "",
    at: Annotated[str, typer.Option(metavar="TIME", help="When it happened, if not now.")] = "",
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Capture each line of an NDJSON file, or - for standard input; options hold where a line is silent.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Take nothing when one line of a batch is malformed.")
    ] = False,
) -> None:
    """Note down what happened, without secrets; harvest makes memories of it.

    Example: mabos capture "3 tests failed" --tool pytest --session s1
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    given = Observation(
        "",
        at=stamp_of(at, agent.now()),
        source=source or (f"tool:{tool}" if tool else ""),
        kind="tool" if tool else "",
        session=session,
        author=author,
        type=check_choice(type, TYPES, "type") if type else "",
        tags=tuple(tag or ()),
        trust=check_choice(trust, TRUSTS, "trust") if trust else "",
        importance=importance_of(importance, None),
    )
    if batch is not None:
        if text:
            raise UsageFault("--batch takes the text from the file", "leave the text out, or --batch")
        return _capture_lines(call, agent, given_bytes(batch), batch, given, strict)
    data = stdin_bytes() if text == "-" and not call.literal_dash else text.encode("utf-8")
    if text == "-" and not call.literal_dash and not tool and _is_record(data):
        return _capture_lines(call, agent, data, "-", given, strict)
    if not data.strip():
        raise BadValue("there is nothing to capture", "give the text, or - to read it from standard input")
    one = prepare(agent, given._replace(text=data.decode("utf-8", "replace")), given.trust)
    [kept] = capture_observations(agent, [one])
    _emit_one(call, agent, kept)


def prepare(agent: Agent, observation: Observation, most: str = "") -> Observation:
    """The observation as it may touch the disk: with its origin, without secrets, bounded. BadValue where it makes no sense."""
    from mabos_cli.core.language.secrets import KINDS, redact

    # What a record says was taken out of it may be anything; kinds are told, and nothing else.
    known = tuple(kind for kind in observation.redacted if kind in KINDS)
    whole = with_origin(observation._replace(redacted=known), format_time(agent.now()), most)
    return clean(whole, agent.settings["capture.max_bytes"], redact)


def capture_observations(agent: Agent, observations: Sequence[Observation]) -> list[Observation]:
    """Appends prepared observations, durably, and leaves a receipt. They come back with their ids."""
    kept = append_observations(agent, observations)
    if kept:
        write_receipt(agent, "capture", {"captured": len(kept)}, [one.id for one in kept])
    return kept


def _is_record(data: bytes) -> bool:
    """Whether standard input begins with a record, and not with text that happens to be there."""
    first = data.lstrip().split(b"\n", 1)[0]
    if not first.startswith(b"{"):
        return False
    try:
        observation_from_dict(parse_record(first))
    except BadValue:
        return False
    return True


def _capture_lines(call: Call, agent: Agent, data: bytes, path: str, given: Observation, strict: bool) -> None:
    shown = "standard input" if path == "-" else path
    taken: list[Observation] = []
    faults: list[Fault] = []
    most = given.trust or ("untrusted" if given.kind == "tool" else "")
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip(b"\0 \t\r"):
            continue
        try:
            record = observation_from_dict(parse_record(line))
            taken.append(prepare(agent, _with_defaults(record, given), most))
        except BadValue as error:
            faults.append(Fault(f"{shown}:{number}", error.message))
            if strict:
                raise InvalidFile(
                    f"{shown}:{number}: {error.message}", f"nothing was captured; {error.hint}".rstrip("; ")
                ) from None
    kept = capture_observations(agent, taken)
    told = {
        "captured": len(kept),
        "ids": [one.id for one in kept],
        "redacted": sum(bool(one.redacted) for one in kept),
        "truncated": sum(bool(one.truncated) for one in kept),
        "malformed": [fault._asdict() for fault in faults[:MOST_NAMED]],
        "malformed_total": len(faults),
    }
    notes = [f"{plural(told[name], 'text')} {name}" for name in ("redacted", "truncated") if told[name]]
    line = ", ".join([f"captured {plural(len(kept), 'observation')}", *notes])
    call.emit("capture.batch", told, [line], fault_lines(faults))


def _with_defaults(record: Observation, given: Observation) -> Observation:
    """What a line says, and what was given for all lines where it is silent. An id of its own it cannot have."""
    said = {name: value for name, value in record._asdict().items() if value not in ("", (), None)}
    if "source" in said:
        given = given._replace(kind="")  # which is that of the source
    return given._replace(trust="")._replace(**said)._replace(id="")


def fault_lines(faults: Sequence[Fault]) -> list[str]:
    """Warnings about lines that could not be taken: the first few by name, the others counted."""
    told = [f"{fault.place}: {fault.reason}" for fault in faults[:MOST_NAMED]]
    more = len(faults) - len(told)
    return [*told, f"and {plural(more, 'more malformed line')}"] if more else told


def _emit_one(call: Call, agent: Agent, kept: Observation) -> None:
    path = agent.paths.relative(agent.paths.observations / f"{format_time(agent.now())[:10]}.jsonl")
    data: dict[str, Any] = {
        "id": kept.id,
        "at": kept.at,
        "kind": kept.kind,
        "source": kept.source,
        "trust": kept.trust,
        "bytes": len(kept.text.encode("utf-8")),
        "truncated": kept.truncated,
        "redacted": list(kept.redacted),
        "path": path,
    }
    notes = [f"redacted {', '.join(kept.redacted)}"] if kept.redacted else []
    notes += [f"{kept.truncated:,} bytes left out"] if kept.truncated else []
    line = f"captured {kept.id} ({', '.join((kept.source, kept.trust, *notes))})"
    call.emit("capture", data, [line])
