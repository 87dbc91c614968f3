"""What must hold of every bundle, whatever stands in it: used by tests and by benchmarks/packing.py."""

import re
from collections.abc import Collection

_FRAME = re.compile(r"<(memory-[0-9a-f]{10})> [^\n]*\n(.*\n)</\1>\n", re.DOTALL)
_LINE = re.compile(
    r"\[(\d+|turn:\d+)\] (?:[a-z]+(?: \S{1,10})??|\S{1,10})(?: by [\w .@'-]{1,40})?(?: (?:expired|evicted|unused))?(?: untrusted)?"
    r"(?: contradicts \[\d+\])?(?: outdated by \S+)?: "
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_SPECIAL = re.compile(
    r"<(?:[a-z]|\s*[/|!?])|[\uff1c\ufe64](?:[a-z]|\s*[/|!?])|`{3}|~{3}|\[/?INST|\uff3bM-", re.IGNORECASE
)


def faults(bundle: str, sources: Collection[str]) -> list[str]:
    """What is wrong with a bundle: its frame, lines without a source, sources that nobody gave, what content smuggled in."""
    if not bundle:
        return []
    frame = _FRAME.fullmatch(bundle)
    if not frame:
        return ["the frame is not whole"]
    name, body = frame[1], frame[2]
    found = []
    if name in body or name[7:] in body:
        found.append("the name of the frame stands in it")
    known = [source.translate(str.maketrans("[]", "()")) for source in sources if not source.startswith("turn:")]
    lines = body.removesuffix("\n").split("\n")
    cited = read_sources(lines.pop()) if known else {}
    if sorted(cited.items()) != [*enumerate(known, 1)]:
        found.append(f"sources: {cited}")
    for line in lines:
        start = _LINE.match(line)
        if not start:
            found.append(f"no source: {line[:80]!r}")
            continue
        told = line[start.end() :]
        if start[1] not in sources and int(start[1].removeprefix("turn:")) not in cited:
            found.append(f"forged source: {line[:80]!r}")
        if _SPECIAL.search(told) or any(f"[{source}]" in told for source in known):
            found.append(f"not inert: {told[:80]!r}")
        if re.search(r"\[(?:M|F)-\d|\[turn:|\[[^\[\]]*:\d+-\d+\]|(?<!\w)\[\d+\]", told):
            found.append(f"passes for a source: {told[:80]!r}")
    if _HIDDEN.search(bundle) or len(bundle.splitlines()) != bundle.count("\n"):
        found.append("hidden characters or line breaks")
    return found


def read_sources(line: str) -> dict[int, str]:
    """Returns the references that the last line of a bundle gives for each number; empty when it is another line."""
    found: dict[int, str] = {}
    file = ""
    for number, ref in re.findall(r"\[(\d+)\] ([^\[\]]*?)(?= \[\d|$)", line.removeprefix("Sources: ")):
        found[int(number)] = file + ref if ref.startswith(":") else ref
        file = ref.rpartition(":")[0] if not ref.startswith(":") else file
    return found if line.startswith("Sources: ") else {}
