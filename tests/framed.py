"""What must hold of every bundle, whatever stands in it: used by tests and by benchmarks/packing.py."""

import re
from collections.abc import Collection

_FRAME = re.compile(r"<(memory-[0-9a-f]{10})> [^\n]*\n(.*\n)</\1>\n", re.DOTALL)
_LINE = re.compile(
    r"\[([^\[\]]+)\] [a-z]+(?: \S{1,10})??(?: by [\w .@'-]{1,40})?(?: (?:expired|evicted|unused))?(?: untrusted)?(?: contradicts \[[^\[\]]+\])?(?: outdated by \S+)?: "
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
    known = {source.translate(str.maketrans("[]", "()")) for source in sources}
    for line in body.removesuffix("\n").split("\n"):
        start = _LINE.match(line)
        if not start:
            found.append(f"no source: {line[:80]!r}")
            continue
        told = line[start.end() :]
        if start[1] not in known:
            found.append(f"forged source: {line[:80]!r}")
        if _SPECIAL.search(told) or any(f"[{source}]" in told for source in known):
            found.append(f"not inert: {told[:80]!r}")
        if re.search(r"\[(?:M|F)-\d|\[turn:|\[[^\[\]]*:\d+-\d+\]", told):
            found.append(f"passes for a source: {told[:80]!r}")
    if _HIDDEN.search(bundle) or len(bundle.splitlines()) != bundle.count("\n"):
        found.append("hidden characters or line breaks")
    return found
