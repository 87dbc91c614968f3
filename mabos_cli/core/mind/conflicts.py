"""Finds beliefs that cannot both be right: chooses the pairs worth comparing, and compares them."""

import re
from _blake2 import blake2b
from collections.abc import Callable, Sequence

from mabos_cli.core.language.clock import find_time
from mabos_cli.core.language.text import words
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.mind.claims.claim import FINITE, Claim, fold_subject, is_statement, read_claims, subject_words
from mabos_cli.core.mind.claims.disagreement import Context, Disagreement, disagree, is_restated, join_claims
from mabos_cli.core.mind.claims.headings import are_groups_apart, headings_differ, sides_of, truth_of
from mabos_cli.core.mind.claims.words import exclusive, families, head_word, is_single, root, word_class
from mabos_cli.core.mind.mind import Belief
from mabos_cli.core.mind.pairs import Cut, Marks, affordable_pairs, candidate_pairs
from mabos_cli.core.records import NamedTuple

# So many things must a text name to be about something that no heading need tell; a name counts for two.
_NAMED = 3
_VALUE = 5  # so many words without a verb are a value
_CLEARLY = 0.1  # by how much an older belief must be surer before its age says nothing
_CONCLUSIONS = frozenset(("inference", "consolidation", "reasoning", "bdi-cycle", "rule", "memory/checkpoints"))
Show = Callable[[int, int], None]


class Conflict(NamedTuple):
    """Two beliefs that disagree.

    The kind is negation, antonym, number, date, value or superseded; the severity is the lesser certainty;
    newer is a, b or nothing; the key names the pair, whatever the order, the files and the lines.
    """

    a: Belief
    b: Belief
    kind: str
    subject: str
    severity: float
    newer: str
    reason: str
    key: str

    @property
    def action(self) -> str:
        """Returns what somebody should do about it."""
        low, high = sorted((self.a, self.b), key=lambda belief: trust_rank(belief.trust))
        if not trust_rank(low.trust) and trust_rank(high.trust):
            return f"{low.id or low.place} is untrusted: check it, or remove it"
        if witness := next((side for side in (self.a, self.b) if side.is_witness), None):
            verb = "retract" if witness.path == "fact" else "forget"
            return f"revise the belief, or {verb} {witness.id}"
        if not self.newer:
            return "find out which holds, and revise the other"
        older, newer = (self.b, self.a) if self.newer == "a" else (self.a, self.b)
        if older.certainty - newer.certainty > _CLEARLY:
            return f"{newer.id or newer.place} is newer, {older.id or older.place} is surer: find out which holds"
        return f"the older one, {older.id or older.place}, is likely stale: revise or remove it"

    @property
    def stronger(self) -> tuple[str, str]:
        """Returns the side that is more firmly entrenched, a, b or neither, and by what: trust, certainty, source, date."""
        for why, a, b in (
            ("trusted more", trust_rank(self.a.trust), trust_rank(self.b.trust)),
            ("surer", self.a.certainty, self.b.certainty),
            ("not concluded from something else", not _is_concluded(self.a), not _is_concluded(self.b)),
            ("newer", self.newer == "a", self.newer == "b"),
        ):
            if abs(a - b) > (_CLEARLY if why == "surer" else 0):
                return "a" if a > b else "b", why
        return "", ""

    @property
    def goals(self) -> tuple[str, ...]:
        """Returns the goals that either belief supports."""
        return tuple(sorted({*self.a.supports, *self.b.supports}))


def _is_concluded(belief: Belief) -> bool:
    """Returns whether a belief was derived, by rules or from others, rather than learned from its source."""
    return bool(belief.rests) or belief.source.partition(":")[0].casefold() in _CONCLUSIONS


class Reading(NamedTuple):
    """A belief as it is compared: its subject in one form and as roots, its claims, and the roots of all that they say.

    A heading can be a claim as well: then it is stated, and its own claims are the titles.
    """

    belief: Belief
    subject: str
    about: frozenset[str]
    claims: tuple[Claim, ...]
    content: frozenset[str]
    titles: tuple[Claim, ...]
    stated: bool

    @property
    def marks(self) -> Marks:
        """Returns what the belief is found by; words that exclude each other count as one, so that it meets its opposite."""
        opposed, classes = families(), exclusive()
        found = frozenset(opposed.get(word) or classes.get(word, word) for word in self.content | self.about)
        return Marks(self.subject, found, len(self.claims))


