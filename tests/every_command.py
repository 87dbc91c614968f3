"""A workspace with something of every kind in it, and a call of every command that works there.

Words may name what furnish() made: `{seat}` is the id of an item, `{side}` a folder beside the workspace, `{ws}` itself.
"""

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from forked import Fault, Outcome, run

NOW = "2026-02-24T14:30:00Z"
FIXTURES = Path(__file__).parents[1] / "fixtures"
# The index by words alone is made in a third of the time, and damage to files is the same to both.
QUICK = {"MABOS_INDEX_VECTORS": "lexical"}

LONG = ("--store", "long_term")
# When, under which name its id is known, and the words.
_STEPS = (
    ("2026-01-05T09:00:00Z", "", ("store", "Decision: the pump stays", *LONG, "-i", "0.8")),
    ("2026-01-05T09:10:00Z", "old", ("store", "Ada saw the pump hum", *LONG, "-i", "0.3")),
    ("2026-02-10T09:00:00Z", "", ("store", "Decision: we bill per seat", "-i", "0.9", "--tag", "pricing")),
    (NOW, "seat", ("store", "Seats cost nine euros", *LONG, "--type", "decision", "--tag", "pricing")),
    (NOW, "ada", ("store", "Ada owns billing", *LONG, "--type", "person", "--tag", "billing,ada")),
    (NOW, "gone", ("store", "The fax number is 12", *LONG)),
    (NOW, "", ("forget", "{gone}", "--reason", "tidy")),
    (NOW, "", ("store", "Invoices leave on Monday", "-i", "0.7", "--tag", "billing")),
    (NOW, "", ("store", "Invoices leave on Tuesday", "-i", "0.7", "--tag", "billing")),
    (NOW, "short", ("store", "The bank called twice", "--store", "working")),
    (NOW, "", ("trust", "{ada}", "--set", "trusted", "--by", "ada", "--reason", "seen")),
    (NOW, "acme", ("fact", "assert", "acme", "locatedIn", "US", "--confidence", "0.9", "--source", "map")),
    (NOW, "", ("fact", "assert", "acme", "hasDebt", "90000")),
    (NOW, "", ("fact", "assert", "bolt", "locatedIn", "US")),
    (NOW, "", ("fact", "retract", "--subject", "bolt")),
    (NOW, "", ("rule", "create", "if ?x locatedIn US then ?x isTaxable true")),
    (NOW, "", ("rule", "create", "--type", "constraint", "--condition", "?x hasDebt > 50000", "--message", "?x owes")),
    (NOW, "", ("infer", "forward", "--persist")),
    (NOW, "", ("fact", "assert", "nut", "locatedIn", "US")),
    (NOW, "", ("goal", "add", "Renew the largest customer", "--deadline", "2026-03-31")),
    (NOW, "", ("belief", "add", "Demand", "growing", "--certainty", "0.9", "--supports", "G-001")),
    (NOW, "", ("belief", "add", "Demand", "declining", "--certainty", "0.9")),
    (NOW, "", ("desire", "add", "Sleep well", "--priority", "high", "--motivates", "G-001")),
    (NOW, "", ("intention", "add", "Send the offer", "--goal", "G-001", "--deadline", "2026-02-20")),
    (NOW, "", ("intention", "add", "Call them", "--goal", "G-001")),
    (NOW, "", ("plan", "add", "Renewal", "--goal", "G-001", "--step", "Call", "--step", "Sign")),
    (NOW, "", ("commitment", "add", "Pay the rent", "--to", "the bank", "--due", "2026-03-01")),
    (NOW, "", ("learning", "add", "Measure twice", "--source", "the pump")),
    (NOW, "", ("case", "store", "--belief", "B-001", "--desire", "D-001", "--action", "Call", "--success")),
    (NOW, "", ("checkpoint", "-c", "Porting billing", "--next", "webhooks")),
    (NOW, "", ("ontology", "scaffold", "saas")),
    (NOW, "", ("ontology", "propose", "Loyalty tier", "--domain", "shop", "--definition", "a rank")),
    (NOW, "", ("ontology", "propose", "Rebate", "--domain", "shop", "--definition", "money back")),
    (NOW, "", ("ontology", "merge", "OP-002")),
    (NOW, "thought", ("reason", "Was it us?", "--method", "bayesian", "--input", "{side}/bayes.json", "--save")),
    (NOW, "seen", ("capture", "3 tests failed", "--tool", "pytest", "--session", "s1")),
    (NOW, "", ("harvest",)),
    (NOW, "", ("capture", "Deploy went well", "--session", "s1")),
    (NOW, "", ("ingest", "transcript", "{side}/claude.jsonl")),
    (NOW, "", ("log", "consolidate", "--older-than", "30d")),
    (NOW, "", ("migrate", "memory/notes.md", "--min-tokens", "1")),
    (NOW, "", ("hierarchy", "build")),
    (NOW, "", ("bdi", "cycle")),
    (NOW, "", ("materialize",)),
    (NOW, "", ("context", "index")),
    (NOW, "", ("store", "Queued for the next", "--defer")),
    (NOW, "", ("context", "pack", "pump")),
    (NOW, "", ("store", "The other agent knows this", *LONG, "-a", "other")),
    (NOW, "", ("context", "pack", "knows", "-a", "other")),
)  # fmt: skip
_BESIDE = {
    "bayes.json": {
        "hypotheses": {"ours": 0.3, "theirs": 0.7},
        "evidence": [{"name": "log", "likelihoods": {"ours": 0.9, "theirs": 0.2}}],
    },
    "chat.json": [
        {"role": "user", "content": "What do we charge?"},
        {"role": "assistant", "content": "We bill per seat."},
    ],
    "facts.ndjson": {"subject": "bolt", "predicate": "costs", "object": "5"},
    "shapes.json": {
        "@context": {"@vocab": "http://www.w3.org/ns/shacl#"},
        "targetClass": {"@id": "http://ex.org/Pump"},
        "property": {"path": {"@id": "http://ex.org/costs"}, "minCount": 1},
    },
}


