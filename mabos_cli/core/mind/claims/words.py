"""Words that reading claims needs to know: opposites, synonyms, phrases, and what kinds of things headings name."""

import re
from functools import cache

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import stem

# Words of one side mean much the same here; words across the slash exclude each other. Endings do not matter, and
# a word with several meanings stands in several groups. A star marks classes rather than judgements: before a
# noun they tell things apart (old, new contract). What a prefix turns into its opposite need not be listed.
_OPPOSITES = """
grow increase rise expand climb surge accelerate up upward soar boom escalate mount swell rebound / decline decrease
fall shrink drop contract slump dwindle down downward plummet slip wane tumble recede diminish collapse sink stagnate
subside crash | enable activate / disable deactivate | open reopen / close shut | accept approve authorise authorize
grant ratify greenlight / reject refuse deny veto decline overrule | include contain cover / exclude omit | public /
private confidential secret | manual manually handmade / automatic automated automate automation robot robotic | sync
synchronous / async asynchronous | profitable / lossmaking | hire recruit / fire dismiss layoff sack | start begin
commence / end finish conclude stop cease expire halt | launch introduce adopt keep retain continue remain inforce
reinstate / retire discontinue sunset abolish scrap decommission shutdown abandon lift revoke withdraw cancel deprecate
remove resign dissolve terminate repeal defunct dismantle | high / low | more / less fewer | fast quick rapid quickly
swift / slow sluggish slowly laggy | early earlier soon sooner punctual prompt promptly / late later delay overdue
tardy postpone | cheap inexpensive affordable / expensive costly pricey exorbitant | easy simple straightforward easily
trivial / difficult hard complicated complex tricky | strong robust strengthen resilient / weak fragile weaken feeble
brittle | good great excellent positive well / bad terrible negative badly poor poorly awful dreadful | better improve
/ worse worsen deteriorate degrade | best / worst | large big huge substantial considerable significant / small tiny
little negligible insignificant | major / minor | long lengthy / short brief | *new / old legacy former previous |
*young / old elderly | *first primary main / last second secondary | always / rarely seldom | often frequent commonly
regularly / rare infrequent scarcely hardly | mandatory compulsory obligatory must required / optional voluntary
discretionary | legal lawful permissible / illegal illicit | valid / invalid void | active live / inactive dormant idle
| complete / incomplete pending outstanding | permanent indefinite / temporary interim provisional makeshift |
*internal inhouse / external outsource | central centralize centralise monolith monolithic / decentralize decentralise
distribute microservice | cloud saas / onpremises | fixed static constant hardcoded / configurable variable dynamic
adjustable sliding flexible floating | encrypt / plaintext cleartext | *online / offline | remote remotely homeoffice /
onsite | *fulltime / parttime | free gratis complimentary / paid pay chargeable | prepaid upfront / postpaid arrears |
buy acquire / sell divest | win / lose | success succeed pass / failure fail flunk | safe secure harmless / insecure
vulnerable risky dangerous hazardous | stable steady / volatile erratic flaky fluctuating | accurate correct right
precise / inaccurate wrong incorrect imprecise mistaken | possible feasible viable achievable / impossible infeasible |
present / absent missing away | visible / invisible hidden | direct directly / indirect indirectly | *inbound incoming
/ outbound outgoing | *push / pull | *read / write | *frontend client-side / backend server-side | *horizontal /
vertical | optimistic confident bullish hopeful upbeat / pessimistic worried bearish sceptical gloomy | happy satisfy
pleased delighted content glad enthusiastic / dissatisfy frustrated displeased annoyed angry disappointed upset | like
love enjoy prefer / dislike hate avoid detest loathe | agree consent / disagree object | support back endorse favour
favor / oppose resist | raise / lower cut reduce reduction slash | allow permit let welcome legal / forbid prohibit ban
block bar disallow prevent taboo outlaw | wide broad / narrow | deep / shallow | full occupy booked taken / empty
vacant | free available / occupy booked taken engaged busy | quiet silent calm / noisy loud busy overloaded hectic |
intact work function operational functional / broken defective faulty damaged malfunction inoperable outage |
comfortable ample plenty plentiful abundant / tight scarce short meagre | sufficient enough adequate / insufficient
inadequate | *local / global worldwide | *domestic / foreign overseas | *wholesale / retail | shared multi-tenant /
dedicated single-tenant exclusive | proprietary / opensource | stateful / stateless | strict stringent / lenient lax
permissive | optin / optout | *maximum / minimum | majority most / minority few | *top / bottom | leading / trailing
behind lagging | *junior / senior | *light bright / dark dim | *light lightweight / heavy | *hot warm / cold cool
chilly | *morning / evening | *daytime / night | *weekday / weekend | *winter / summer | entire entirely fully whole /
partly partially partial | necessary essential indispensable vital / superfluous redundant dispensable | surplus /
deficit shortage shortfall | merge / split | trust / distrust mistrust | advantage benefit upside / disadvantage
drawback downside | *one-time / recurring | dependent depend rely / independent | profit gain / loss | tighten stiffen
/ loosen relax ease | clean / dirty filthy | wet damp / dry | fresh / stale | arrive / depart | encourage recommend
advise / discourage | accelerate hasten / decelerate slow | together jointly / separately alone | near nearby close /
far distant | *paper printed analogue / digital digitise digitize electronic paperless scan | resolve solve fix settle
/ open outstanding ongoing | delete erase purge wipe / keep retain preserve archive | boring dull tedious / exciting
thrilling engaging interesting fun | acidic acid / alkaline | *northern north / southern south | *eastern east /
western west | *inside indoors indoor / outside outdoors outdoor | join / leave quit | enter / exit leave | confirm /
refute disprove deny contradict | clear obvious / ambiguous vague | busy / quiet idle | exceed surpass beat outperform
/ miss undershoot underperform | meet hit reach achieve / miss | useful helpful / useless pointless | suspend /
reinstate resume | suspended paused pause frozen halted / running resumed resume active ongoing | help benefit / hurt
harm damage | watertight waterproof sealed / leak leaky | reliable dependable / flaky erratic | available instock /
unavailable soldout | obsolete outdated uncurrent / current modern | smooth even / noisy jagged erratic
"""
# Words of one group exclude each other when they stand in the same place.
_EXCLUSIVE = """
hourly daily nightly weekly fortnightly biweekly monthly quarterly annual continuous continuously | red blue green
yellow orange purple black white grey gray pink brown teal turquoise violet beige navy magenta crimson maroon cyan
lilac | critical urgent medium moderate | draft published archived | gold silver bronze platinum | train plane car bus
ferry bike bicycle tram truck lorry boat helicopter | email phone fax letter post chat sms | marry single divorced
widowed | waterfall agile kanban scrum | wood steel concrete brick aluminium aluminum plastic stone copper titanium
timber | gas oil coal electricity diesel petrol hydrogen | json xml csv yaml protobuf avro parquet
"""
# Beginnings that turn a word into its opposite, alone or by another one.
_PREFIXES = [pair.split("/") for pair in "over/under up/down pre/post in/out ex/in im/ex en/dis pro/anti".split()]
_PREFIXED = tuple(one for one, _ in _PREFIXES)
_NEGATING = ("in", "im", "ir", "il", "dis", "mis", "de")
# What makes another word of the same meaning: dimension, dimensional; design, designer.
_ENDINGS = frozenset("al er or ion ation ition ment ness ity ive ly ist ure y ance ence able ful ic ial ally".split())
_SYNONYMS = """
customer client | employee staff worker personnel colleague headcount | vendor supplier | cost price worth
charge fee | revenue turnover | use utilise utilize | store storage save persist | operate execute | build construct
develop | host deploy | own owner | lead head | manage manager | answer reply respond | ship dispatch | send deliver |
get receive obtain | need require | pay payment | database db | company firm | application app | error bug defect |
show display | vacation holiday | limit cap quota | allergy allergic | licence license | centre center | renew renewal
| meeting meet | team squad | signup registration | buy purchase | begin start | gather collect | select choose pick |
fix repair | happen occur | publish release | live reside | largest biggest | smallest tiniest | monthly month | salary
wage | warehouse depot | car vehicle | purchase procure | invoice bill | annual yearly annually | qualify score | deal
opportunity | office branch
"""
_IRREGULAR = """
forbidden forbid forbade forbid withdrawn withdraw withdrew withdraw shown show came come lent lend felt feel grew grow
grown grow rose rise risen rise fell fall fallen fall lost lose won win bought buy sold sell began begin begun begin
kept keep made make ran run built build paid pay wrote write written write shrank shrink shrunk shrink chose choose
chosen choose led lead held hold spent spend met meet took take taken take went go gone go gave give given give got get
gotten get said say knew know known know brought bring drove drive driven drive spoke speak spoken speak flew fly flown
fly ate eat eaten eat sent send froze freeze frozen freeze rewritten rewrite people person children child storage store
growth grow approval approve rejection reject removal remove hiring hire delivery deliver renewal renew response
respond decision decide qualification qualify migration migrate conversion convert registration register automation
automate profitability profitable availability available expiry expire left leave expiration expire shipment ship
natively native reduction reduce cancellation cancel allergies allergy paying pay attendee attend attendees attend
applicant apply applicants apply lying lie dying die sales sale taught teach thought think bound bind repaid repay
vacancy vacant vacancies vacant wore wear sped speed split split hires hire rebuilt build rewrote write drainage drain
goes go depth deep length long width wide height high weight weigh
"""
# What several words say together, as one word.
_PHRASES = r"""
first day of (?:the|each|every) month=the 1st; last day of (?:the|each|every) month=the 31st; first day=start;
(?:it is |it's )?impossible to=cannot; (?:is|are|was|were) unable to=cannot; half a dozen=6; a dozen=12;
a couple of=two; a pair of=two; r[ua]ns? dry=empty; sold out=soldout; in stock=instock;
(?:is|are) planned (?:for|in|on)=is in; needn't=not; need not=not; (?:do|does|did)(?: not|n't) (?:have|need) to=not;
(?:not|(?:is|are|was|were)n't) (?:obliged|required|needed|necessary) to=not; not yet=not;
(?:needs?|obliged|required|has|have) to(?: be)?=must; (?:allowed|able|permitted|entitled) to=can;
(?:go|goes|went|gone|going|is|are) up=rise; (?:go|goes|went|gone|going) down=fall; slow(?:s|ed|ing)? down=decline;
pick(?:s|ed|ing)? up(?! (?:by|at|from|in|on|the)\b)=rise;
up (?:on|from)(?= (?:last|a year|the previous))=growing against;
down (?:on|from)(?= (?:last|a year|the previous))=declining against;
(?:comes?|came|coming|goes|went) into (?:force|effect)=takes effect; in (?:force|effect)=inforce;
(?:comes?|came|coming) out=released; in person=onsite; on[- ]site=onsite; from home=remotely; by hand=manual;
in[- ]house=inhouse; full[- ]time=fulltime; part[- ]time=parttime; opt[- ]in=optin; opt[- ]out=optout;
in advance=upfront; free of charge=gratis; free (?:of|from)=without; e-mails?=email; without exception=always;
(?:an? |the )?single(?= \w+\b)=one; last day of(?= (?:january|march|may|july|august|october|december))=31;
last day of(?= (?:april|june|september|november))=30; last day of(?= february)=28;
first day of(?= (?:january|february|march|april|may|june|july|august|september|october|november|december))=1;
no longer=nolonger; any ?more=anylonger; any longer=anylonger; stop(?:ped|s)?(?= \w+ing)=nolonger;
used to(?: be)?=formerly; no earlier than=not before; no later than=by;
(?:valid|runs?|lasts?|continues?) (?:until|through|till)=ends in; (?:loses?|losing|lost) money=unprofitable;
in the red=unprofitable; (?:makes?|making) money=profitable; in the black=profitable; out of date=uncurrent;
outdated=uncurrent; up to date=current; out of (?:service|order|use|action)=broken;
in (?:service|operation|use)=working; behind schedule=late; ahead of schedule=early;
on (?:time|schedule|track)(?! \d)=punctual; as well as=and; as of=from; per cent=percent;
the other (?:side|party)=opponents; (?:still )?(?:waiting for|awaiting)=not;
(?:was|were|(?:has|have) been) (?:dropped|cancelled|scrapped)=retired;
(?:taken|handed|passed) over (?:by|to)=now led by;
(?:raised|lowered|cut|reduced|increased|extended|shortened|changed) to=now;
(?:may|must|can|should)(?: not|n't) (?:be )?(?:larger|longer|more|bigger|higher|greater|heavier|older) than=up to;
"""
# Endings of words for somebody or something with a role: owner, auditor, consultant, chairman.
_ROLES = ("er", "or", "ist", "ant", "man", "woman", "person")
# Classes of words that count for what they are.
_CLASSES = {
    # They need not be matched when something else differs: they lead to what is said, or stand for us all.
    "light": """
take cost count present time start get need put run make go hold give come keep happen do bring let set use live sit stand
lie locate say primary main new last due migrate switch move consist apply valid company stay see
""",
    # A heading that ends so names something of which there is one: another value excludes the one before.
    "single": """
model cadence backend strategy method location headquarters status stage priority version format currency language
approach framework head lead contact host default chair ceo cfo cto coo landlord venue president architect notary vet
physician surgeon nurse principal coach captain editor-in-chief secretary bank custodian colour variety breed species
material fuel engine platform tool software system database registry queue cache store proxy gateway runtime library
licence license protocol algorithm architecture terminus destination origin birthplace hometown address nationality
religion site domain law jurisdiction court judge counsel insurance type brand logo font mascot motto slogan title
name nickname residence registrar agency hosting database-engine airline hotel seat policy rule structure schedule
mode unit zone tariff plan form shape layout direction target audience segment warden boss deputy substitute
representative delegate liaison referee
""",
    # With a number they only say that it measures something: a rate of 5 EUR, it costs 5 EUR, room for 5.
    "measuring": """
cost price rate charge quote pay fee tariff amount sum total bill invoice spend rent buy sell hold seat accommodate room
capacity space place fit contain store weigh measure last take
""",
    # A heading that ends so names a quantity: what its text counts or measures is that.
    "measures": """
price rate salary pay rent budget revenue profit margin income expense burn debt loan deposit discount commission
bonus tax duty fare tuition toll premium deductible excess penalty fine royalty valuation value amount total sum share
percentage ratio proportion quota allowance threshold maximum minimum target goal size count headcount number capacity
volume area length height width depth weight mass distance range speed velocity temperature pressure humidity voltage
power consumption usage load throughput bandwidth latency delay duration time period term deadline age lifetime life
lifespan span ttl timeout interval frequency retention runway warranty guarantee notice leave vacation probation lag
lead-time uptime downtime availability attendance occupancy utilisation yield harvest output production dose dosage
accuracy precision recall score nps churn attrition growth inflation interest conversion backlog stock inventory
quorum staffing workforce population herd flock enrolment enrollment membership circulation readership audience wait
queue tolerance clearance mileage altitude elevation concentration ph hours shift liability coverage payout dividend
equity stake ownership float balance reserve cash overdraft mortgage repayment instalment installment rainfall
precipitation gestation pregnancy days weeks months years minutes turnaround sla rto rpo error failure dimension
resolution framerate
""",
    # They say that something happens, whatever it is.
    "occurring": "happen take place hold schedule set plan due slate fix meet sit convene run be fall book pencil",
    # They only say that something happens; words of one group tell of the same event when only its date differs.
    "happening": """
happen take place hold schedule set plan due slate fix meet sit convene run be fall book pencil | effect force apply
start resume reopen return kickoff launch live open introduce release ship come out appear available commence roll
rollout premiere debut issue land inforce take kick enter | arrive deliver come land receive ship reach install | end
expire finish run out lapse close terminate conclude stop cease over retire shutdown drop discontinue support wind
switch decommission turn | complete finish do ready wrap conclude deliver close end
""",
}