def find_conflicts(
    beliefs: Sequence[Belief],
    floor: float = 0.6,
    chunk: int = 50,
    show: Show | None = None,
    cut: Cut | None = None,
    witnesses: Sequence[Belief] = (),
    memo: "Memo | None" = None,
) -> list[Conflict]:
    """Returns the conflicts among beliefs that are more certain than the floor, one for each key, the most severe first.

    Beliefs are read chunk by chunk, and compared across all of them; `show` is called after each chunk with how many are
    read, `cut` for each subject with how many pairs of its beliefs were too many to compare. Witnesses are facts and memories
    as beliefs: they are compared with beliefs, and not with one another.
    What a memo knows of earlier comparisons is not done again, and it knows these then.

    >>> one = Belief("Market demand is growing", "", 0.85, line=1)
    >>> two = Belief("Market demand is declining", "", 0.78, line=2)
    >>> [(c.kind, c.severity, c.reason) for c in find_conflicts([one, two])]
    [('antonym', 0.78, 'growing against declining')]
    """
    sure = sorted(
        (belief for belief in (*beliefs, *witnesses) if belief.certainty > floor and belief.is_held), key=_order
    )
    work = _Comparing(sure, memo or Memo({}, {}))
    for start in range(0, len(sure), max(1, chunk)):
        work.mark(sure[start : start + max(1, chunk)])
        if show:
            show(len(work.marks), len(sure))
    pairs = [(i, j) for i, j in candidate_pairs(work.marks) if not (sure[i].is_witness and sure[j].is_witness)]
    compared = [work.compare(i, j) for i, j in affordable_pairs(pairs, work.marks, cut)]
    work.keep()
    ranked = sorted(filter(None, compared), key=lambda c: (-c.severity, c.subject, c.key, _order(c.a), _order(c.b)))
    return list({conflict.key: conflict for conflict in reversed(ranked)}.values())[::-1]


class Memo(NamedTuple):
    """Holds what comparing came to: the marks of beliefs, and how pairs of them disagree, by digests of what they say."""

    marks: dict[str, Marks]
    verdicts: dict[str, Disagreement | None]


class _Comparing:
    """One comparison of beliefs. Only those are read that a memo does not know, or that are compared for the first time."""

    def __init__(self, beliefs: Sequence[Belief], memo: Memo) -> None:
        self._beliefs, self._memo = beliefs, memo
        self._read: dict[int, Reading] = {}
        self._verdicts: dict[str, Disagreement | None] = {}
        self._digests: list[str] = []
        self.marks: list[Marks] = []

    def mark(self, beliefs: Sequence[Belief]) -> None:
        """Takes the next beliefs."""
        for belief in beliefs:
            content = "\t".join((belief.subject, belief.text, belief.updated, belief.about, belief.group))
            digest = blake2b(content.encode("utf-8", "replace"), digest_size=8).hexdigest()
            marks = self._memo.marks.get(digest)
            if marks is None:
                marks = self._open(len(self.marks)).marks
            self._digests.append(digest)
            self.marks.append(marks)

    def compare(self, i: int, j: int) -> Conflict | None:
        """Returns the conflict of two beliefs, if there is one."""
        pair = f"{self._digests[i]} {self._digests[j]}"
        if pair in self._memo.verdicts:
            found = self._memo.verdicts[pair]
        else:
            found = _find_disagreement(self._open(i), self._open(j))
        self._verdicts[pair] = found
        if found is None:
            return None
        return _make_conflict(self._beliefs[i], self._beliefs[j], (self.marks[i].subject, self.marks[j].subject), found)

    def keep(self) -> None:
        """Leaves in the memo what this comparison came to, and nothing else."""
        self._memo.marks.clear()
        self._memo.marks.update(zip(self._digests, self.marks, strict=True))
        self._memo.verdicts.clear()
        self._memo.verdicts.update(self._verdicts)

    def _open(self, number: int) -> Reading:
        if number not in self._read:
            self._read[number] = read_belief(self._beliefs[number])
        return self._read[number]


def _order(belief: Belief) -> tuple[str, int, str, str, str, float, str]:
    """Returns a key to sort beliefs by, so that the order in which they are given does not matter."""
    return belief.path, belief.line, belief.subject, belief.text, belief.updated, belief.certainty, belief.id


def read_belief(belief: Belief) -> Reading:
    """Returns a belief with its claims: those of its text, or of its subject when that is the whole statement.

    What a row is about is the heading of its statement.
    """
    if belief.about and not belief.text.strip():
        belief = belief._replace(subject=belief.about, text=belief.subject)
    updated = find_time(belief.updated)
    now = updated.date() if updated else None
    bare = not belief.text.strip()
    claims = read_claims(belief.subject if bare else belief.text, now)
    names = [word for claim in claims for name in claim.names for word in re.findall(r"\w+", name.key)]
    content = frozenset(map(root, names)).union(*(claim.terms for claim in claims))
    # A letter alone is which one it is, even where it looks like an article: building A.
    letters = re.findall(r"(?<=\s)[A-Z]\b", belief.subject)
    about = frozenset(map(root, (*subject_words(belief.subject), *map(str.casefold, letters))))
    # Two words name a thing; it takes three to say something about it.
    titles = claims if bare else read_claims(belief.subject, now) if len(about) > 2 else ()
    stated = bare or is_statement(belief.subject)
    return Reading(belief, fold_subject(belief.subject), about, claims, content, titles, stated)


