"""The table of commands that this program promises, word by word: each is there with its options and its tools, and answers in
JSON as well when it works as when it does not."""

import json
import os
import shlex
import shutil
import subprocess

import pytest
from commands.desk import Desk, Said
from test_house import ALL, CALLABLE

from mabos_cli.serve.mcp_tools import TOOLS

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
hook install
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


# One call of each command at least, in an order in which each finds what it needs. Ids are what they are because time stands
# still. Behind an arrow stands the name of an answer that is not that of the command.
CALLS = """
init
agent create ops --role operator
agent list
agent show main
store "We bill per seat" --type decision --tag pricing --store long_term
store "Northwind pays in EUR" --type event --tag northwind
store "Northwind pays late" --priority high --tag northwind
recall seat --depth 1 --explain
get M-1771943400000-0000 --tree
read memory/2026-02-24.md:1-3
update M-1771943400000-0000 --priority high
forget M-1771943400000-0000 --reason tidy
revive M-1771943400000-0000
reinforce M-1771943400000-0000 --by 0.1
trust M-1771943400000-0000
trust M-1771943400000-0000 --set trusted --by ada --reason checked -> trust.set
trust --quarantine -> trust.quarantine
timeline M-1771943400000-0000
consolidate --dry-run
log consolidate
log archive
lifecycle run
capture "3 tests failed" --tool pytest
ingest transcript session.jsonl
harvest
migrate agents/main/memory/notes.md
grade --all --explain
hierarchy build
hierarchy show
hierarchy search seat --level daily
hierarchy drill seat
status
checkpoint -c "Porting billing" --next webhooks
checkpoint latest
checkpoint list
checkpoint restore
goal add "Keep Northwind" --deadline 2026-03-31
belief add Demand "Demand is growing" --certainty 0.9 --supports G-001
belief add Demand "Demand is declining" --certainty 0.8
belief revise B-001 --certainty 0.85
belief list
desire add "Sleep well"
desire list
goal update G-001 --progress 40
goal list
goal tree
intention add "Send the offer" --goal G-001
intention add "Call them" --goal G-001
intention progress I-001 "half of it" --percent 50
intention complete I-001
intention drop I-002 --reason "too late"
intention list
plan add Renewal --goal G-001 --step Call --step Sign
plan step PL-001 --done 1
plan list --steps
commitment add "Pay rent" --to landlord
commitment list
learning add "Measure twice"
learning list
bdi cycle
bdi status
bdi conflicts
bdi resolve cf42e0c8 --keep A --reason "two markets"
fact assert acme locatedIn US --confidence 0.9 --source map
fact assert acme owns boat
fact query acme '*' '*'
fact explain F-1771943400000-0000 --depth 2
fact current acme
fact timeline acme
fact lint
fact import facts.ndjson
fact export --format csv
fact retract --subject acme --predicate owns
rule create "if ?x locatedIn US then ?x isTaxable true"
rule list
rule show R-001
rule toggle R-001 --on
rule test R-001
infer forward --persist
infer backward acme isTaxable true
infer abductive bolt isTaxable true
explain acme isTaxable true
constraint check
policy eval
graph neighbors acme
graph path acme US
graph match "acme in the US"
graph export
graph impact
rule delete R-001
ontology scaffold saas
ontology list
ontology show Churn
ontology propose "Loyalty tier" --domain saas --definition "a step of loyalty" --rationale needed
ontology propose "Rebate" --domain saas --definition "money back" --rationale needed
ontology validate
ontology merge OP-001
ontology reject OP-002 --reason known
ontology export saas
case store --belief B-001 --context "Churn rose" --action Call --success
case list
case show C-001
case revise C-001 --failure
case retrieve --belief B-001
reason solve "Is it ours?" --method bayesian --input evidence.yaml --save -> reason
reason list
reason show bayesian
reason history
reason outcome last --happened yes
typedb status
typedb seed-goals --create-agents --dry-run
context index
context pack "what do we charge" --trace
context build --request "what do we charge" --history chat.json
context compress --history chat.json
context audit --recommend
context flush-check --total-tokens 189000 --window 200000
context flush-prompt
index sync
index status
index search seat
report -o report.html
materialize
git install --dry-run
git merge base.json base.json base.json agents/main/memory-store.json
review
hook install --host claude --dry-run
hook uninstall --host claude --dry-run
skill
doctor
schedule show
schedule install --user --dry-run
schedule uninstall --user --dry-run
schedule run sync
mcp --list
completion bash
config recall.limit
demo
"""
# What needs a server that is not there says so; nothing else may fail.
ABSENT = """
typedb sync-schema
typedb sync-agent
typedb query 'match $g isa goal;'
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A workspace with agent main, and files that commands read."""
    desk = Desk(tmp_path_factory.mktemp("promised") / "ws")
    message = {"role": "user", "content": "Hello there"}
    entry = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s",
        "timestamp": "2026-02-24T10:00:00Z",
        "message": message,
    }
    files = {
        "facts.ndjson": '{"subject": "acme", "predicate": "sells", "object": "boats"}\n',
        "agents/main/memory/notes.md": "# Notes\n\n## Prices\n\nWe never discount.\n",
        "session.jsonl": json.dumps(entry) + "\n",
        "chat.json": json.dumps([{"role": "user", "content": "What do we charge?"}]),
        "evidence.yaml": "hypotheses: {ours: 0.3, theirs: 0.7}\nevidence: [{name: log, likelihoods: {ours: 0.9, theirs: 0.2}}]\n",
        "base.json": '{"working": [], "short_term": [], "long_term": [], "version": 1}\n',
    }
    for name, text in files.items():
        (desk.root / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.root / name).write_text(text)
    if shutil.which("git"):
        subprocess.run(["git", "init", "-q", desk.root], check=True)
    return desk


