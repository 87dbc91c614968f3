"""The table of commands that this program promises, word by word: each is there with its options and its tools, and answers in
JSON as well when it works as when it does not."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands.desk import Desk
from conftest import quick_folder
from every_command import CALLS, UNAVAILABLE, Bench, furnish
from forked import Outcome, tree
from test_house import ALL, CALLABLE

from mabos_cli.serve.mcp import TOOLS

# command -> options that it must have [tools that must call it].
PROMISED = """
store --type --importance --priority --tag --store --source --context --related-to --expires --observed-at --author --session --trust --batch --defer --if-new [memory_store_item memory_store memory_write]
recall --depth --type --category --store --limit --min-importance --priority-min --since --until --tag --token-budget --format --explain [memory_recall memory_search]
get --tree [memory_get]
read [memory_read]
update [memory_update]
forget
revive
reinforce [memory_reinforce]
timeline
consolidate --min-importance --min-access --no-summarize --dry-run [memory_consolidate]
status [memory_status]
checkpoint -c --decision --finding --next --question [memory_checkpoint]
checkpoint latest
checkpoint list
checkpoint restore
materialize
log consolidate
log archive
lifecycle run --dry-run
migrate
hierarchy build --scope --since --force [memory_build_hierarchy]
hierarchy search --level --limit [memory_hierarchy_search]
hierarchy drill
hierarchy show
context index
context pack --budget --trace
context build --request --history
context compress --history
context audit --recommend [memory_audit]
context flush-check --total-tokens --window --compaction-count
context flush-prompt
capture
harvest
ingest transcript
grade
bdi cycle --all --watch --dry-run --check
bdi status
bdi conflicts
bdi resolve --keep
belief add
belief revise
belief list
desire add
desire list
goal add
goal list
goal tree
intention add
intention progress
intention complete
intention list
plan add
plan step
plan list
fact assert --confidence --source --from --until
fact retract
fact query
fact explain --depth
fact current
fact timeline
fact lint
fact import
fact export
rule create
rule list
rule show
rule toggle
rule delete
rule test
constraint check
policy eval
infer forward --persist
infer backward --depth
infer abductive
explain [knowledge_explain]
case store
case retrieve
case list
case revise
graph neighbors
graph path
graph match
graph export
ontology propose
ontology validate
ontology merge
ontology reject
ontology list
ontology scaffold
ontology show
ontology export
reason solve --method --classify --methods
reason list
typedb status [typedb_status]
typedb sync-schema [typedb_sync_schema]
typedb query [typedb_query]
typedb sync-agent [typedb_sync_agent_data]
typedb seed-goals [goal_seed_business]
index sync --rebuild --watch
index status [memory_index_status]
index search
config
doctor --repair
schedule install
schedule show
mcp
connect
disconnect
skill
git install
review
report
trust
completion
demo
init
agent create --role
"""


def test_every_promised_command_is_there_with_its_options_and_tools() -> None:
    """Help, example, README row and transcript of each are asked for by the house test."""
    missing = []
    for row in PROMISED.strip().split("\n"):
        words, _, tools = row.rstrip("]").partition(" [")
        name = " ".join(word for word in words.split() if not word.startswith("-"))
        options = {word for word in words.split() if word.startswith("-")}
        if name not in CALLABLE:
            missing.append(name)
            continue
        known = {text for each in ALL[name].params for text in (*each.opts, *each.secondary_opts)}
        missing += [f"{name} {option}" for option in sorted(options - known)]
        missing += [tool for tool in tools.split() if _command_of(tool) != name]
    assert missing == []


def _command_of(tool: str) -> str:
    """The words that a tool calls, without options that it fixes."""
    return " ".join(word for word in TOOLS[tool].command if not word.startswith("-")) if tool in TOOLS else ""


# Where the schema has another name than the command, or a command has several.
NAMED = {
    "doctor security": "doctor.security",
    "trust": "trust.set",
    "trust log": "trust.log",
    "reason solve": "reason",
    "reason own": "reason",
}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with quick_folder() as folder:
        yield Bench(furnish(folder / "seed"), folder / "tried")


def _command(words: tuple[str, ...]) -> str:
    """The longest command that a call begins with."""
    return next(name for n in (2, 1) if (name := " ".join(words[:n])) in CALLABLE)


def _is_event(name: str) -> bool:
    """Hosts are answered in their own JSON."""
    return name.split()[0] == "hook"


# What writes for somebody else: git's own configuration, the file that git wants merged, settings of hosts.
NO_RECEIPT = ("git install", "git merge", "connect", "disconnect")


def _files(root: Path) -> dict[str, bytes]:
    """The files of a workspace, without what git keeps for itself."""
    return {name: data for name, data in tree(root).items() if not name.startswith(".git/")}


def _receipts(root: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in root.glob(".mabos/receipts/*.jsonl"))


def test_every_command_answers_in_one_object(bench: Bench) -> None:
    """With --json exactly one object, with the schema of the command's name and nothing beside it; a write leaves a receipt."""
    wrong = []
    for name, words in CALLS.items():
        if name in UNAVAILABLE or _is_event(name):
            continue
        place = bench.fresh()
        before, receipts = _files(place.root), _receipts(place.root)
        done = place.do(*words, "--json")
        if (_files(place.root) != before) > (_receipts(place.root) > receipts) and name not in NO_RECEIPT:
            wrong.append(f"{name}: no receipt")
        found = json.loads(done.stdout) if done.stdout.count("\n") == 1 and not done.stderr else {}
        schema = f"mabos.{NAMED.get(name) or _command(words).replace(' ', '.')}.v1"
        if done.code or list(found) != ["schema", "data", "warnings"] or found["schema"] != schema:
            wrong.append(f"{name}: {done}"[:600])
    assert not wrong, "\n".join(wrong)


