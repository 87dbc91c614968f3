"""Facts: triples with confidence, a source, and the time for which they hold."""

from typing import Any, NamedTuple

Triple = tuple[str, str, str]


class Fact(NamedTuple):
    """A triple that is held true. Times are ISO-8601 text as on disk, empty where there is no bound; a day as an end means
    the whole day. A derived fact names the facts and the rule that it comes from; `extra` holds keys of other tools."""

    id: str
    subject: str
    predicate: str
    object: str
    confidence: float = 1.0
    source: str = "manual"
    trust: str = "agent"
    valid_from: str = ""
    valid_until: str = ""
    derived_from: tuple[str, ...] = ()
    rule_id: str = ""
    created_at: str = ""
    updated_at: str = ""
    extra: tuple[tuple[str, Any], ...] = ()

    @property
    def triple(self) -> Triple:
        return self.subject, self.predicate, self.object

    @property
    def is_derived(self) -> bool:
        return bool(self.rule_id)
