"""Facts from and for other programs, through the commands."""

import json

import pytest
from forked import tree

from commands.desk import Desk
from commands.knowledge.test_facts import do, refused


def test_an_import_is_all_or_none(desk: Desk):
    do(desk, "fact", "assert", "a", "p", "o")
    before = tree(desk.root)
    good = '{"subject": "b", "predicate": "p", "object": "o"}\n'
    for bad in ('{"subject": "", "predicate": "p", "object": "o"}', '{"subject": "b"}', "{", "[]", '{"subject": "?x", "predicate": "p", "object": "o"}',
                '{"subject": "b", "predicate": "p", "object": "o", "valid_from": "2026-02-02", "valid_until": "2026-02-01"}',
                '{"subject": "b", "predicate": "p", "object": "o", "confidence": 2}'):  # fmt: skip
        said = desk.run("fact", "import", "-", stdin=(good + bad + "\n").encode())
        refused(said, 4, "standard input:2: ")
    refused(desk.run("fact", "import", "-", "--trust", "high", stdin=good.encode()), 2, "unknown trust")
    assert tree(desk.root) == before


@pytest.mark.parametrize("form", ["ndjson", "csv", "turtle"])
def test_what_one_agent_exports_another_imports(desk: Desk, form: str):
    desk.add_agent("other")
    names = ['say "hi", she', "a,b", "é 𝄞", "=cmd", "100 %", "2026-02-24", "http://x.org/a#b", "http://bad iri", "urn:mabos:x%20y", "urn:", "http://[", "%41", "-"]  # fmt: skip
    rows = "".join(json.dumps({"subject": s, "predicate": p, "object": o, "confidence": 1 / 3, "source": "manual"}) + "\n"
                   for s, p, o in zip(names, names[1:], names[2:], strict=False))  # fmt: skip
    do(desk, "-a", "main", "fact", "import", "-", stdin=rows.encode())
    text = do(desk, "-a", "main", "fact", "export", "--format", form)["text"]
    do(desk, "-a", "other", "fact", "import", "-", "--format", form, stdin=text.encode())
    keys = ("subject", "predicate", "object", *(("confidence", "source") if form != "turtle" else ()))
    one, two = (do(desk, "-a", name, "fact", "query", "--limit", "0")["facts"] for name in ("main", "other"))
    assert [[row[k] for k in keys] for row in one] == [[row[k] for k in keys] for row in two]
    assert len(one) == len(names) - 2
