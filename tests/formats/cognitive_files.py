"""Cognitive files as nobody should write them and somebody will, composed by chance from a seed."""

from random import Random

DAYS = ("2026-02-20", "2025-12-31", "soon", "ongoing", "2026-13-45", "")
WORDS = (
    *("Market demand", "Ship the beta", "Runway", "Pagel bleibt", "雪椿酒造", "a | b", "C#", "x: y", "*bold* words", "Goal: win"),
    *("the status of things", "back\\slash", "tick `code`", "G-7 via PL-2", "Change history", "(G-CTO-T1)", "<b>html</b>", "é́ \u200bzero"),
)  # fmt: skip
STATUSES = ("active", "Active", "stalled", "completed (2026-02-01: done)", "in progress", "**active**", "")
LEVELS = ("0.9", "High", "85 %", "1.7", "maybe", ".5", "")
IDS = ("B-001", "G-CEO-S1", "D-1", "I-7", "PL-CTO-02", "C-3", "L-12", "BE-COO-04", "S-2", "**G-9**", "—", "")
COLUMNS = (
    "ID|Belief|Value|Certainty|Source|Updated",
    "ID|About|Belief|Value|Certainty|Source|Updated",
    "ID|Desire|Serves|Priority|Status",
    "ID|Goal|Type|Priority|Desire|Progress|Deadline|Status",
    "ID|Intention|Goal|Status|Deadline|Updated",
    "ID|To|Commitment|Due|Status",
    "To|What|Until",
    "Date|Lesson|Changed what",
    "Step|Description|Type|Assigned To|Depends On|Status",
    "No|Step|By|State",
    "Step|Who|What",
    "#|Aufgabe|Done",
    "Date|ID|Change|Old|New|Source",
    "Date|Belief|Change",
    "When|What|Why",
    "Goal|Goal|goal 1|Goal",
    "||",
    "Priority",
)
GROUPS = (
    "Active Goals",
    "Completed",
    "Tactical",
    "Belief Revision Log",
    "Changes",
    "To sales",
    "Self Beliefs ##",
    "",
)


def compose_file(rnd: Random) -> str:
    """The text of a file: any parts in any order, with any line ends."""
    lines = [line for _ in range(rnd.choice((0, 1, 2, 4, 6, 9))) for line in _part(rnd)]
    if rnd.random() < 0.6:
        lines = [rnd.choice(("# Beliefs", "# Goals — ceo", "Title", "#", "## Only")), *_gap(rnd), *lines]
    text = "\n".join(lines) + rnd.choice(("\n", "\n", "\n", "", "\n\n\n", "\n \n"))
    if rnd.random() < 0.15:
        text = text.replace("\n", "\r\n")
    elif rnd.random() < 0.05:
        text = text.replace("\n", "\r\n", rnd.randrange(9))
    return "\ufeff" + text if rnd.random() < 0.08 else text


def _part(rnd: Random) -> list[str]:
    make = rnd.choice((_group, _section, _section, _table, _table, _list, _list, _block, _plan, _odd))
    return [*make(rnd), *_gap(rnd)]


def _gap(rnd: Random) -> list[str]:
    return rnd.choice(([""], [""], [""], [], ["", ""], ["  "]))


def _group(rnd: Random) -> list[str]:
    return [f"{rnd.choice(('##', '##', '###', '#', '  ##'))} {rnd.choice(GROUPS)}", *_gap(rnd)]


def _field(rnd: Random) -> str:
    return rnd.choice(
        (
            f"Certainty: {rnd.choice(LEVELS)}",
            f"priority: {rnd.choice(LEVELS)}",
            f"status: {rnd.choice(STATUSES)}",
            f"- **Status:** {rnd.choice(STATUSES)}",
            f"* __Priority__: {rnd.choice(LEVELS)}",
            f"**Deadline: {rnd.choice(DAYS)}**",
            f"[deadline: {rnd.choice(DAYS)}]",
            f"[updated:{rnd.choice(DAYS)}] [source: {rnd.choice(WORDS)}]",
            f"- status: active [deadline: {rnd.choice(DAYS)}] [updated: {rnd.choice(DAYS)}]",
            f"ID: {rnd.choice(IDS)}",
            f"Goal: {rnd.choice(IDS)}. Missing: words.",
            f"- **Parent:** {rnd.choice(IDS)}",
            f"Source: {rnd.choice(WORDS)}",
            "Last updated: 2026-02-20T16:05:11.000Z",
            "Certainty:",
        )
    )


def _prose(rnd: Random) -> str:
    return rnd.choice(
        (
            f"{rnd.choice(WORDS)} is what we saw.",
            f"> {rnd.choice(WORDS)} | quoted",
            "- only words",
            "  - nested words",
            "1. first",
            f"Prose with a mark [updated: {rnd.choice(DAYS)}] within.",
            "    Status: code | code",
            "\tindented by a tab",
            "| not | a table",
            "[status: done",
            "[note: [deadline: 2026-01-01]]",
            "\x00\x1b[31m \x0b \x85",
            "x" * 3000,
            "stray --> end",
        )
    )


def _section(rnd: Random) -> list[str]:
    head = rnd.choice(
        (
            rnd.choice(WORDS),
            f"{rnd.choice(IDS)}: {rnd.choice(WORDS)}",
            f"{rnd.choice(WORDS)} [status: active]",
        )
    )
    fields = [_field(rnd) for _ in range(rnd.randrange(4))]
    body = [_prose(rnd) for _ in range(rnd.randrange(3))]
    return [f"{rnd.choice(('##', '##', '###', '####'))} {head}", *_gap(rnd), *fields, *_gap(rnd), *body]


