"""Words that reading claims needs to know: opposites, synonyms, names, and words that say nothing alone."""

import re
from functools import cache

from mabos_cli.core.language.text import STOP_WORDS, stem
from mabos_cli.core.mind.claims.opposites import opposites, plain_form, split_groups

_SYNONYMS = """
customer client | employee staff worker personnel colleague headcount person | vendor supplier |
cost price worth charge fee | revenue turnover | use utilise utilize | store storage save persist |
operate execute | build construct develop | host deploy | own owner | lead head | manage manager |
answer reply respond | ship dispatch | send deliver | get receive obtain | need require | pay payment |
database db | company firm | application app | error bug defect | show display | vacation holiday |
limit cap quota | allergy allergic | licence license | centre center | renew renewal | meeting meet |
team squad | signup registration | buy purchase | begin start | gather collect | select choose pick |
fix repair | happen occur | publish release | live reside | largest biggest | smallest tiniest |
monthly month | salary wage | warehouse depot | car vehicle | purchase procure | invoice bill |
annual yearly annually | qualify score | deal opportunity | office branch
"""

_IRREGULAR = """
forbidden forbid forbade forbid withdrawn withdraw withdrew withdraw shown show came come lent lend felt feel
grew grow grown grow rose rise risen rise fell fall fallen fall lost lose won win bought buy sold sell began
begin begun begin kept keep made make ran run built build paid pay wrote write written write shrank shrink
shrunk shrink chose choose chosen choose led lead held hold spent spend met meet took take taken take went
go gone go gave give given give got get gotten get said say knew know known know brought bring drove drive
driven drive spoke speak spoken speak flew fly flown fly ate eat eaten eat sent send froze freeze frozen
freeze rewritten rewrite people person children child storage store growth grow approval approve rejection
reject removal remove hiring hire delivery deliver renewal renew response respond decision decide
qualification qualify migration migrate conversion convert registration register automation automate
profitability profitable availability available expiry expire left leave expiration expire shipment ship
natively native reduction reduce cancellation cancel allergies allergy paying pay attendee attend attendees
attend applicant apply applicants apply lying lie dying die sales sale taught teach thought think bound bind
repaid repay vacancy vacant vacancies vacant wore wear sped speed split split hires hire rebuilt build rewrote write drainage drain
"""

# British spelling doubles their last letter: labelled, travelling.
_DOUBLED = frozenset("label model travel control fuel level signal channel tunnel total enrol".split())