# Where a word stands in the table of opposites: the group, the side (1 or -1), and whether it is a group of classes.
Group = tuple[int, int, bool]


def _split_groups(table: str) -> list[str]:
    """Returns the groups of a table, whose bars end them, and whose lines do not."""
    return [" ".join(group.split()) for group in table.split("|") if group.strip()]


@cache
def exclusive() -> dict[str, str]:
    """Returns for each root of a closed class a name of that class."""
    listed = enumerate(_split_groups(_EXCLUSIVE))
    return {stem(word): f"~class-{number}" for number, line in listed for word in line.split()}


@cache
def opposites() -> dict[str, tuple[Group, ...]]:
    """Returns for each root the groups that it stands in."""
    found: dict[str, tuple[Group, ...]] = {}
    for number, line in enumerate(_split_groups(_OPPOSITES)):
        left, right = line.lstrip("*").split(" / ")
        for side, listed in ((1, left), (-1, right)):
            for each in dict.fromkeys(map(stem, listed.split())):
                found[each] = (*found.get(each, ()), (number, side, line.startswith("*")))
    return found


@cache
def families() -> dict[str, str]:
    """Returns for each root with opposites a name that it shares with all that it can be compared with.

    A word with two meanings brings the groups of both together.
    """
    first: dict[int, int] = {}

    def find(line: int) -> int:
        while first.setdefault(line, line) != line:
            line = first[line]
        return line

    for groups in opposites().values():
        for group in groups[1:]:
            first[find(group[0])] = find(groups[0][0])
    return {each: f"~family-{find(groups[0][0])}" for each, groups in opposites().items()}


