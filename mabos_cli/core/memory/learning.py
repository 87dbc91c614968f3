"""Learning: the few statements of a conversation that are worth keeping, typed and readable by themselves.

What counts is how something is put, not what it is about: a request that holds from now on is an instruction, a wish of one's own a
preference, a choice a decision. The cues are closed classes of the language, listed once here; what has none of them is left out, for
noise that is kept pushes out what matters.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from mabos_cli.core.language.similar import likeness, word_set
from mabos_cli.core.language.statements import name_days, split_statements

PERSON, AGENT, TOOL = "user", "assistant", "tool"
_LONGEST = 400  # characters of what is kept
_LONG_TURN = 2000  # characters from which on a message is taken to hold text that was pasted into it
_QUOTED = 0.75  # of the words of a statement that a tool gave before: then it is the tool's

_FILLER = re.compile(
    r"(?:(?:ok(?:ay)?|yes|yeah|yep|sure|right|great|cool|nice|perfect|thanks(?: a lot)?|thank you|btw|by the way|also|oh|ah|hey|hi|so|well|"
    r"and|but|hm+|anyway|one more thing|another thing|just|please|fyi|quick note|two things|first|second|finally|ps|p\.s\.|ugh|"
    r"lol|haha|listen|look|alright|good|got it|fine|plus)\b[\s,.:;!–—-]*)+",
    re.IGNORECASE,
)
_EXPLICIT = re.compile(
    r"(?:(?:can|could|would|will) you (?:please |also )?|i(?:'d| would) like you to |i want you to |you should |let's |"
    r"please |always )?(?:remember|note|keep in mind|bear in mind|don'?t forget|do not forget|never forget|make a note|take note|"
    r"take a note|write (?:this |that |it )?down|save (?:this|that|it)|store (?:this|that|it)|memori[sz]e(?: this| that)?|"
    r"for the record|for future reference|for (?:your|later) reference|for context|just so you know|heads[- ]up|fyi|"
    r"note to self|so you know|you should know|important|worth knowing)\b(?: of)?(?: this| it)?(?: (?:that|for (?:next time|later|the future|future sessions)))*[\s,:;–—-]*",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?P<label>final decision|decision|decided|resolution|lessons? learned|lesson|learning|takeaway|root cause|finding|rule|policy|"
    r"convention|guideline|constraint|requirement|instruction|preference|plan|next steps?|outcome|result|status|fact|correction)"
    r"\s*(?::|[–—]| - )\s*(?P<rest>\S.*)",
    re.IGNORECASE,
)
_LABELS = {
    "decision": "final decision,decision,decided,resolution",
    "lesson": "lesson learned,lessons learned,lesson,lessons,learning,takeaway,root cause,finding",
    "instruction": "rule,policy,convention,guideline,constraint,requirement,instruction",
    "preference": "preference",
    "plan": "plan,next step,next steps",
    "outcome": "outcome,result,status",
    "fact": "fact,correction",
}
_TYPE_OF = {label: kind for kind, labels in _LABELS.items() for label in labels.split(",")}
_QUESTION = re.compile(
    r"(?:what|why|how|when|where|who|which|whose)\b.{0,12}\b(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|'s|much|many)\b"
    r"|(?:is|are|was|were|do|does|did|can|could|would|will|shall|should|have|has|may|any)\s+(?:you|we|i|it|there|this|that|the|he|she|they|our|my|chance|idea)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"(?:can|could|would|will) you (?:please |kindly )?(?=\w)|would you mind |i(?:'d| would) (?:like|want|prefer) (?:it if )?you (?:to |could )?|i want you to |i need you to ",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:always|never|from now on|from here on|going forward|in (?:the )?future|every time|each time|whenever|by default|at all times|"
    r"no matter what|without exception|without asking|until further notice|unless (?:i|we|told|asked|otherwise)|as a rule|under no circumstances|"
    r"no exceptions|for all|for every|in all|in every|on every|before (?:any|every|each)|after (?:any|every|each)|any ?more|no longer|ever again|"
    r"(?:on|at|over) (?:mon|tues|wednes|thurs|fri|satur|sun)days|on weekends|at night|at weekends|all (?:new|our|my)|only ever|ever)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"(?:(?:please|you|we|everyone|nobody|no one|people|agents?|they) )?(?:(?:must|should|shall|may|can|need to|have to|has to|are to|ought to|will) (?:not )?|do not |don'?t |never |always |only |avoid |stop |make sure |be sure |ensure |do )"
    r"|(?:from now on|going forward|in (?:the )?future|as a rule|by default|whenever|every time|each time|under no circumstances|before|after|if|when|unless|for)\b",
    re.IGNORECASE,
)
_NORM = re.compile(
    r"\b(?:must(?: not)?|mustn'?t|may not|(?:is|are) (?:not |never )?(?:allowed|required|forbidden|supposed|to be)|(?:needs?|requires?) (?:the |an? |my |our )?"
    r"(?:approval|sign[- ]?off|review|permission|confirmation)|(?:has|have) to be|should (?:always|never|not|only)|shouldn'?t|are off[- ]limits|is off[- ]limits)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:if|when|unless|whenever|before|after) (?!you'?re done|that|this|it\b|you (?:are )?(?:done|finish))[^,]{4,80}, (?:please |then |you |we |do |don'?t |never |always )?[a-z]+\b",
    re.IGNORECASE,
)
_LIKES = re.compile(
    r"\b(?:i|we|my \w+|our \w+|[A-Z]\w+)(?:'d| would| really| strongly| much| generally| usually| personally| absolutely| just| also| do| all| still| now|'m| am| are)* "
    r"(?:prefers?|likes?|loves?|enjoys?|hates?|dislikes?|detests?|favou?rs?|rather|can'?t stand|cannot stand|don'?t like|doesn'?t like|do not like|does not like|"
    r"don'?t want|do not want|doesn'?t want|don'?t eat|doesn'?t eat|don'?t drink|doesn'?t drink|not a (?:big )?fan|a (?:big )?fan of|never eats?|never drinks?|into|care more about)\b"
    r"|\b(?:my|our|his|her|\w+'s) (?:favou?rite|preference|preferred)\b|\bi (?:always|never|usually|only) (?!said|saw|got|knew|thought|heard|meant)\w+|\bworks best for (?:me|us)\b",
)
_NO_LIKE = re.compile(
    r"\b(?:like|love|hate|enjoy) (?:it|that|this|how|where|your|to (?:see|know|get|have|add|ask|understand|hear))\b|\b(?:i|we)(?:'d| would) (?:like|love|want)\b|looks? like|feels? like|sounds? like",
    re.IGNORECASE,
)
_CHOICE = (
    r"go(?:ing)? with|us(?:e|ing)|switch(?:ing)?|stick(?:ing)? (?:with|to)|stay(?:ing)? (?:with|on)|drop(?:ping)?|adopt(?:ing)?|mov(?:e|ing) (?:to|off|away|from|our|the|everything|all|over)|"
    r"migrat(?:e|ing)|replac(?:e|ing)|standardi[sz](?:e|ing)|postpon(?:e|ing)|delay(?:ing)?|cancel(?:l?ing)?|keep(?:ing)?|retir(?:e|ing)|sunset(?:ting)?|settl(?:e|ing) on|hold(?:ing)? off|skip(?:ping)?|"
    r"hir(?:e|ing)|pric(?:e|ing)|charg(?:e|ing)|rename|renaming|split(?:ting)?|outsourc(?:e|ing)|launch(?:ing)?"
)
_DECIDES = re.compile(
    r"\b(?:decided|we(?:'ve| have)? (?:chose|chosen|picked|selected|agreed|settled|opted|went with|signed off|approved|committed|ruled out|dropped|rejected|abandoned|"
    r"cancell?ed|postponed)|(?:i|they|\w+)(?:'ve| have| has)? (?:chose|chosen|picked|agreed (?:to|on|that)|settled on|opted|signed off|approved|ruled out)|"
    rf"let'?s (?:not )?(?:{_CHOICE})|(?:we|i)(?:'ll| will|'re going to| are going to) (?:not )?(?:{_CHOICE})|(?:we|i)(?:'re| are|'m| am) (?:not )?(?:now )?(?:{_CHOICE})|(?:we|i) won'?t|"
    r"we(?:'re| are) not going to|it'?s (?:decided|settled|final)|(?:the )?(?:final )?(?:decision|verdict|call|choice) (?:is|was)|we(?:'re| are) (?:dropping|ditching|killing))\b",
    re.IGNORECASE,
)
_LEARNS = re.compile(
    r"\b(?:turns out|turned out|root cause|(?:i|we)(?:'ve| have)? (?:just )?(?:learned|learnt|realised|realized|found out|discovered)|the hard way|next time|lesson|"
    r"the (?:real |actual |underlying |whole )?(?:problem|issue|culprit|cause|trick|fix|solution|key|reason|mistake|catch|gotcha|workaround)(?: here)? (?:was|is|turned)|"
    r"should(?:n'?t)? have|what (?:worked|helped|fixed it)|fixed (?:it|this|the \w+) by|solved (?:it|this) by)\b",
    re.IGNORECASE,
)
_ACHIEVED = re.compile(
    r"\b(?:(?:shipped|launched|released|signed|closed|won|lost|finished|completed|migrated|hired|raised|reached|passed|failed|renewed|churned|delivered|published|submitted|"
    r"sold|bought|rolled out|rolled back|went live|went down|cut over|doubled|halved|dropped|grew|fell|rose|increased|decreased|approved|rejected|cancell?ed|accepted|resigned|quit|"
    r"is live|are live|is done|is out|came in|paid off|worked out|hit)\b)",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|'ll|going to|plan(?:s|ning)? to|scheduled|due|deadline|aim(?:ing)? (?:to|for)|want to|need to|have to|has to|must|starts?|begins?|ends?|expires?|arrives?|flying|travell?ing|visiting|meeting|moving|presenting|launching|leaving|intend to|target(?:ing)?)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\(\d{4}-|\(week of|\((?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}\)|\b\d{4}-\d\d-\d\d\b|"
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december) \d{1,2}\b|\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:january|february|march|april|may|june|july|august|september|october|november|december)\b|"
    r"\b(?:by|until|before|on|in|end of|mid)[ -](?:the )?(?:end of )?(?:q[1-4]|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|the year|year[- ]end|spring|summer|autumn|fall|winter)\b",
    re.IGNORECASE,
)
_STATES = r"(?:is|are|was|were|has|have|owns?|leads?|runs?|works?|lives?|handles?|manages?|reports?|uses?|joined|left|moved|speaks?|costs?|expires?|starts?|ends?|charges?|pays?|supports?|employs?|needs?|takes?|hosts?|sits?|sells?|serves?|deploys?|belongs?|means?|stands|refers?|goes|comes|ships?|requires?|includes?|holds?|keeps?|closes?|opens?|studies|teaches|plays?|bills?|weighs?|likes?|turned|turns|married|graduated|named|called|covers?|contains?|points?|stores?|accepts?|depends?|meets?|graduates?|knows?|wants?|became|replaced|replaces?|switched|doesn'?t|don'?t|can'?t|cannot|won'?t|isn'?t|aren'?t|hasn'?t)"
_ABOUT = re.compile(
    rf"(?:(?:my|our|his|her|their|your)\b.{{2,60}}?\b{_STATES}\b"
    rf"|(?:[A-Z][\w'’&.-]*)(?: (?:and |of |the |de |van |von )?[A-Z][\w'’&.-]*)*(?:'s?|’s)?(?: [\w-]+){{0,4}}? {_STATES}\b"
    rf"|(?:the|all|every|each|both|any|an?|\w+'s) [\w' -]{{2,60}}? {_STATES}\b"
    r"|(?:i|we) (?:also |mostly |mainly |currently |usually |now |both |all |only |still )?(?:work|live|own|run|have|use|speak|study|teach|lead|manage|report|sell|charge|bill|ship|host|serve|employ|support|moved|started|joined|grew up|was born|were founded|pay|keep|store|deploy|can'?t|cannot|don'?t (?:have|use|work|sell|ship|support|drive)|turned|got married|got engaged|got a|graduated|play|collect|meet|train)\b"
    r"|(?:i'm|i am|we're|we are) (?:currently |now |both |also |not |mostly |based |allergic |responsible |married |vegetarian |vegan |lactose |colou?r-?blind |diabetic |left-handed |pregnant |retired |on (?:call|parental|leave))?(?:an?\b|the\b|from\b|in\b|at\b|on\b|based|to\b|for\b|[A-Z]|\d|intolerant|vegetarian|vegan|allergic|married|left-handed|diabetic|gluten))",
)
_VALUE = re.compile(
    r"\d|(?<=[\w,;] )[A-Z][\w'’-]*|\"[^\"]+\"|`[^`]+`|https?:|@\w|\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december)s?\b"
)
_PASSING = re.compile(
    r"\b(?:errors?|exceptions?|tracebacks?|failing|fails|failed|broken|crash\w*|stuck|typos?|compil\w+|line \d+|this (?:file|function|test|branch|code|bug|pr|error|line|page|script|part|one)|the (?:test|tests|build|error|"
    r"output|code|script|function|file|page|branch|diff|log|logs|loop|variable|import|button|method|class|query) (?:is|are|was|were|has|have|doesn'?t|don'?t|looks?|seems?|needs?|still|now|gives?|prints?)|still (?:not|fails|broken|see|get)|doesn'?t work|not working|works now|"
    r"\w+ing (?:an?|the|this|that|it|some) |right now|at the moment|i see\b|i get\b|i got\b|as you can see)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|might|not sure|i think|i guess|i suppose|probably|possibly|i wonder|wondering|what if|suppose|could be|should we|shall we|i was thinking|thinking (?:about|of)|considering|would be (?:nice|good|great|cool)|seems?|apparently|i believe|let me|let's see|hypothetically)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:he|she|they|them|him|his|her|hers|their|theirs|it|its|it's|this|that|that's|these|those|there|both of them|the former|the latter|same)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?:he|she|they|it|its|it's|this|that|that's|these|those|his|her|their|theirs|both|there|same)\b", re.IGNORECASE
)
_NAME = re.compile(r"(?<!^)\b[A-Z][\w'’-]+|\b(?:my|our|the) \w+")
_REASON = re.compile(
    r"(?:because|since|reason|the reason|that'?s because|this is because|their|otherwise|it'?s (?:too|much)|that way|mostly because|we (?:got|had|lost))\b",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"(?:no+|nope|wrong|actually|correction|sorry|wait|not quite|hold on|i meant|i mean|scratch that|that'?s (?:wrong|not right|incorrect|outdated|old)|update)\b[\s,.:;!–—-]*",
    re.IGNORECASE,
)
_IT_IS = re.compile(
    r"(?:it|that|this|they)(?:'s|'re| is| are| was| were| should be| must be| will be| has to be)? (?:now |actually |really )?(?P<value>\S.*)",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"(?P<head>.*?\b(?:is|are|was|were|costs?|will be|starts? (?:at|on)|runs? (?:at|on|in)|happens? (?:at|on)|lives? (?:at|in)|set to|due (?:on|by)?|called|named))\s+(?P<value>\S.*)"
)
_INSTEAD = re.compile(r"(?P<new>[^,]{1,60}?),? not (?P<old>[^,.]{1,40})[.!]?$", re.IGNORECASE)
_KIN = re.compile(
    r"\b(?:wife|husband|partner|girlfriend|boyfriend|fianc\w+|son|daughter|kids?|child|children|mother|mom|mum|father|dad|brother|sister|parents|aunt|uncle|cousin|grandm\w+|grandp\w+|boss|manager|colleague|friend|neighbou?r|doctor|dentist|birthday|nickname|allergic|vegetarian|vegan)\b",
    re.IGNORECASE,
)
_PERSON_VERB = re.compile(
    r"^[A-Z][a-z'’-]+(?: [A-Z][a-z'’-]+)? (?:lives|works|joined|reports|speaks|likes|leads|handles|manages|left|moved|is (?:our|my|the|an?|on|from|allergic|married|responsible|in charge)|was promoted|owns|turned|studies|teaches|plays)\b"
)


class Turn(NamedTuple):
    """What somebody said in a session: the person, the agent, or a tool, whose text may come from outside."""

    author: str
    text: str
    day: date | None = None
    is_outside: bool = False


class Learned(NamedTuple):
    """A statement that is worth keeping: its type, the turn that it comes from, and whether only a tool vouches for it."""

    content: str
    type: str
    turn: int
    is_quoted: bool = False


def learn(turns: Sequence[Turn], first: int = 0) -> list[Learned]:
    """Returns what the turns of one session say that is worth keeping, in order; the turns before `first` are only context.

    >>> learn([Turn("user", "Thanks! Please remember: we never deploy on Fridays. Can you run the tests?")])
    [Learned(content='We never deploy on Fridays.', type='instruction', turn=0, is_quoted=False)]
    """
    found: list[Learned] = []
    shown: list[frozenset[str]] = []  # what tools gave, by its words
    came_from_outside = False
    before: list[str] = []  # what was said before, for what a statement refers to
    for number, turn in enumerate(turns):
        if turn.author == TOOL:
            came_from_outside |= turn.is_outside
            shown += [word_set(line) for line in split_statements(turn.text)[:500]]
            continue
        statements = split_statements(turn.text)
        if number >= first:
            picked = _pick_person(turn, statements, before) if turn.author == PERSON else _pick_agent(turn, statements)
            for content, kind in picked:
                is_quoted = turn.author == AGENT and (came_from_outside or _is_quoted(content, shown))
                found.append(Learned(content, kind, number, is_quoted))
        before = statements[-20:] or before
    return found


def _is_quoted(content: str, shown: Sequence[frozenset[str]]) -> bool:
    words = word_set(content)
    return any(words and len(words & line) >= _QUOTED * len(words) for line in shown)


def _pick_agent(turn: Turn, statements: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields what an agent marks as decided, learned or achieved; all else that it says is talk."""
    for statement in statements:
        if label := _LABEL.fullmatch(statement.strip("*_ ")):
            kind = _TYPE_OF[label["label"].lower()]
            if kind in ("decision", "lesson", "outcome") and len(label["rest"].split()) > 2:
                yield _finish(label["rest"].strip("*_ "), turn), kind