_HOOKED = (
    '{"session_id": "s2", "cwd": "{ws}", "prompt": "what does the pump do", "transcript_path": "{side}/claude.jsonl"}'
)
# Every command by name: words, and standard input. All of them end 0 on the workspace that furnish() makes, but for
# those of UNAVAILABLE. What only exists to run for ever or to change this machine is called as far as it can be.
CALLS: dict[str, tuple[str, ...]] = {
    "init": ("init", "{ws}"),
    "demo": ("demo", "{side}/demo"),
    "agent create": ("agent", "create", "third", "--role", "finance lead"),
    "agent list": ("agent", "list"),
    "agent show": ("agent", "show", "main"),
    "store": ("store", "We moved to the harbour", "--type", "decision", "--tag", "place"),
    "store long": ("store", "Seats cost ten euros now", *LONG),
    "store deferred": ("store", "For later", "--defer"),
    "recall": ("recall", "pump billing", "--depth", "1"),
    "recall shared": ("recall", "--shared", "--archived", "--limit", "0"),
    "get": ("get", "{seat}", "--tree"),
    "get archived": ("get", "{gone}"),
    "get fact": ("get", "{acme}"),
    "get observation": ("get", "{seen}"),
    "read": ("read", "memory/2026-02-24.md:1-3"),
    "update": ("update", "{seat}", "--content", "Seats cost eleven euros"),
    "forget": ("forget", "{ada}", "--reason", "left"),
    "revive": ("revive", "{gone}"),
    "reinforce": ("reinforce", "{seat}", "--by", "0.1"),
    "trust": ("trust", "{seat}", "--set", "trusted", "--by", "ada", "--reason", "checked"),
    "trust log": ("trust", "--log"),
    "timeline": ("timeline", "{seat}"),
    "consolidate": ("consolidate",),
    "log consolidate": ("log", "consolidate"),
    "log archive": ("log", "archive"),
    "lifecycle run": ("lifecycle", "run", "--yes"),
    "capture": ("capture", "4 tests failed", "--tool", "pytest", "--session", "s1"),
    "ingest transcript": ("ingest", "transcript", "{side}/claude.jsonl", "--harvest"),
    "harvest": ("harvest",),
    "migrate": ("migrate", "--min-tokens", "1"),
    "grade": ("grade", "{old}", "--explain"),
    "hierarchy build": ("hierarchy", "build", "--force"),
    "hierarchy show": ("hierarchy", "show"),
    "hierarchy search": ("hierarchy", "search", "pump"),
    "hierarchy drill": ("hierarchy", "drill", "why does the pump stay"),
    "status": ("status",),
    "checkpoint": ("checkpoint", "-c", "Porting billing again", "--decision", "Keep Stripe"),
    "checkpoint latest": ("checkpoint", "latest"),
    "checkpoint list": ("checkpoint", "list"),
    "checkpoint restore": ("checkpoint", "restore"),
    "belief add": ("belief", "add", "Supply", "enough", "--certainty", "0.8"),
    "belief revise": ("belief", "revise", "B-001", "--certainty", "0.4", "--reason", "two left"),
    "belief list": ("belief", "list"),
    "desire add": ("desire", "add", "Never lose a batch", "--motivates", "G-001"),
    "desire update": ("desire", "update", "D-001", "--priority", "low"),
    "desire list": ("desire", "list"),
    "goal add": ("goal", "add", "Halve the churn"),
    "goal update": ("goal", "update", "G-001", "--progress", "40"),
    "goal close": ("goal", "close", "G-001", "--reason", "signed"),
    "goal delegate": ("goal", "delegate", "G-001", "--to", "other"),
    "goal list": ("goal", "list"),
    "goal tree": ("goal", "tree"),
    "intention add": ("intention", "add", "Ask the bank", "--goal", "G-001"),
    "intention progress": ("intention", "progress", "I-002", "half of it", "--percent", "50"),
    "intention complete": ("intention", "complete", "I-002", "--outcome", "agreed"),
    "intention drop": ("intention", "drop", "I-002", "--reason", "too far"),
    "intention list": ("intention", "list"),
    "plan add": ("plan", "add", "Hire", "--goal", "G-001", "--step", "Post"),
    "plan step": ("plan", "step", "PL-001", "--done", "1"),
    "plan list": ("plan", "list", "--steps"),
    "commitment add": ("commitment", "add", "Send the accounts", "--to", "the bank"),
    "commitment update": ("commitment", "update", "C-001", "--due", "2026-04-01"),
    "commitment complete": ("commitment", "complete", "C-001"),
    "commitment break": ("commitment", "break", "C-001", "--reason", "no money"),
    "commitment list": ("commitment", "list"),
    "learning add": ("learning", "add", "Ask the night shift"),
    "learning adopt": ("learning", "adopt", "Measure twice"),
    "learning list": ("learning", "list"),
    "mind": ("mind",),
    "bdi cycle": ("bdi", "cycle", "--compacted"),
    "bdi cycle all": ("bdi", "cycle", "--all"),
    "bdi deliberate": ("bdi", "deliberate", "--adopt", "G-001"),
    "bdi status": ("bdi", "status"),
    "bdi conflicts": ("bdi", "conflicts"),
    "bdi resolve": ("bdi", "resolve", "1d332a57", "--keep", "b", "--reason", "newer"),
    "fact assert": ("fact", "assert", "acme", "hasRevenue", "$50,000"),
    "fact retract": ("fact", "retract", "{acme}", "--cascade"),
    "fact query": ("fact", "query", "acme"),
    "fact explain": ("fact", "explain", "{acme}"),
    "fact current": ("fact", "current", "acme"),
    "fact timeline": ("fact", "timeline", "bolt"),
    "fact extract": ("fact", "extract", "Dana reports to Ada", "--apply", "all"),
    "fact lint": ("fact", "lint"),
    "fact import": ("fact", "import", "{side}/facts.ndjson"),
    "fact export": ("fact", "export"),
    "rule create": ("rule", "create", "if ?x isTaxable true then ?x needs audit"),
    "rule list": ("rule", "list"),
    "rule show": ("rule", "show", "R-001"),
    "rule toggle": ("rule", "toggle", "R-001", "--off"),
    "rule delete": ("rule", "delete", "R-001"),
    "rule test": ("rule", "test", "R-001"),
    "infer forward": ("infer", "forward", "--persist"),
    "infer backward": ("infer", "backward", "acme", "isTaxable", "true"),
    "infer abductive": ("infer", "abductive", "bolt", "isTaxable", "true"),
    "constraint check": ("constraint", "check"),
    "constraint import": ("constraint", "import", "{side}/shapes.json"),
    "policy eval": ("policy", "eval", "--set", "acme:hasDebt=1"),
    "explain": ("explain", "why is acme taxable"),
    "graph neighbors": ("graph", "neighbors", "acme"),
    "graph path": ("graph", "path", "acme", "US"),
    "graph preflight": ("graph", "preflight", "acme"),
    "graph match": ("graph", "match", "acme in the US"),
    "graph export": ("graph", "export"),
    "graph impact": ("graph", "impact"),
    "ontology list": ("ontology", "list", "--proposals"),
    "ontology show": ("ontology", "show", "Churn"),
    "ontology propose": ("ontology", "propose", "Voucher", "--domain", "shop", "--definition", "a promise"),
    "ontology validate": ("ontology", "validate"),
    "ontology merge": ("ontology", "merge", "OP-001"),
    "ontology reject": ("ontology", "reject", "OP-001", "--reason", "known"),
    "ontology scaffold": ("ontology", "scaffold", "agency"),
    "ontology export": ("ontology", "export"),
    "case store": ("case", "store", "--from-mind", "--action", "Wait", "--failure"),
    "case list": ("case", "list"),
    "case show": ("case", "show", "C-001"),
    "case revise": ("case", "revise", "C-001", "--failure", "--lessons", "Discounts do not hold"),
    "case retrieve": ("case", "retrieve"),
    "reason solve": ("reason", "solve", "Ours?", "--method", "bayesian", "--input", "{side}/bayes.json", "--save"),
    "reason own": ("reason", "solve", "What follows?", "--method", "deductive"),
    "reason list": ("reason", "list"),
    "reason show": ("reason", "show", "bayesian"),
    "reason outcome": ("reason", "outcome", "{thought}", "--happened", "yes"),
    "reason history": ("reason", "history"),
    "typedb status": ("typedb", "status"),
    "typedb sync-schema": ("typedb", "sync-schema", "--dry-run"),
    "typedb sync-agent": ("typedb", "sync-agent"),
    "typedb query": ("typedb", "query", "match $g isa goal;"),
    "typedb seed-goals": ("typedb", "seed-goals", "--create-agents"),
    "context index": ("context", "index"),
    "context observations": ("context", "observations"),
    "context pack": ("context", "pack", "what do we charge", "--history", "{side}/chat.json"),
    "context build": ("context", "build", "--request", "Draft the renewal", "--history", "{side}/chat.json"),
    "context compress": ("context", "compress", "--history", "{side}/chat.json", "--budget", "200"),
    "context audit": ("context", "audit", "--recommend"),
    "context flush-check": (
        *("context", "flush-check", "--total-tokens", "189000"),
        *("--window", "200000", "--compaction-count", "2"),
    ),
    "context flush-prompt": ("context", "flush-prompt"),
    "index sync": ("index", "sync"),
    "index rebuild": ("index", "sync", "--rebuild"),
    "index status": ("index", "status"),
    "index search": ("index", "search", "pump"),
    "report": ("report", "-o", "{side}/report.html"),
    "materialize": ("materialize",),
    "git install": ("git", "install"),
    "git merge": (
        *("git", "merge", "{side}/base.json", "{side}/ours.json", "{side}/theirs.json"),
        "agents/main/memory-store.json",
    ),
    "review": ("review", "HEAD", "--all"),
    "connect": ("connect", "claude", "--project", "{side}"),
    "disconnect": ("disconnect", "claude", "--project", "{side}"),
    "hook": ("hook", "session-start"),
    "hook SessionStart": ("hook", "SessionStart"),
    "hook UserPromptSubmit": ("hook", "UserPromptSubmit"),
    "hook PreCompact": ("hook", "PreCompact"),
    "hook Stop": ("hook", "Stop"),
    "hook SessionEnd": ("hook", "SessionEnd"),
    "skill": ("skill", "-o", "{side}/SKILL.md"),
    "doctor": ("doctor",),
    "doctor repair": ("doctor", "--repair"),
    "doctor security": ("doctor", "--security"),
    "schedule show": ("schedule", "show"),
    "schedule install": ("schedule", "install", "--user", "--dry-run"),
    "schedule uninstall": ("schedule", "uninstall", "--user", "--dry-run"),
    "schedule run": ("schedule", "run", "cycle"),
    "mcp": ("mcp", "--list"),
    "ui": ("ui", "--list"),
    "completion": ("completion", "bash"),
    "config": ("config",),
    "allow": ("allow",),
    "deny": ("deny",),
}  # fmt: skip
# These need a server that nobody has configured.
UNAVAILABLE = ("typedb sync-schema", "typedb sync-agent", "typedb query")