def _block(rnd: Random) -> list[str]:
    """Lines that begin with keys, the first of which tells what they are; as items, numbered, nested or neither."""
    first, then = rnd.choice((("- ", "- "), ("", ""), ("1. ", "   - "), ("* ", "  * ")))
    name, bold = rnd.choice(("Belief", "Goal", "Intention", "ID")), rnd.choice(("**", "**", "__", ""))
    lines = []
    for _ in range(rnd.randrange(1, 4)):
        value = rnd.choice(IDS if name == "ID" else WORDS)
        lines += [f"{first}{bold}{name}:{bold} {value}"]
        lines += [f"{then}{bold}Belief:{bold} {rnd.choice(WORDS)}"] if name == "ID" else []
        lines += [f"{then}{bold}Certainty:{bold} {rnd.choice(LEVELS)}"] * rnd.randrange(2)
        lines += [f"{then}{bold}Created:{bold} {rnd.choice(DAYS)}"] * rnd.randrange(2)
        lines += rnd.choice(([""], [""], ["---"], []))
    return lines


def _table(rnd: Random) -> list[str]:
    names = rnd.choice(COLUMNS).split("|")
    rule = "|".join(rnd.choice(("---", ":-:", "--:", " --- ")) for _ in names)
    rows = [f"| {' | '.join(names)} |", f"|{rule}|"]
    rows += [_row(rnd, names) for _ in range(rnd.choice((0, 1, 3, 5)))]
    return [rnd.choice(("## Belief Revision Log", "## Case Beliefs")), "", *rows] if rnd.random() < 0.3 else rows


def _row(rnd: Random, names: list[str]) -> str:
    cells = [_cell(rnd, name.casefold()) for name in names]
    cells = cells[: rnd.randrange(len(cells)) + 1] if rnd.random() < 0.2 else cells
    cells += ["more", "still"] if rnd.random() < 0.1 else []
    told = rnd.choice(("| {} |", "| {} |", "| {}", "|{}|", "  | {} |")).format(rnd.choice((" | ", "|")).join(cells))
    return told if "|" in told else f"{told} |"


def _cell(rnd: Random, name: str) -> str:
    known = {
        "id": IDS,
        "status": STATUSES,
        "certainty": LEVELS,
        "priority": LEVELS,
        "deadline": DAYS,
        "updated": DAYS,
    }
    told = rnd.choice(known.get(name, WORDS)).replace("|", "\\|")
    return rnd.choice((told, told, told, "", f"{told} [note: a \\| b]", f"{name}: {told}", f"[{name}: {told}]", "\\\\"))


def _item(rnd: Random, bullet: str) -> list[str]:
    told = rnd.choice(
        (
            f"{rnd.choice(IDS)}: {rnd.choice(WORDS)}, status: active [deadline: {rnd.choice(DAYS)}]",
            f"**G-{rnd.randrange(99)}**: {rnd.choice(WORDS)}",
            f"{rnd.choice(WORDS)} (tactical, progress: 45%, priority: 0.9)",
            f"{rnd.choice(WORDS)} — status: stalled [updated: 2026-02-01]",
            f"{rnd.choice(WORDS)}\tstatus: active\t[note: see status: green]",
            rnd.choice(WORDS),
            "[ status: active]",
        )
    )
    below = [_nested(rnd) for _ in range(rnd.choice((0, 0, 1, 3)))]
    return [f"{bullet} {told}", *below]


def _nested(rnd: Random) -> str:
    return rnd.choice(
        (
            "  - Priority: 0.9",
            f"  - Status: {rnd.choice(STATUSES)}",
            "  Progress: 60%",
            "\t- Deadline: 2026-03-01",
            "  - photos are here",
            "    - deeper",
            "",
            "  ## indented heading",
            "  ```\n  - Status: hidden\n  ```",
            "  <!-- a comment\nthat ends at the margin -->",
            "lazy words",
        )
    )


def _list(rnd: Random) -> list[str]:
    bullet = rnd.choice(("-", "*", "+", "- [ ]", "- [x]", "1.", "12)", "-\t"))
    return [line for _ in range(rnd.choice((1, 2, 4))) for line in _item(rnd, bullet)]


def _plan(rnd: Random) -> list[str]:
    head = [f"## PL-{rnd.randrange(9)}: {rnd.choice(WORDS)}", "", "Goal: G-1", ""]
    lists = (
        ["- [x] one", "- [ ] two"],
        ["1. one (done 2026-01-01)", "2. two", "   1. inner"],
        ["- S-1 one", "- S-2 two"],
        [],
    )
    return head[: rnd.choice((1, 4))] + (_table(rnd) if rnd.random() < 0.3 else [*rnd.choice(lists)])


def _odd(rnd: Random) -> list[str]:
    return rnd.choice(
        (
            ["```", "## Code", "| ID | Goal |", "|---|---|", "| G-5 | x |", "```"],
            ["```text", "never closed"],
            ["~~~~", "- x status: active"],
            ["<!--", "## Hidden", "Certainty: 0.1", "-->"],
            ["<!-- never closed"],
            ["<!-- - I-4: x, status: active -->"],
            ["    ## code", "    | ID | Goal |", "    |---|---|", "    | G-5 | x |"],
            ["---", "key: value", "---"],
            ["- a | b", "|---|---|", "| x | y |"],
            [
                "| ID | Goal |",
                "|---|---|",
                "| G-1 | x |",
                "## Heading | with a pipe",
                "- item | x status: active",
            ],
            ["> - quoted status: active", "> | ID | Goal |", "> |---|---|", "> | G-1 | x |"],
            ["Setext", "===", "words"],
            ["\ufeff| G-1 | x |", "-->", "\r", "||", "##", "[updated:]", "####### seven"],
            [_prose(rnd), _field(rnd)],
        )
    )
