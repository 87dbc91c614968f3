"""Renders results on a terminal, by the name of the result, from the data that --json prints."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import ConsoleRenderable
from rich.text import Text
from rich.tree import Tree

from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.stores import DUE_COMMANDS, DUE_NAMES
from mabos_cli.terminal.screen import STYLES, Screen, join, make_table, wrap_lines

Data = Mapping[str, Any]
Parts = Sequence[ConsoleRenderable] | None
View = Callable[[Screen, Data, Iterable[str]], Parts]

# Texts for models, shells and files: shown unchanged.
VERBATIM = frozenset(
    "read skill report completion reason.show schedule.show fact.export graph.export ontology.export context.index "
    "context.observations context.pack context.build context.compress context.flush-prompt checkpoint.latest".split()
)
_LONGEST = 240  # characters of a content in a table, unless it is asked for whole


def _content(screen: Screen, text: str, style: str = "") -> Text:
    return screen.text(one_line(text, 0 if screen.is_whole else _LONGEST), style)


def _grade(screen: Screen, value: float | None) -> Text:
    """Returns a number from 0 to 1: high ones are bold, low ones faint."""
    if value is None:
        return Text("")
    return screen.text(f"{value:.2f}", "head" if value >= 0.8 else "faint" if value < 0.3 else "")


def _dotted(screen: Screen, parts: Iterable[tuple[str, str]]) -> Text:
    """Joins remarks on one line, each in its style."""
    remarks = [
        screen.line(text, style) if style == "faint" else screen.text(text, style) for text, style in parts if text
    ]
    return Text(" · ", style=STYLES["faint"], overflow="fold").join(remarks)


def show_recall(screen: Screen, data: Data, lines: Iterable[str]) -> Parts:
    """Shows results: the text, and below it remarks such as age, source and tags."""
    rows: list[list[Text]] = []
    for hit in data["results"]:
        is_gone = bool(hit.get("archived") or hit.get("newer"))
        texts = [_content(screen, hit["content"], "faint" if is_gone else ""), _dotted(screen, _remarks(screen, hit))]
        texts += [
            screen.line(f"was: {one_line(was['content'], 120)} ({was['id']})", "faint") for was in hit.get("was", ())
        ]
        texts += [screen.text(_reasons(hit), "faint")] if "signals" in hit else []
        kind = hit.get("type") or hit["kind"]
        rows.append(
            [
                screen.id(hit.get("id") or ""),
                screen.text(kind, "kind"),
                _grade(screen, hit.get("importance")),
                Text("\n").join(texts),
            ]
        )
    if not rows:
        return None
    return [make_table(["id", "type", "", "memory"], rows, free=["memory"])]


def _remarks(screen: Screen, hit: Data) -> Iterator[tuple[str, str]]:
    if hit["kind"] != "item":
        yield hit["ref"], "faint"
    elif "/" in hit["ref"]:
        yield hit["ref"].partition("/")[0], "faint"
    yield screen.age(hit.get("observed_at") or hit.get("created_at") or ""), "faint"
    yield hit["store"].replace("_", "-") if hit.get("store") not in (None, "", "long_term") else "", "faint"
    yield ", ".join(hit.get("tags") or ()), "faint"
    yield hit.get("author") or "", "faint"
    yield ("untrusted" if hit.get("trust") == "untrusted" else ""), "warn"
    yield (f"{hit['archived']}, in the archive" if hit.get("archived") else ""), "warn"
    yield (f"outdated by {screen.id(hit['newer']).plain}" if hit.get("newer") else ""), "warn"
    yield (f"depth {hit['depth']} via {', '.join(hit['via'])}" if hit["depth"] else ""), "faint"


def _reasons(hit: Data) -> str:
    parts = ", ".join(f"{name} {value:.2f}" for name, value in hit["signals"].items())
    return f"score {hit['score']:.2f}: {parts or 'by importance'}; matched {', '.join(hit['matched']) or 'no word'}"


def show_status(screen: Screen, data: Data, lines: Iterable[str]) -> Parts:
    """Shows the overall state, what is due, and what to do next."""
    troubles = [row for row in data["hosts"] if row["trouble"]]
    mirror = data.get("typedb") or {}
    due = {name: count for name, count in data["due"].items() if count and name in DUE_COMMANDS}
    todo = [(f"{count} {DUE_NAMES.get(name, name)}", DUE_COMMANDS[name]) for name, count in due.items()]
    todo += [(f"{data['untrusted']} untrusted", "mabos trust --quarantine")] if data["untrusted"] else []
    todo += [(f"{row['host']}: {row['trouble']}", f"mabos connect {row['host']}") for row in troubles]
    todo += [(f"{mirror['failed']} not mirrored", "mabos typedb status")] if mirror.get("failed") else []
    wrong = len(troubles) + bool(mirror.get("failed"))
    head, style = ("all is well", "good") if not todo else (f"{plural(len(todo), 'thing')} to look at", "warn")
    if wrong:
        head, style = f"{plural(wrong, 'problem')}", "bad"
    stores = data["stores"]
    last = sorted(data["last_runs"].items(), key=lambda run: run[1], reverse=True)
    counts = ", ".join(f"{count} {name.replace('_', '-')}" for name, count in stores.items() if count)
    left = ", ".join(f"{count} {reason}" for reason, count in data["archived"].items())
    small = [f"{count} {DUE_NAMES.get(name, name)}" for name, count in data["due"].items() if count and name not in due]
    rows = [
        ("memories", plural(sum(stores.values()), "memory") + (f": {counts}" if counts else "")),
        ("archive", left),
        ("index", data["index"]),
        ("waiting", ", ".join(small) + "; the next write takes them" if small else ""),
        ("hosts", ", ".join(row["host"] for row in data["hosts"]) or "none: mabos connect HOST"),
        ("last", ", ".join(f"{name} {screen.age(at)}" for name, at in last[:3]) or "nothing ran yet"),
    ]
    title = join(screen.text(data["agent"], "head"), Text("  "), screen.text(head, style))
    shown: list[ConsoleRenderable] = [
        title,
        *wrap_lines(screen, (f"{name:9} {value}" for name, value in rows if value)),
    ]
    width = max((len(what) for what, _ in todo), default=0)
    return [*shown, Text(""), *wrap_lines(screen, (f"{what:{width}}  {how}" for what, how in todo))] if todo else shown


def show_get(screen: Screen, data: Data, lines: Iterable[str]) -> Parts:
    """Shows the lines of an item, and its sources as a tree."""
    if "item" not in data:
        return None
    texts, short = list(lines), Screen(screen.now, screen.shorten)
    at = texts.index(data["item"]["content"]) if data["item"]["content"] in texts else 0
    whole = Text("\n").join([Text(""), screen.text(texts[at]), Text("")])
    below = texts[at + 1 :][: texts[at + 1 :].index("")] if "tree" in data else texts[at + 1 :]
    shown: list[ConsoleRenderable] = [*wrap_lines(screen, texts[:at]), whole, *wrap_lines(screen, below)]
    if "tree" not in data:
        return shown

    def grow(node: Data, tree: Tree | None) -> Tree:
        label = join(short.id(node["id"]), short.line(f" ({node['state']}) "), _content(short, node["content"]))
        grown = tree.add(label) if tree else Tree(label, guide_style=STYLES["faint"])
        for source in node["sources"]:
            grow(source, grown)
        return grown

    return [*shown, Text(""), grow(data["tree"], None)]


def show_drill(screen: Screen, data: Data, lines: Iterable[str]) -> Parts:
    """Shows the path of a drill as a tree with a bar for each score, and the lines that were found."""
    if not data["finds"]:
        return None
    root = Tree(screen.text(data["query"], "head"), guide_style=STYLES["faint"])
    grown = {"": root}
    for step in data["steps"]:
        for node in step["nodes"]:
            parent = grown.get(node["parent"] or "")
            if node["followed"] and parent:
                filled = round(10 * min(1.0, node["score"]))
                rest = screen.text("─" * (10 - filled) + f" {node['score']:.2f}", "faint")
                label = join(screen.text(f"{node['period']:<10} "), screen.text("━" * filled, "id"), rest)
                grown[node["period"]] = parent.add(label)
    for find in data["finds"]:
        place = screen.line(f" {find['path']}:{find['line']} {find['id'] or ''}".rstrip(), "faint")
        leaf = join(screen.text(f"{find['kind']} ", "kind"), _content(screen, find["text"]), place)
        grown.get(find["day"], root).add(leaf)
    asked = [word for step in data["steps"] for word in step["refined"]]
    return [root, *wrap_lines(screen, [f"added to the question: {', '.join(asked)}"] if asked else [])]


def show_conflicts(screen: Screen, data: Data, lines: Iterable[str]) -> Parts:
    """Shows each conflict with its two sides."""
    if not data["conflicts"]:
        return None
    shown: list[ConsoleRenderable] = []
    for found in data["conflicts"]:
        about = screen.text(f"  {found['kind']}, severity {found['severity']:.2f}", "bad")
        key = screen.text(f"{found['key'][:8]} ", "id")
        tree = Tree(join(key, screen.text(found["subject"], "head"), about), guide_style=STYLES["faint"])
        for side in ("a", "b"):
            belief = found[side]
            label = join(screen.text(f"{side} ", "head"), screen.text(one_line(belief["statement"])))
            remarks = [(belief["place"], "faint"), (f"{belief['certainty']:.2f} sure", "faint")]
            remarks += [("newer", "good")] if found["newer"] == side else []
            remarks += [("untrusted", "warn")] if belief["trust"] == "untrusted" else []
            tree.add(label.append("\n  ").append_text(_dotted(screen, remarks)))
        if found["goals"]:
            tree.add(screen.line(f"touches {', '.join(found['goals'])}"))
        tree.add(screen.text(found["action"], "faint"))
        shown += [tree, screen.line(f"mabos bdi resolve {found['key'][:8]} --keep a, b or both"), Text("")]
    return shown[:-1]


def show_help(screen: Screen, data: Data, lines: Iterable[str]) -> Parts:
    """Shows the help of a command with its headings, names and examples marked."""
    return [_help_line(screen, line) for line in lines]


def _help_line(screen: Screen, line: str) -> Text:
    name = re.fullmatch(r"(  (?:-\S.*?|[\w.\[][\w.\]-]*))( {2,}\S.*|)", line)
    if line.startswith("  Example: "):
        return join(screen.text("  Example: ", "faint"), screen.text(line[11:], "head"))
    if name and (name[1].startswith("  -") or (name[2] and " " not in name[1].strip())):
        return join(screen.text(name[1], "id"), screen.text(name[2]))
    return screen.text(line, "head" if re.match(r"\S.*:", line) else "")


def show_config(screen: Screen, data: Data, lines: Iterable[str]) -> Parts:
    """Shows settings with their values as in the plain lines; values that were set are highlighted."""
    rows: list[list[Text]] = []
    for row, line in zip(data["settings"], lines, strict=False):
        value = line.removeprefix(row["name"]).removesuffix(row["about"]).strip().removesuffix(row["origin"]).strip()
        is_set = row["origin"] != "default"
        origin = screen.text(row["origin"] if is_set else "", "faint")
        name = screen.text(row["name"], "id" if is_set else "")
        rows.append([name, screen.text(value, "head" if is_set else ""), origin, screen.text(row["about"], "faint")])
    return [make_table(["setting", "value", "from", "about"], rows, free=["value", "about"])]


# Lists: the key of the rows in the data, and the fields to show as columns.
_LISTS = {
    "timeline": ("entries", "at id type content"),
    "trust.quarantine": ("items", "id source created_at content"),
    "belief.list": ("beliefs", "id subject text certainty updated doubt"),
    "desire.list": ("desires", "id title priority status updated"),
    "goal.list": ("goals", "id title level status deadline behind"),
    "intention.list": ("intentions", "id title status progress deadline goal"),
    "commitment.list": ("commitments", "id title to status deadline"),
    "learning.list": ("learnings", "id title certainty updated"),
    "fact.query": ("facts", "id subject predicate object confidence valid_from valid_until source"),
    "fact.timeline": ("facts", "id predicate object valid_from valid_until confidence"),
    "fact.current": ("facts", "id predicate object confidence valid_from source"),
    "checkpoint.list": ("checkpoints", "path context"),
    "agent.list": ("agents", "id name role"),
}
_HEADS = {
    "at": "when", "created_at": "when", "updated": "updated", "text": "statement", "content": "memory", "title": "what",
    "certainty": "sure", "confidence": "sure", "valid_from": "from", "valid_until": "until", "deadline": "due",
}  # fmt: skip
_FREE = frozenset("text content title object subject behind doubt context role status".split())
_GRADES = frozenset("certainty confidence importance".split())
_TIMES = frozenset("at created_at updated updated_at stored_at".split())


def _list_view(key: str, columns: str) -> View:
    def view(screen: Screen, data: Data, lines: Iterable[str]) -> Parts:
        rows = data.get(key) or []
        if not rows or not all(isinstance(row, dict) for row in rows):
            return None
        named = [name for name in columns.split() if any(row.get(name) not in (None, "", []) for row in rows)]
        table = make_table(
            [_HEADS.get(name, name) for name in named],
            ([_cell(screen, row, name) for name in named] for row in rows),
            free=[_HEADS.get(name, name) for name in named if name in _FREE],
        )
        return [table, *wrap_lines(screen, [line for line in lines if line.startswith("and ")])]

    return view


def _cell(screen: Screen, row: Data, name: str) -> Text:
    """Returns a field of a row; archived and finished rows are faint."""
    value = row.get(name)
    if value in (None, "", []):
        return Text("")
    if name == "id":
        return screen.id(value).append(" ◂" if row.get("focus") else "")
    if name in _GRADES and isinstance(value, int | float):
        return _grade(screen, value)
    if name in _TIMES:
        return screen.text(screen.age(str(value)), "faint")
    is_over = bool(row.get("archived")) or str(row.get("status", "")).startswith(
        ("closed", "dropped", "achieved", "completed")
    )
    if name in ("status", "type", "behind", "doubt", "source"):
        style = {"type": "kind", "behind": "warn", "doubt": "warn"}.get(name, "faint" if is_over else "")
        return screen.line(str(value)) if name == "status" else screen.text(one_line(str(value)), style)
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return _content(screen, text, "faint" if is_over else "")


VIEWS: dict[str, View] = {
    "help": show_help,
    "recall": show_recall,
    "status": show_status,
    "get": show_get,
    "config": show_config,
    "hierarchy.drill": show_drill,
    "bdi.conflicts": show_conflicts,
    **{name: _list_view(*about) for name, about in _LISTS.items()},
}