class Place(NamedTuple):
    """A furnished workspace, the folder beside it, and what words may name."""

    root: Path
    side: Path
    ids: dict[str, str]

    def fill(self, text: str) -> str:
        """A word of a call, with what it names filled in."""
        for name, value in {**self.ids, "ws": str(self.root), "side": str(self.side)}.items():
            text = text.replace("{" + name + "}", value)
        return text

    def do(self, *words: str, stdin: str = "", fault: Fault | None = None, **variables: str) -> Outcome:
        """One call by agent main, unless the words name another or all, from the folder beside."""
        filled = [self.fill(word) for word in words]
        whose = () if {"-a", "--all"} & {*words} else ("-a", "main")
        settings = {"MABOS_NOW": NOW, "HOME": str(self.side), **QUICK, **variables}
        where = ("-w", str(self.root), *whose)
        return run(*where, *filled, fault=fault, stdin=self.fill(stdin), folder=self.side, **settings)

    def call(self, name: str, **variables: str) -> Outcome:
        """The call of a command by its name in CALLS."""
        return self.do(*CALLS[name], stdin=_HOOKED if name.startswith("hook ") else "", **variables)


def furnish(folder: Path) -> Place:
    """Makes the workspace of agents main and other, in git, with files beside it, in an empty folder."""
    place = Place(folder / "ws", folder / "side", {})
    place.side.mkdir(parents=True)
    for name, value in _BESIDE.items():
        (place.side / name).write_text(json.dumps(value) + "\n")
    shutil.copy(FIXTURES / "transcripts" / "claude.jsonl", place.side)
    place.do("init", "{ws}")
    place.do("agent", "create", "other")
    (place.root / "mabos.yaml").write_text("memory:\n  working_capacity: 5\n")
    (place.root / "agents/main/memory").mkdir()
    (place.root / "agents/main/memory/notes.md").write_text("# Notes\n\n- The gate code changed in May\n")
    with open(place.root / "agents/main/MEMORY.md", "a") as file:
        file.write("\n## Facts\n\n- One apple fell from the tree\n")
    for when, name, words in _STEPS:
        done = place.do(*words, "--json", MABOS_NOW=when)
        assert done.code == 0, (words, done.stderr)
        if name:
            place.ids[name] = _id_of(json.loads(done.stdout)["data"])
    for name in ("base", "ours", "theirs"):
        shutil.copy(place.root / "agents/main/memory-store.json", place.side / f"{name}.json")
    _commit(place.root)
    return place


