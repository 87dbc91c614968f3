"""Memory to search in: a few topics, told in every kind of file."""

import json
from random import Random

from .lab import Lab

TOPICS = (
    "garden tomato compost seed watering greenhouse soil harvest",
    "invoice billing seat pricing discount contract renewal customer",
    "deploy rollback canary pipeline outage latency alert server",
    "guitar chord concert rehearsal melody drummer studio album",
    "hiking mountain trail summit glacier backpack weather hut",
    "recipe bread sourdough oven flour butter kitchen dinner",
    "doctor vaccine allergy appointment clinic knee therapy pharmacy",
    "train ticket platform luggage journey border hotel passport",
)
GLUE = "the a with about because after before and then again every some next last new old".split()
QUESTIONS = [
    "How did the tomato harvest go?",
    "pricing discount for the renewal",
    "what happened at the rollback",
    "rehearsal with the drummer",
    "glacier trail weather",
    "sourdough bread in the oven",
    "when is the knee appointment",
    "lost luggage at the border",
    "customer outage alert",
    "concert ticket",
    "ERR_042",
    "dinner before the summit",
]


def sentence(rnd: Random, length: int = 12) -> str:
    topic = rnd.choice(TOPICS).split()
    return " ".join(rnd.choice(topic if rnd.random() < 0.6 else GLUE) for _ in range(length)).capitalize() + "."


def paragraphs(rnd: Random, count: int) -> str:
    return "\n\n".join(" ".join(sentence(rnd) for _ in range(rnd.randint(1, 6))) for _ in range(count))


def page(rnd: Random) -> str:
    """A Markdown file with headings."""
    parts = [f"# {sentence(rnd, 3)}"]
    for _ in range(rnd.randint(1, 3)):
        parts += [f"## {sentence(rnd, 3)}", paragraphs(rnd, rnd.randint(1, 4))]
    return "\n\n".join(parts) + "\n"


def said(rnd: Random, number: int = 0) -> str:
    """A line of a transcript."""
    at = f"2026-02-{1 + number % 20:02d}T10:{number % 60:02d}:00Z"
    return json.dumps({"role": rnd.choice(("user", "assistant")), "content": sentence(rnd), "timestamp": at}) + "\n"


def fill(lab: Lab, seed: int = 7, items: int = 70, pages: int = 8) -> None:
    """Items in every store, some archived, some in conversations; notes, logs and transcripts."""
    rnd = Random(seed)
    drafts = []
    for number in range(items):
        fields: dict = {
            "store": rnd.choice(("working", "short_term", "long_term", "long_term")),
            "importance": rnd.choice((0.2, 0.5, 0.55, 0.9)),
            "tags": rnd.sample(("red", "green", "blue"), rnd.randint(0, 2)),
            "type": rnd.choice(("fact", "decision", "event")),
        }
        if number % 3 == 0:
            fields |= {"session": f"s{number % 4}", "author": rnd.choice(("Ada", "Bob"))}
            fields["observed_at"] = f"2026-01-{1 + rnd.randint(0, 27):02d}T09:00:00Z"
        drafts.append(lab.draft(sentence(rnd), **fields))
    drafts.append(lab.draft("The import ends with ERR_042 when the seed is old.", store="long_term"))
    drafts.append(lab.draft(" ".join(sentence(rnd) for _ in range(30)), store="long_term"))
    ids = lab.store_all(drafts)
    for item_id in ids[items // 7 : items // 7 + 5]:
        lab.forget(item_id)
    for item_id in ids[items // 3 : items // 3 + 4]:
        lab.update(item_id, content=sentence(rnd))
    lab.defer(sentence(rnd))
    for number in range(pages):
        lab.write(f"notes/{number}.md", page(rnd))
    lab.write("notes/deep/down/here.txt", paragraphs(rnd, 3))
    lab.write("MEMORY.md", (lab.agent / "MEMORY.md").read_text("utf-8") + "\n" + page(rnd))
    lab.write("sessions/one.jsonl", "".join(said(rnd, n) for n in range(20)))
    lab.write("observations/2026-02-20.jsonl", "".join(said(rnd, n) for n in range(5)))
