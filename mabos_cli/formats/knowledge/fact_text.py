"""Facts as text: on a line, and in mabos-facts.md by subject, readable and findable by recall; above a size an index of pages."""

from _blake2 import blake2b
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from mabos_cli.core.language.text import one_line, plural
from mabos_cli.formats.markdown.escape import derived_title, inline, is_as_generated, seal, unsealed

if TYPE_CHECKING:
    from mabos_cli.core.knowledge.fact import Fact

_NOTE = "Edits here are set aside: change facts with `mabos fact assert` and `mabos fact retract`."


@lru_cache(maxsize=1 << 16)
def page_of(subject: str) -> str:
    """Returns the page that a subject stands on: one of 256, by the hash of its heading, so that pages stay about equally long.

    >>> page_of("acme")
    'ed'
    """
    return blake2b(heading_of(subject).encode("utf-8", "replace"), digest_size=1).hexdigest()


def render_sections(facts: "Iterable[Fact]") -> dict[str, str]:
    """Returns the sections of subjects, by heading; subjects that differ only in what cannot be seen share one."""
    subjects: dict[str, list[Fact]] = {}
    heads: dict[str, str] = {}
    for fact in facts:
        head = heads.get(fact.subject) or heads.setdefault(fact.subject, heading_of(fact.subject))
        subjects.setdefault(head, []).append(fact)
    return {
        head: "".join(map(_line, sorted(found, key=lambda f: (f.subject, f.predicate, f.object, f.id))))
        for head, found in subjects.items()
    }


def heading_of(subject: str) -> str:
    """Returns the words of the heading of a subject."""
    return inline(subject)


def _line(fact: "Fact") -> str:
    return f"- {inline(' '.join(fact.triple))} ({inline(_details(fact))}; {inline(fact.id)})\n"


def fact_line(fact: "Fact") -> str:
    """Returns a fact on a line."""
    return f"{fact.id} {one_line(' '.join(fact.triple), 160)} ({_details(fact)})"


def _details(fact: "Fact") -> str:
    """Returns how sure a fact is, where it comes from, whom to trust, and when it holds."""
    found = [f"{fact.confidence:.2f}", f"by {fact.rule_id}" if fact.rule_id else fact.source]
    found += [fact.trust] if fact.trust != "agent" else []
    found += [f"from {fact.valid_from}"] if fact.valid_from else []
    return ", ".join(found + ([f"until {fact.valid_until}"] if fact.valid_until else []))


def has_untrusted_fact(text: str) -> bool:
    """Returns whether a line may be that of an untrusted fact; a word in a statement that reads like it counts too."""
    return ", untrusted" in text


def render_versions(versions: Sequence[int]) -> str:
    """Returns the versions of facts.json and facts-derived.json that a file was made from."""
    return f"(version {versions[0]}, derived {versions[1]})"


def render_facts_page(agent: str, name: str, sections: Mapping[str, str], state: str = "") -> str:
    """Returns a page, or with an empty name the whole file: the sections in the order of their headings."""
    listed = "".join(f"\n## {head}\n\n{body}" for head, body in sorted(sections.items()))
    return seal(f"{derived_title('Facts', agent, name, state)} {_NOTE}\n{listed}")


def render_facts_index(agent: str, asserted: int, derived: int, pages: Collection[str], state: str) -> str:
    """Returns the file that stands for pages."""
    listed = "".join(f"- [{name}](mabos-facts/{name}.md)\n" for name in sorted(pages))
    counts = f"{asserted} asserted, {derived} derived, on {plural(len(pages), 'page')} by subject"
    return seal(f"{derived_title('Facts', agent, '', state, counts)} {_NOTE}\n\n{listed}")


def split_sections(text: str) -> dict[str, str] | None:
    """Returns the sections of a page that is still as it was generated, by heading; None of one that somebody edited."""
    if not text or not is_as_generated(text):
        return None
    parts = (part.partition("\n\n") for part in unsealed(text).split("\n## ")[1:])
    return {head: f"{body}\n" if not body.endswith("\n") else body for head, _, body in parts}
