"""Files that only grow: the end is read alone, and what is found is what reading all of it finds."""

import json
from random import Random

import pytest

from mabos_cli.workspace import contents

from .lab import FULL, Lab, differences, settle

LOG = "memory/2026-02-24.md"
# What people and agents write at the end of a day's log, some of which reaches into what follows or changes its title.
ENDS = (
    "## Event (10:00 UTC)\n\nThe quince {n} is ripe\n\n",
    "## Note {n}\n\n- an item\n- another item of {n}\n",
    "\n## Late {n}\n\n### deeper\n\nA long night, 5 < {n}\n",
    "more of the same, {n}\n",
    "no line end {n}",
    "# Another title {n}\n\nText below\n\n",
    "Set {n}\n===\n\n",
    "```\n## not a heading {n}\n\n",
    "```\n\nbehind a fence {n}\n",
    "<!-- a comment {n}\n",
    "{n} -->\n\n",
    "<pre>\n{n}\n\n",
    "## Key {n}\n\n-----BEGIN PRIVATE KEY-----\nMIIE{n}\n",
    "-----END PRIVATE KEY-----\n",
)


@pytest.mark.parametrize("seed", range(FULL // 20 or 4))
def test_a_log_that_grows_is_read_as_if_it_were_new(lab: Lab, seed: int) -> None:
    rnd, path = Random(seed), lab.agent / LOG
    path.parent.mkdir(exist_ok=True)
    for number in range(12):
        if rnd.random() < 0.3:
            lab.store(f"{rnd.choice(('', '# ', '``` ', '<pre> '))}the quince {number} of seed {seed}")
        if not path.exists():
            path.write_text("# 2026-02-24\n\n")
        with path.open("a") as file:
            file.writelines(rnd.choice(ENDS).format(n=number) for _ in range(rnd.randint(1, 3)))
        settle()
        lab.sync()
        assert differences(lab.contents(), lab.fresh_contents()) == {}


def test_only_the_end_of_a_log_and_of_a_file_of_observations_is_read(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    written, said = contents._written, contents._spoken_more
    monkeypatch.setattr(contents, "_written", lambda a, s, data: read.append(len(data)) or written(a, s, data))
    monkeypatch.setattr(contents, "_spoken_more", lambda a, s, b, more: read.append(len(more)) or said(a, s, b, more))
    for path, first, entry in (
        (LOG, "# 2026-02-24\n\n", "## Event ({n}:00 UTC)\n\nThe quince {n} is ripe\n\n"),
        ("observations/2026-02-24.jsonl", "", json.dumps({"content": "the medlar {n}"}).replace("{n}", "%s") + "\n"),
    ):
        entries = [entry.format(n=n) if "{n}" in entry else entry % n for n in range(50)]
        lab.write(path, first + "".join(entries[:49]))
        settle()
        lab.sync()
        read.clear()
        with (lab.agent / path).open("a") as file:
            file.write(entries[49])
        settle()
        lab.sync()
        assert read and max(read) < len(entries[0]) * 3
        whole = (lab.agent / path).read_text()
        (lab.agent / path).write_text(whole.replace(" 7", " seventh") + entries[1])
        settle()
        lab.sync()
        assert max(read) > len(whole)
        assert differences(lab.contents(), lab.fresh_contents()) == {}