# What several words say together, as one word.
_PHRASES = r"""
takes? (?:very |too |so |rather )?long(?! to)=is slow; (?:accepted|taken|open|possible) until=ends in;
first day of (?:the|each|every) month=the 1st; last day of (?:the|each|every) month=the 31st;
(?:it is |it's )?impossible to=cannot; (?:is|are|was|were) unable to=cannot; it is possible to=can;
half a dozen=6; a dozen=12; a couple of=two; a pair of=two; in use=working; out of use=broken;
(?:taken|put) out of (?:service|use|operation)=retired; in (?:service|operation)=working; out of action=broken;
r[ua]ns? dry=empty; up and running=working; sold out=soldout; fully booked=booked; in stock=instock;
los(?:e|es|t|ing)(?= (?:about |almost |nearly |some |over )?[\d€$£])=fell; pa(?:y|ys|id) out=distributes;
took over(?: from)?=now leads; taken over from=replaced; (?:is|are|was|were) in favou?r of=favours; in favou?r of=for; over to=to; fewer and fewer=declining; less and less=declining; more and more=growing;
(?:is|are) planned (?:for|in|on)=is in;
needn't=not; need not=not; (?:do|does|did)(?: not|n't) (?:have|need) to=not; not (?:obliged|required) to=not;
(?:needs?|obliged|required|has|have) to(?: be)?=must; frames? per second=fps; in short supply=scarce; the other (?:side|party)=opponents;
up (?:on|from)(?= (?:last|a year|the previous))=growing against; down (?:on|from)(?= (?:last|a year|the previous))=declining against;
(?:comes?|came|coming|goes|went) into (?:force|effect)=takes effect; (?:comes?|came|coming) out=released;
roll(?:s|ed|ing)? out=rollout; back(?:s|ed|ing)? up=backup;
sign(?:s|ed|ing)? up=signup; runs? out=expires; called off=cancelled; carr(?:y|ies|ied) over=carryover;
in the office=onsite; from home=remotely; in person=onsite; no earlier than=not before; for good=;
until further notice=; at the latest=; no later than=by; for the time being=; these days=now; from now on=now;
no longer=nolonger; any ?more=anylonger; any longer=anylonger;
(?:loses?|losing|lost) money=unprofitable; in the red=unprofitable; (?:makes?|making) money=profitable;
in the black=profitable; in force=inforce; in effect=inforce; first day=start;
(?:goes|go|went|going) live=launch; kick(?:s|ed)? off=start; (?:takes?|took|taking) place=happens;
shuts? down=shutdown; (?:switched|turned) off=disabled; (?:switched|turned) on(?=\W*$| again| at | in )=enabled; phased? out=retire;
laid off=fired; by hand=manual; in[- ]house=inhouse; on[- ]prem(?:ises?)?=onpremises;
self[- ]hosted=onpremises; open[- ]source=opensource; closed[- ]source=proprietary;
full[- ]time=fulltime; part[- ]time=parttime; on[- ]site=onsite; opt[- ]in=optin; opt[- ]out=optout;
in advance=upfront; free of charge=gratis; e-mails?=email; at the moment=; at present=; right now=now;
as planned=; so far=; at last=; not only=; around the clock=24/7; used to(?: be)?=formerly; not yet=not;
set up=install; stands? in=substitute; (?:is|are) going to=will; (?:has|have) to=must;
in charge of=leading; responsible for=owning; as of=from; as well as=and; such as=like;
up to date=current; per cent=percent; rather than=instead of; lots? of=many; a few=several;
out of date=uncurrent; outdated=uncurrent; each other=together; fail(?:s|ed)? to=not;
stop(?:ped|s)?(?= \w+ing)=nolonger; exempt from=not; out of service=broken;
out of(?= (?:stock|control|warranty|business|reach))=not in; out of order=broken; behind schedule=late;
ahead of schedule=early; on (?:time|schedule|track)(?! \d)=punctual; in time=punctual; ahead of=above;
over budget=above budget; (?:under|within) budget=below budget; behind=below; sped up=accelerated;
pick(?:s|ed|ing)? up(?! (?:by|at|from|in|on|the)\b)=rise; slow(?:s|ed|ing)? down=decline; left(?= the| our)=retired;
(?:has|have) been (?:stopped|closed|ended|terminated)=retired;
(?:was|were|(?:has|have) been) (?:dropped|cancelled|scrapped)=retired; keeps?(?= \w+ing\b)=;
(?:taken|handed|passed) over (?:by|to)=now led by; (?:given|gave) up=retired;
(?:become|became)(?= an? | part )=moved to; (?:within|in) walking distance=near;
(?:allowed|able|permitted|entitled) to=can;
(?:raised|lowered|cut|reduced|increased|extended|shortened|changed) to=now;
(?:valid|runs?|lasts?|continues?) (?:until|through|till)=ends in;
(?:sold|turned|voted) (?:it )?down=rejected; (?:go|goes|went|gone|going|is|are) up=rise;
(?:go|goes|went|gone|going) down=fall; hand(?:s|ed|ing)? over=handover;
(?:has|have|is|are) (?:expired|lapsed)=is invalid; (?:still )?(?:waiting for|awaiting)=not;
(?:may|must|can|should)(?: not|n't) (?:be )?(?:larger|longer|more|bigger|higher|greater|heavier|older) than=up to;
(?:may|must|can|should|does|do)(?: not|n't) exceed=up to; (?:most|much) of the time=mostly;
(?:nearly|almost) always=mostly; (?:nearly|almost) never=rarely; (?:hardly|scarcely)(?: ever| any)?=rarely; lower than=low than;
"""