def _id_of(data: dict) -> str:
    """The id that a command gave to what it made."""
    below = [value["id"] for value in data.values() if isinstance(value, dict) and "id" in value]
    return str(data.get("id") or below[0])


def _commit(root: Path) -> None:
    """Commits everything, in a repository of few files: it is copied often."""
    who = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    for words in (
        ("init", "-q", "--template="),
        ("add", "-A"),
        (*who, "commit", "-qm", "start"),
        ("gc", "-q"),
    ):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


class Bench:
    """A copy of a furnished workspace to try things on, changed as wanted. What a command did to it is taken back before the next."""

    def __init__(self, seed: Place, folder: Path, spoil: Callable[[Place], None] = lambda place: None) -> None:
        self._seed, self._folder, self._spoil = seed.root.parent, folder, spoil
        self._stamps: dict[str, tuple[int, ...]] = {}
        self._whole: dict[str, bytes | str] = {}
        self.place = Place(folder / seed.root.name, folder / seed.side.name, seed.ids)

    def fresh(self) -> Place:
        """The copy, as good as new."""
        if self._stamps:
            self._take_back()
        else:
            self._make()
        return self.place

    def _make(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(self._seed, self._folder, symlinks=True)
        self._spoil(self.place)
        self.place.do("status")  # which notes down the settings: reading commands then change nothing
        self._stamps = _stamps(self._folder)
        self._whole = {path: _held(path) for path, stamp in self._stamps.items() if _is_plain(stamp)}

    def _take_back(self) -> None:
        found = _stamps(self._folder)
        changed = [path for path in found.keys() | self._stamps if found.get(path) != self._stamps.get(path)]
        for path in sorted(changed, reverse=True):  # what is in a folder before the folder
            if os.path.isdir(path) and not os.path.islink(path):
                if path not in self._stamps:
                    shutil.rmtree(path)
            elif os.path.lexists(path):
                os.unlink(path)
        again = [path for path in changed if self._stamps.get(path) and path not in self._whole]
        if again:
            self._spoil(self.place)
        for path in sorted(each for each in changed if each in self._stamps and each not in again):
            held = self._whole.get(path)
            if held is None:
                os.makedirs(path, exist_ok=True)
            elif isinstance(held, str):
                os.symlink(held, path)
            else:
                Path(path).write_bytes(held)
        self._stamps = _stamps(self._folder)

    def changed(self) -> bool:
        """Whether anything is other than in the copy as it was made."""
        return _stamps(self._folder) != self._stamps


def _is_plain(stamp: tuple[int, ...]) -> bool:
    """Whether a stamp is that of a link or of a file that can be read whole: no folder, pipe, socket or endless file."""
    return bool(stamp) and (stat.S_ISLNK(stamp[0]) or (stat.S_ISREG(stamp[0]) and stamp[2] < 1 << 30))


def _held(path: str) -> bytes | str:
    """The bytes of a file, or where a link leads."""
    return os.readlink(path) if os.path.islink(path) else Path(path).read_bytes()


def _stamps(folder: Path) -> dict[str, tuple[int, ...]]:
    """What changes when a file or folder below a folder does."""
    found = {}
    for here, folders, names in os.walk(folder):
        for name in folders:
            found[os.path.join(here, name)] = ()
        for name in names:
            path = os.path.join(here, name)
            state = os.lstat(path)
            found[path] = (state.st_mode, state.st_ino, state.st_size, state.st_mtime_ns)
    return found