def _pick_person(turn: Turn, statements: Sequence[str], before: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields what a person said that is worth keeping, as text and type."""
    is_long = len(turn.text) > _LONG_TURN
    for at, raw in enumerate(statements):
        text = _FILLER.sub("", raw, count=1) if (match := _FILLER.match(raw)) and match.end() < len(raw) else raw
        told = _explicit(text)
        if is_long and not told and at > 2 and at < len(statements) - 2:
            continue
        kind, text = told or _judge(text, [*before, *statements[:at]], turn)
        if not kind:
            continue
        text = _standing_alone(text, statements[:at] or before[-2:], bool(told))
        if not text:
            continue
        after = statements[at + 1] if at + 1 < len(statements) else ""
        if _REASON.match(after) and len(text) + len(after) < _LONGEST:
            text = f"{text.rstrip('.')}. {after}"
        yield _finish(text, turn), kind


def _explicit(text: str) -> tuple[str, str] | None:
    """Returns the type and text of what somebody asks to keep, or labels; None where nobody does."""
    if label := _LABEL.fullmatch(text.strip("*_ ")):
        return (
            (_TYPE_OF[label["label"].lower()], label["rest"].strip("*_ ")) if len(label["rest"].split()) > 1 else None
        )
    match = _EXPLICIT.match(text)
    rest = text[match.end() :].strip() if match else ""
    if (
        not match
        or len(rest.split()) < 2
        or re.match(r"(?:when|how|where|what|why|if|the (?:time|last)|me\b)", rest, re.IGNORECASE)
    ):
        return None
    if text.endswith("?"):
        rest = rest.rstrip("?") + "."
    if to_do := re.match(r"to (?!be\b)", rest):
        rest = rest[to_do.end() :]
        return ("instruction" if _STANDING.search(rest) else "plan"), rest
    return (_kind_of(rest, None) or "fact"), rest


def _judge(text: str, before: Sequence[str], turn: Turn) -> tuple[str, str]:
    """Returns the type of a statement, empty where it is not worth keeping, and the statement as it is to be kept."""
    request = _REQUEST.match(text)
    if request and _STANDING.search(text):
        return "instruction", text[request.end() :].rstrip("?")
    if text.endswith("?") or _QUESTION.match(text):
        return "", ""
    corrects = _CORRECTS.match(text)
    if corrects and len(text) > corrects.end():
        rest = text[corrects.end() :]
        if mended := _correct(rest, before):
            return "fact", mended
        text = rest
    if len(text.split()) < 3:
        return "", ""
    return _kind_of(text, turn), text


def _kind_of(text: str, turn: Turn | None) -> str:
    """Returns the type of a statement by how it is put; empty where it has no cue."""
    dated = name_days(text, turn.day) if turn and turn.day else text
    is_i = re.match(r"(?:i|i'm|i'd|i've|my)\b", text, re.IGNORECASE)
    if (
        _STANDING.search(text)
        and not is_i
        and (
            _IMPERATIVE.match(text)
            or re.match(r"(?:we|you|nobody|everyone|all|no|any|every|[a-z]+ )", text)
            or _NORM.search(text)
            or _is_order(text)
        )
    ):
        if (
            not _DECIDES.match(text)
            and not _OPENS.match(text)
            and not re.match(r"(?:the|[A-Z]\w+ (?:is|has|was|\w+s)\b)", text)
        ):
            return "instruction"
    if (
        _NORM.search(text)
        and not is_i
        and not _OPENS.match(text)
        and not _PASSING.search(text)
        and not _HEDGED.search(text)
    ):
        return "instruction"
    if (
        _CONDITION.match(text)
        and not _HEDGED.search(text)
        and not re.match(r"(?:if|when|after|before) (?:you|we|i)\b", text, re.IGNORECASE)
    ):
        return "instruction"
    if _LIKES.search(text) and not _NO_LIKE.search(text) and not re.match(r"(?:would|do) you", text, re.IGNORECASE):
        return "preference"
    if _HEDGED.search(text):
        return ""
    if _DECIDES.search(text) and not _PASSING.search(text):
        return "decision"
    if _LEARNS.search(text) and len(text.split()) > 4:
        return "lesson"
    if _OPENS.match(text) and not turn:
        return ""
    if _PASSING.search(text):
        return ""
    if _ACHIEVED.search(text) and _VALUE.search(text) and not _FUTURE.search(text):
        return "outcome"
    if _FUTURE.search(text) and _WHEN.search(dated) and not re.match(r"(?:let me|can|could)\b", text, re.IGNORECASE):
        return "plan"
    if _ABOUT.match(text) and (_VALUE.search(text) or is_i or re.match(r"(?:my|our|we)\b", text, re.IGNORECASE)):
        return "person" if _KIN.search(text) or _PERSON_VERB.match(text) else "fact"
    return ""


def _is_order(text: str) -> bool:
    """Returns whether a sentence begins as a request does: with a plain verb, and so without a subject in front of one."""
    words = text.split()
    return (
        bool(words)
        and words[0].lower() not in ("i", "it", "he", "she", "they", "this", "that", "there")
        and not re.match(rf"\w+ {_STATES}\b", text)
    )


def _correct(text: str, before: Sequence[str]) -> str:
    """Returns what was said before as a correction has it: the new value in the place of the old one; empty if none fits."""
    said = [line for line in reversed(before) if not line.endswith("?")]
    if swap := _INSTEAD.match(text):
        old, new = (
            swap["old"].strip(),
            re.sub(
                r"^(?:it'?s|it is|that'?s|i meant|i mean|they'?re|use|the)\s+",
                "",
                swap["new"].strip(),
                flags=re.IGNORECASE,
            ),
        )
        for line in said:
            if re.search(rf"\b{re.escape(old)}\b", line, re.IGNORECASE):
                return re.sub(rf"\b{re.escape(old)}\b", new, line, count=1, flags=re.IGNORECASE)
        return ""
    if match := _IT_IS.fullmatch(text):
        for line in said:
            if known := _SAYS.match(_FILLER.sub("", line, count=1)):
                return f"{known['head']} {match['value']}"
    return ""


def _standing_alone(text: str, before: Sequence[str], is_explicit: bool) -> str:
    """Returns a statement with the one before it where a pronoun refers to that; empty where nothing tells whom it means."""
    opening = _OPENS.match(text)
    refers = _PRONOUN.search(text)
    if not opening and (not refers or _NAME.search(text[: refers.start()])):
        return text
    context = next(
        (
            line
            for line in reversed(before)
            if not line.endswith("?")
            and (_NAME.search(line) or re.match(r"[A-Z]\w+ ", line))
            and not _OPENS.match(line)
        ),
        "",
    )
    context = _FILLER.sub("", context, count=1)
    if context and len(context) + len(text) < _LONGEST and likeness(word_set(context), word_set(text)) < 0.8:
        return f"{context.rstrip('.!')}. {text[0].upper()}{text[1:]}"
    return text if is_explicit or not opening else ""


def _finish(text: str, turn: Turn) -> str:
    """Returns a statement as it is kept: days named, a capital in front, bounded."""
    text = name_days(text.strip(" -–—:;,"), turn.day) if turn.day else text.strip(" -–—:;,")
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(' ', 1)[0]} …"
    return text[:1].upper() + text[1:]