NAMES = frozenset(
    "redis postgres postgresql mysql mongodb sqlite kafka rabbitmq docker kubernetes terraform ansible "
    "jenkins github gitlab bitbucket jira slack notion figma stripe adyen paypal aws azure gcp heroku "
    "vercel netlify python java go rust typescript javascript ruby php kotlin swift react vue angular "
    "svelte django flask rails nodejs spring graphql grpc rest elasticsearch opensearch snowflake "
    "bigquery databricks tableau hubspot salesforce zendesk intercom datadog grafana prometheus sentry "
    "linux windows macos android ios nginx apache cloudflare okta auth0 oracle sap anna ben bob alice "
    "carol clara dan david eva felix frank hans jan john jonas julia kate lena lisa maria mark marc max "
    "mia nina olivia paul peter sara sarah sophie stefan susan thomas tim tom".split()
)
PLACES = frozenset(
    "eu us usa uk emea apac dach latam europe america asia africa australia germany france spain italy "
    "portugal netherlands belgium austria switzerland poland sweden norway denmark finland ireland greece "
    "india china japan singapore brazil mexico canada turkey berlin munich hamburg frankfurt vienna "
    "zurich geneva paris lyon madrid barcelona lisbon porto rome milan london dublin manchester amsterdam "
    "rotterdam utrecht brussels antwerp ghent copenhagen stockholm oslo helsinki warsaw krakow prague "
    "budapest tokyo beijing shanghai mumbai bangalore sydney toronto york boston chicago seattle austin "
    "texas california dubai tel-aviv manila leeds valencia".split()
)
CURRENCIES = frozenset("eur usd gbp chf jpy sek nok dkk pln euro euros dollar dollars pounds".split())
ALIASES = {"k8s": "kubernetes", "postgres": "postgresql", "js": "javascript", "ts": "typescript", "golang": "go"}
ALIASES |= {"uk": "britain", "usa": "us", "gh": "github", "sso": "single sign on", "euro": "eur", "dollar": "usd"}

# Words without a claim of their own: a sentence says the same with and without them.
LIGHT = frozenset(
    "currently now nowadays today still already really quite typically usually generally overall actually "
    "basically officially simply exactly mostly mainly largely especially recently finally once own "
    "available have has had having be been being is are was were do does did done get gets got will shall "
    "would can could may must should going go goes went become becomes became remain remains "
    "seem seems there here come comes came also too ever even yet give gives again ago much many several various "
    "per each every any all both total roughly about approximately around circa nearly almost least most "
    "than up true yes ok left via using by-hand move moved switch switched change changed replace "
    "replaced part whole one ones thing things way kind sort case rate level amount number value".split()
)
# Words that say nothing in a claim.
SILENT = STOP_WORDS | LIGHT | {"us", "let", "s", "t", "re", "ll", "ve", "d", "m", "anylonger"}
SILENT |= frozenset(
    "everyone everybody everything among amongst towards upon anyone anybody anything someone somebody something".split()
)
# Words that lead to a name or a value.
SLOTS = frozenset("by with through via under to from using on as in at within for into onto across over of".split())
COPULAS = frozenset("is are was were be been being becomes became remains equals = called named".split())
NEGATIONS = frozenset(
    "nicht kein keine keinen keiner keinem nie niemals "
    "not no never none cannot without nobody nothing neither nor nowhere nolonger lack lacks lacking "
    "refuses refuse refused refusing isnt arent wasnt werent dont doesnt didnt cant couldnt wont wouldnt shouldnt hasnt havent "
    "hadnt mustnt false untrue formerly".split()
)
HEDGES = frozenset(
    "might perhaps maybe possibly probably potentially could seems appears rumoured rumored unclear "
    "unsure unconfirmed tentatively tentative considering consider evaluating evaluate exploring explore "
    "discussing sometimes occasionally likely unlikely suppose supposedly reportedly allegedly whether "
    "guess think some several other another".split()
)
MODES = frozenset(
    "if unless when whenever assuming provided depending plan plans planned want wants wanted should hope "
    "hopes aim aims target targets propose proposed would many ideally originally initially previously "
    "past intend intends goal".split()
)