def _code(done: Outcome, about: str) -> str:
    """The code of an error that is told in JSON as it should be."""
    assert done.stdout == "" and done.stderr.count("\n") == 1, f"{about}: {done}"
    found = json.loads(done.stderr)
    assert list(found) == ["schema", "error"] and found["schema"] == "mabos.error.v1", about
    assert list(found["error"]) == ["code", "message", "hint"] and found["error"]["message"], about
    return found["error"]["code"]


def test_every_command_says_in_json_what_is_wrong(bench: Bench) -> None:
    place = bench.fresh()
    for name in UNAVAILABLE:
        assert _code(place.do(*CALLS[name], "--json"), name) == "unavailable"
    for name in (name for name in CALLABLE if not _is_event(name)):
        assert _code(place.do(*name.split(), "--nonsense", "--json"), name) == "usage"
        if any(each.required for each in ALL[name].params):
            assert _code(place.do(*name.split(), "--json"), name) == "usage"
    assert not bench.changed()


def test_the_choices_that_help_shows_are_those_that_a_command_takes(bench: Bench) -> None:
    """Another word is refused, and the message names the same choices."""
    place, wrong = bench.fresh(), []
    for name in (name for name in CALLS if name in ALL and not _is_event(name)):
        for each in ALL[name].params:
            choices = re.findall(r"\w+", each.metavar or "") if "|" in (each.metavar or "") else ()
            if choices and each.param_type_name == "option":
                words = ("graph", "impact", "--behind") if name == "graph impact" else CALLS[name]
                done = place.do(*words, each.opts[0], "zzz")
                if done.code != 2 or any(word not in done.stderr for word in choices if word.islower()):
                    wrong.append(f"{name} {each.opts[0]} {each.metavar}: {done.code} {done.stderr}")
    assert not wrong, "\n".join(wrong)


# Where a person or a program says something, a dash stands for standard input.
DASHES = """
store -
recall -
capture -
update M-1771943400000-0000 -c -
timeline -
checkpoint -c -
hierarchy search -
hierarchy drill -
context pack -
context build --request -
belief add Supply -
desire add -
goal add -
intention add -
intention progress I-001 -
plan add -
plan step PL-001 -
commitment add -
learning add -
learning add "Ask first" -
rule create -
explain -
reason - --method bayesian
index search -
"""


def test_a_dash_reads_standard_input(quick: Path, still_world: None) -> None:
    desk = Desk(quick / "ws")
    for line in (
        "store 'We bill per seat' --store long_term",
        "intention add 'Send the offer'",
        "plan add Renewal",
    ):
        assert desk.run(*shlex.split(line)).code == 0
    for number, line in enumerate(DASHES.strip().split("\n")):
        given = f"quagga{number:02}"
        said = desk.run("--json", *shlex.split(line), stdin=f"{given} eats grass\n".encode())
        files = (path.read_text("utf-8") for path in desk.folder().rglob("*") if path.is_file())
        assert said.code == 0 and (given in said.stdout or any(given in text for text in files)), f"{line}: {said}"
    assert desk.run("goal", "add", "--", "-").code == 0
    assert "G-002 - (Goals.md" in desk.run("goal", "list").stdout