@cache
def _denying() -> frozenset[tuple[int, int]]:
    """Returns the groups of words for ending, losing, forbidding, rarely: what is stated without their opposite, they deny."""
    words = ("retire", "lose", "forbid", "rarely")
    return frozenset(group[:2] for word in words for group in opposites()[root(word)])


@cache
def denies(term: str) -> bool:
    """Returns whether a root says that something is over, lost, forbidden or rare."""
    return any(group[:2] in _denying() for group in opposites().get(term, ()))


@cache
def compare_words(x: str, y: str) -> tuple[str, bool]:
    """Returns how two roots stand to each other (same, opposed, excluded or nothing), and whether only as classes.

    >>> compare_words("grow", "shrink"), compare_words("grow", "climb"), compare_words("red", "blu")
    (('opposed', False), ('same', False), ('excluded', False))
    >>> compare_words("continuous", "discontinuous"), compare_words("grow", "open")
    (('opposed', False), ('', False))
    """
    common = [(a, b) for a in opposites().get(x, ()) for b in opposites().get(y, ()) if a[0] == b[0]]
    if common:
        apart = [classes for (_, one, classes), (_, two, _) in common if one != two]
        return ("opposed", all(apart)) if apart else ("same", False)
    short, long = sorted((x, y), key=len)
    if len(short) >= 4 and long.endswith(short) and long.removesuffix(short) in _NEGATING:
        return "opposed", False
    for one, two in ((x, y), (y, x)):
        if one.startswith(_PREFIXED) and any(
            one.startswith(a) and len(one) > len(a) + 2 and two == b + one.removeprefix(a) for a, b in _PREFIXES
        ):
            return "opposed", False
    if len(short) >= 5 and long.startswith(short) and long.removeprefix(short) in _ENDINGS:
        return "same", False
    group = exclusive().get(x)
    return ("excluded" if group is not None and group == exclusive().get(y) else ""), False