def _lines(text: str) -> list[str]:
    return text.strip().split("\n")


def _name(line: str) -> str:
    """The longest command that a line begins with."""
    words = line.split()
    return next(name for n in (2, 1) if (name := " ".join(words[:n])) in CALLABLE)


def test_every_command_is_called() -> None:
    assert {_name(line) for line in _lines(CALLS) + _lines(ABSENT)} == {*CALLABLE}


def _error(said: Said, line: str) -> dict[str, str]:
    assert said.stdout == "" and said.stderr.count("\n") == 1, f"{line}: {said}"
    found = json.loads(said.stderr)
    assert list(found) == ["schema", "error"] and found["schema"] == "mabos.error.v1", line
    assert list(found["error"]) == ["code", "message", "hint"] and found["error"]["message"], line
    return found["error"]


def test_every_command_answers_in_one_object(
    desk: Desk, still_world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --json exactly one object, with the schema of the command's name and nothing beside it."""
    monkeypatch.chdir(desk.root)
    monkeypatch.setenv("HOME", os.fspath(desk.root.parent))
    wrong = []
    for line in _lines(CALLS):
        line, _, named = line.partition(" -> ")
        said = desk.run("--json", "-a", "main", *shlex.split(line))
        if said.code or said.stderr or said.stdout.count("\n") != 1:
            wrong.append(f"{line}: {said}"[:600])
            continue
        found = json.loads(said.stdout)
        schema = f"mabos.{named or _name(line).replace(' ', '.')}.v1"
        if list(found) != ["schema", "data", "warnings"] or found["schema"] != schema:
            wrong.append(f"{line}: {found['schema']}")
    assert not wrong, "\n".join(wrong)


def test_every_command_says_in_json_what_is_wrong(
    desk: Desk, still_world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(desk.root)
    for line in _lines(ABSENT):
        assert _error(desk.run("--json", "-a", "main", *shlex.split(line)), line)["code"] == "unavailable"
    for name in CALLABLE:
        assert _error(desk.run("--json", *name.split(), "--nonsense"), name)["code"] == "usage"
        required = [each for each in ALL[name].params if each.required]
        if required:
            assert _error(desk.run("--json", *name.split()), name)["code"] == "usage"