# Words that need not be matched when something else differs: they introduce a value, or stand for us all.
_WEAK = """
primary main new happens last long due take migrate switch move hold consist apply valid employee company cost stay see
"""


def roots(words: str) -> frozenset[str]:
    """The roots of some words, written in a row."""
    return frozenset(map(root, words.split()))


@cache
def weak() -> frozenset[str]:
    """The roots that need not be matched when something else differs."""
    return roots(_WEAK)


@cache
def synonyms() -> dict[str, str]:
    """For each root the root that stands for all that mean the same."""
    found: dict[str, str] = {}
    for line in split_groups(_SYNONYMS):
        first, *others = [stem(word) for word in line.split()] or [""]
        for other in others:
            found.setdefault(other, found.get(first, first))
    return found


@cache
def irregular() -> dict[str, str]:
    """The plain form of forms that no ending explains."""
    listed = _IRREGULAR.split()
    return dict(zip(listed[::2], listed[1::2], strict=True))


@cache
def _phrases() -> tuple[re.Pattern[str], list[str]]:
    """One pattern for all phrases, a group for each, and the word that stands for each.

    The phrases stand by their first letters, so that few of them are tried where a word begins.
    """
    by_letter: dict[str, list[tuple[str, str]]] = {}
    for part in _PHRASES.replace("\n", ";").split(";"):
        phrase, sign, meaning = part.strip().rpartition("=")
        for letter in sorted(_initials(phrase)) if sign else ():
            by_letter.setdefault(letter, []).append((phrase, meaning))
    listed = [
        f"(?={letter})(?:{'|'.join(f'({phrase})' for phrase, _ in group)})" for letter, group in by_letter.items()
    ]
    meanings = [meaning for group in by_letter.values() for _, meaning in group]
    return re.compile(rf"\b(?:{'|'.join(listed)})\b", re.IGNORECASE), meanings


def _initials(phrase: str) -> set[str]:
    """The letters that a phrase can begin with.

    >>> sorted(_initials("(?:it is |one is )?impossible to")), sorted(_initials("r[ua]ns? dry"))
    (['i', 'o'], ['r'])
    """
    if not phrase.startswith("(?:"):
        return {phrase[0]}
    depth, start, found = 0, 3, set[str]()
    for at, sign in enumerate(phrase):
        depth += (sign == "(") - (sign == ")")
        if (sign == "|" and depth == 1) or depth == 0:
            found |= _initials(phrase[start:at])
            start = at + 1
        if depth == 0:
            return found | _initials(phrase[at + 2 :]) if phrase[at + 1 : at + 2] == "?" else found
    return found


def join_phrases(clause: str) -> str:
    """The clause with one word in place of several that have a meaning together.

    >>> join_phrases("It is no longer in force")
    'It is nolonger inforce'
    """
    pattern, meanings = _phrases()
    return pattern.sub(lambda match: meanings[(match.lastindex or 1) - 1], clause)


@cache
def root(word: str) -> str:
    """What a folded word has in common with its other forms and with words that mean the same.

    >>> root("growing") == root("grew"), root("clients") == root("customer"), root("faster") == root("fast")
    (True, True, True)
    """
    plain = plain_form(irregular().get(word, word))
    if plain.endswith("ll") and (plain[:-1] in opposites() or plain[:-1] in _DOUBLED):
        plain = plain[:-1]
    known = plain in opposites() or plain in synonyms()
    for ending in ("er", "est", "ly", "ally", "ment", "ion", "ation"):
        one = word.removesuffix("s")
        base = one.removesuffix(ending)
        if known or base == one:
            continue
        # Easier, busiest, happily.
        base = f"{base[:-1]}y" if base.endswith("i") else base
        doubled = base[:-1] if base[-1:] == base[-2:-1] else base
        noun = ending in ("ment", "ion", "ation")
        cut = (cut for cut in (stem(base), stem(doubled)) if cut in opposites() or (noun and cut in synonyms()))
        plain = next(cut, plain)
    return synonyms().get(plain, plain)