def _find_disagreement(a: Reading, b: Reading) -> Disagreement | None:
    """Returns how two beliefs disagree, if they do."""
    one, two = a.belief, b.belief
    if one.about and two.about and fold_subject(one.about) != fold_subject(two.about):
        return None
    same = bool(a.subject) and a.subject == b.subject
    if same and sides_of(one.subject) != sides_of(two.subject):
        return None
    if are_groups_apart(one.group, two.group) and not _are_about_one(a, b):
        return None
    answers = [truth_of(belief.text) for belief in (one, two)]
    if same and None not in answers and answers[0] != answers[1]:
        return Disagreement("negation", "yes against no")
    found = _find_first(a.titles, b.titles, Context()) if a.stated or b.stated else None
    context = None if found else _context(a, b, same)
    values = [_is_value(each) and not same for each in (a, b)]
    sides = [
        (join_claims(each.titles, each.claims[0]),) if is_value else each.claims
        for each, is_value in zip((a, b), values, strict=True)
    ]
    return found or (_find_first(sides[0], sides[1], context) if context else None)


def _context(a: Reading, b: Reading, same: bool) -> Context | None:
    """Returns what two beliefs are about; None when their headings tell two things apart."""
    content = a.content | b.content
    is_headed = all(each.belief.text.strip() for each in (a, b)) and not all(map(_is_value, (a, b)))
    is_apart = is_headed and bool(a.about - b.about - content and b.about - a.about - content)
    if is_apart and (all(map(_is_short, (a, b))) or headings_differ(a.belief.subject, b.belief.subject, content)):
        return None
    heads = tuple(each.about if each.belief.text.strip() else frozenset[str]() for each in (a, b))
    lasts = [head_word(each.belief.subject) for each in (a, b)]
    return Context(
        (heads[0], heads[1]),
        (root(lasts[0]) if _is_short(a) else "", root(lasts[1]) if _is_short(b) else ""),
        is_one=same,
        has_single=is_headed and any(map(is_single, lasts)),
        is_measure=same and root(lasts[0]) in word_class("measures"),
        is_apart=is_apart,
        later={"a": -1, "b": 1}.get(_newer(a.belief, b.belief), 0),
    )


def _make_conflict(one: Belief, two: Belief, subjects: tuple[str, str], found: Disagreement) -> Conflict:
    """Returns the conflict of two beliefs that disagree."""
    same = bool(subjects[0]) and subjects[0] == subjects[1]
    subject = one.subject if same else " / ".join(filter(None, (one.subject, two.subject)))
    severity, key = min(one.certainty, two.certainty), _key((one, two), subjects)
    return Conflict(one, two, found.kind, subject, severity, _newer(one, two), found.reason, key)


def _newer(one: Belief, two: Belief) -> str:
    """Returns which of two beliefs is newer, a, b or nothing."""
    first, second = find_time(one.updated), find_time(two.updated)
    return ("a" if first > second else "b") if first and second and first != second else ""


def _are_about_one(a: Reading, b: Reading) -> bool:
    """Returns whether two beliefs name one thing, whatever lists they stand in."""
    names = [{name.key for claim in each.claims for name in claim.names} for each in (a, b)]
    terms = [{term for claim in each.claims for term in claim.terms} for each in (a, b)]
    return bool(names[0] & names[1]) or len(terms[0] & terms[1]) + 1 >= _NAMED


def _is_value(reading: Reading) -> bool:
    """Returns whether the text of a belief is a value, which says something with its heading only; a number there tells one
    heading from another."""
    has_both = bool(reading.belief.text.strip() and reading.titles and reading.claims)
    is_value = has_both and _is_short(reading) and reading.about.isdisjoint(reading.claims[0].terms)
    return is_value and not any(claim.quantities for claim in reading.titles)


def _is_short(reading: Reading) -> bool:
    """Returns whether a belief begins with a few words without a verb."""
    return all(len(claim.words) <= _VALUE and not FINITE & {*claim.words} for claim in reading.claims[:1])


def _find_first(one: Sequence[Claim], two: Sequence[Claim], context: Context) -> Disagreement | None:
    """Returns the first disagreement of claims that the other side does not state as well."""
    left = [x for x in one if not any(is_restated(x, y) for y in two)]
    right = [y for y in two if not any(is_restated(y, x) for x in one)]
    return next(filter(None, (disagree(x, y, context) for x in left for y in right)), None)


def _key(pair: Sequence[Belief], subjects: Sequence[str]) -> str:
    """Returns a name of the pair that stays when lines move, files are renamed or the order changes."""
    from hashlib import sha256  # late: it loads OpenSSL

    texts = ((subject, each.text.strip() or each.subject) for subject, each in zip(subjects, pair, strict=True))
    sides = sorted(f"{subject}\t{' '.join(words(text))}" for subject, text in texts)
    return sha256("\n".join(sides).encode("utf-8", "replace")).hexdigest()[:16]
