"""Texts made ready to be split into clauses: one form for what can be written in several."""

import re

from mabos_cli.core.language.moments import write_english

_ABBREVIATED = r"\b(Mr|Ms|Mrs|Dr|St|vs|No|Inc|Ltd|Co|approx|ca|e\.g|i\.e)\."
# A cell of a table gives the value first and then, behind a comma, what else there is to say about it.
_CELL = r"^((?:[a-z\d€$£][^\s,;:.]*)(?: [^\s,;:.]+){0,4}),(?= )(?! (?:and|or)\b)"
# A label and its value: what the label names is so much, and another label is about something else.
_LABEL = r"^(?!(?:Note|Update|Updated|Decision|Important|Warning|Info|Now|Today|Correction|Reminder|Fact)\b)"
_LABEL += r"([^\W\d_][\w'-]*(?: [\w'-]+){0,2}): (?=(?:\S*[^\s,;.:] ){0,3}\S*[^\s,;.:](?:[.,;]?$|[.,;]\s))"
_LEAD = r"^((?:On|In|At|For|With|Under|During|Among|Within|Between|From|Since|Until|(?:Even )?(?:[Aa]fter|[Bb]efore))(?: [^\s,.;]+){1,4}), "
_FORMS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    # What must occur in a text for the pattern to be tried, the pattern, and what to write instead.
    (
        (" way ", "ed by"),
        r"\b(?:given|made) way (?:to|for) |\b(?:superseded|supplanted|succeeded) by ",
        "been replaced by ",
    ),
    (("than before",), r"\b(?:fewer|less) ((?:[a-z]+ ){1,3})than before\b", r"declining \1"),
    (("than before",), r"\bmore ((?:[a-z]+ ){1,3})than before\b", r"growing \1"),
    # What has been replaced is over; what replaced it is something else to say.
    (
        (" replaced ",),
        r"\b((?:is|are|was|were|been) replaced) (?:by|with) (?=(?:an? |the |our )?[a-z])",
        r"\1 retired; ",
    ),
    ((" over from ",), r"\b(?:handed|passed|turned) over from ", "moved from "),
    ((" over to ",), r"\b(?:handed|passed|turned|gave) ((?:[\w']+ ){1,4}?)over to ", r"\1moved to "),
    # What is done instead of something else is no longer done so.
    (
        (" instead of being ",),
        r"(?:^|(?<=[.;] ))([^.;]*?) now ([^.;]*) instead of being ",
        r"\1 now \2; \1 is no longer ",
    ),
    ((" now that ",), r" now that ", " now; "),
    # A condition belongs to what it conditions.
    ((",",), r"\b((?:[Ii]f|[Ww]hen|[Ww]henever|[Uu]nless|[Ww]hile|[Aa]s soon as) [^,.;]*),", r"\1"),
)


def plain_text(text: str) -> str:
    """The text without marks that say nothing, and with one form for what can be written in several.

    >>> plain_text("Scones: 12 minutes."), plain_text("Neither dogs nor cats may enter")
    ('Scones is 12 minutes.', 'no dogs may enter; no cats may enter')
    """
    plain = re.sub(r"[\ue000-\uf8ff*`\"“”_]", " ", text)
    plain = "\n".join(" ".join(line.split()) for line in plain.replace("\u2019", "'").strip().split("\n"))
    if "'s" in plain:
        plain = re.sub(r"'s(?=[\s.,;:!?)]|$)", "", plain)
    if "." in plain:
        plain = re.sub(_ABBREVIATED, r"\1", write_english(plain))
    for signs, pattern, form in _FORMS:
        if any(sign in plain for sign in signs):
            plain = re.sub(pattern, form, plain)
    if "either " in plain and " nor " in plain:
        plain = re.sub(r"([^.;]*?)\b[Nn]either ([^.;,]{1,40}?) nor ([^.;]+)", _neither, plain)
    if ", " in plain:
        # Where or when it holds belongs to what holds, if it comes first.
        plain = re.sub(_CELL, r"\1;", re.sub(_LEAD, r"\1 ", plain))
    return re.sub(_LABEL, r"\1 is ", plain) if ": " in plain else plain


def _neither(match: re.Match[str]) -> str:
    """Two denials in place of one that has neither and nor; the second thing has as many words as the first."""
    before, one, after = match[1], match[2], match[3].split(" ")
    size = len(one.split(" "))
    two, rest = " ".join(after[:size]), " ".join(after[size:])
    return "; ".join(" ".join(f"{before}no {each} {rest}".split()) for each in (one, two))