@cache
def roots(words: str) -> frozenset[str]:
    """Returns the roots of some words, written in a row."""
    return frozenset(map(root, words.split()))


@cache
def synonyms() -> dict[str, str]:
    """Returns for each root the root that stands for all that mean the same."""
    found: dict[str, str] = {}
    for line in _split_groups(_SYNONYMS):
        first, *others = map(stem, line.split())
        for other in others:
            found.setdefault(other, found.get(first, first))
    return found


@cache
def irregular() -> dict[str, str]:
    """Returns the plain form of forms that no ending explains."""
    listed = _IRREGULAR.split()
    return dict(zip(listed[::2], listed[1::2], strict=True))


@cache
def root(word: str) -> str:
    """Returns what a folded word has in common with its other forms and with words that mean the same.

    >>> root("growing") == root("grew"), root("clients") == root("customer"), root("faster") == root("fast")
    (True, True, True)
    """
    word = irregular().get(word, word)
    # The stem of occupied is occupy.
    plain = stem(f"{word[:-3]}y" if word.endswith("ied") and len(word) > 5 else word)
    known = plain in opposites() or plain in synonyms()
    one = word.removesuffix("s")
    for ending in () if known else ("er", "est", "ly", "ally", "ment", "ion", "ation"):
        base = one.removesuffix(ending)
        if base == one:
            continue
        # Easier, busiest, happily.
        base = f"{base[:-1]}y" if base.endswith("i") else base
        doubled = base[:-1] if base[-1:] == base[-2:-1] else base
        noun = ending in ("ment", "ion", "ation")
        cut = (cut for cut in (stem(base), stem(doubled)) if cut in opposites() or (noun and cut in synonyms()))
        plain = next(cut, plain)
    return synonyms().get(plain, plain)


@cache
def _phrases() -> tuple[re.Pattern[str], list[str]]:
    """Returns one pattern for all phrases, a group for each, and the word that stands for each."""
    pairs = [part.strip().rpartition("=") for part in _PHRASES.replace("\n", ";").split(";") if part.strip()]
    return compiled(rf"\b(?:{'|'.join(f'({phrase})' for phrase, _, _ in pairs)})\b", re.IGNORECASE), [
        meaning for _, _, meaning in pairs
    ]


def join_phrases(clause: str) -> str:
    """Returns the clause with one word in place of several that have a meaning together.

    >>> join_phrases("It is no longer in force")
    'It is nolonger inforce'
    """
    pattern, meanings = _phrases()
    return pattern.sub(lambda match: meanings[(match.lastindex or 1) - 1], clause)


@cache
def word_class(name: str) -> frozenset[str]:
    """Returns the roots of a class of words."""
    return frozenset(map(root, _CLASSES[name].replace("|", " ").split()))


@cache
def is_same_event(x: str, y: str) -> bool:
    """Returns whether two roots can tell of the same event."""
    return any({x, y} <= roots(group) for group in _split_groups(_CLASSES["happening"]))


def head_word(heading: str) -> str:
    """Returns what a heading names: the last word before what that is of, for or at.

    >>> head_word("Payment provider"), head_word("Head of sales"), head_word("Cost per lead")
    ('provider', 'head', 'cost')
    """
    first = compiled(r"\s(?:of|for|at|in|with|per|to|on|by|from|between|after|until)\s|\s?[(,:]").split(
        heading.casefold()
    )[0]
    return first.split()[-1] if first.strip() else ""


def is_single(word: str) -> bool:
    """Returns whether a word names something or somebody of which there is one."""
    return word.endswith(_ROLES) or word in _CLASSES["single"].split()
