"""Words that reading claims needs to know: opposites, synonyms, names, and words that say nothing alone."""

import re
from functools import cache

from mabos_cli.core.text import stem

# Words of one side mean much the same here; words across the slash exclude each other. Endings do not matter.
# A star marks classes rather than judgements: before a noun they tell things apart (old, new contract).
_OPPOSITES = """
grow increase rise expand climb surge accelerate up upward / decline decrease fall shrink drop contract
    slump dwindle down downward plummet | enable activate / disable deactivate |
open reopen / close shut | accept approve authorise authorize grant ratify / reject refuse deny veto |
include contain cover / exclude omit | public / private confidential |
manual manually handmade / automatic automated automate automation |
sync synchronous / async asynchronous | profitable / lossmaking | hire recruit / fire dismiss layoff |
start begin commence / end finish conclude stop cease expire |
launch introduce adopt keep retain continue remain inforce / retire discontinue sunset abolish scrap
    decommission shutdown abandon lift revoke withdraw cancel deprecate remove resign | high / low |
more / less fewer | fast quick rapid quickly / slow sluggish slowly |
early earlier soon sooner punctual / late later delay overdue |
cheap inexpensive affordable / expensive costly pricey |
easy simple straightforward easily / difficult hard complicated complex |
strong robust strengthen / weak fragile weaken feeble |
good great excellent positive well / bad terrible negative badly poor poorly |
better improve / worse worsen deteriorate degrade | best / worst |
large big huge substantial considerable significant / small tiny little negligible insignificant |
major / minor | long lengthy / short brief | *new / old legacy former previous |
*first primary main / last second secondary | always / rarely seldom |
often frequent commonly regularly / rare infrequent |
mandatory compulsory obligatory must / optional voluntary | legal lawful / illegal |
valid / invalid void | active live / inactive dormant idle | complete / incomplete pending outstanding |
permanent / temporary interim provisional | *internal inhouse / external outsource |
central centralize centralise monolith monolithic / decentralize decentralise distribute microservice |
cloud saas / onpremises |
fixed static constant hardcoded / configurable variable dynamic adjustable sliding flexible |
encrypt / plaintext cleartext | *online / offline | remote remotely / onsite | *fulltime / parttime |
free gratis complimentary / paid pay chargeable | prepaid upfront / postpaid arrears |
buy acquire / sell divest | win / lose | success succeed / failure fail |
safe secure / insecure vulnerable risky dangerous | stable steady / volatile erratic flaky |
accurate correct right precise / inaccurate wrong incorrect imprecise |
possible feasible viable achievable / impossible infeasible | present / absent missing |
visible / invisible hidden | direct directly / indirect indirectly |
*inbound incoming / outbound outgoing | *import / export | *upload / download | *push / pull |
*read / write | *frontend client-side / backend server-side | *horizontal / vertical |
optimistic confident bullish / pessimistic worried bearish |
happy satisfied pleased delighted / dissatisfied frustrated displeased annoyed angry |
like love enjoy / dislike hate avoid | agree / disagree object |
support back endorse favour favor / oppose | raise / lower cut reduce reduction slash |
allow permit let / forbid prohibit ban block bar disallow prevent | wide broad / narrow | deep / shallow |
full / empty vacant | quiet silent calm / noisy loud busy overloaded |
intact work function / broken defective faulty damaged |
comfortable ample plenty abundant / tight scarce | sufficient enough adequate / insufficient inadequate |
understaffed / overstaffed | overpriced / underpriced | healthy / ailing | mature / immature nascent |
*formal / informal | *local / global worldwide | *domestic / foreign overseas | *wholesale / retail |
*individual / collective joint | shared multi-tenant / dedicated single-tenant |
proprietary / opensource | stateful / stateless | mutable / immutable | strict / lenient lax |
optin / optout | ascending / descending | *maximum / minimum | majority / minority | *top / bottom |
leading / trailing behind lagging | *junior / senior | *light bright / dark heavy |
*hot warm / cold cool | *hardware / software | *debit / credit | *asset / liability | *input / output |
*upstream / downstream | *morning / evening | *daytime / night | *weekday / weekend | *winter / summer |
consistent / inconsistent | compatible / incompatible | entire entirely fully / partly partially |
necessary essential / superfluous redundant | solvent / insolvent bankrupt | surplus / deficit shortage |
employed / jobless | alive / dead | promote / demote | merge / split | connect / disconnect |
trust / distrust mistrust | advantage benefit upside / disadvantage drawback downside |
forward / backward | gradual gradually / sudden abruptly | honest / dishonest | regular / irregular |
*one-time / recurring | dependent / independent | formal / casual | *national / international |
vegetarian vegan / carnivore | profit gain / loss | tighten / loosen relax ease | clean / dirty |
wet / dry | thick / thin | soft / rigid | rich / poor | friendly polite / hostile rude |
patient / impatient | loyal / disloyal | motivated / demotivated | *inflow / outflow | *gross / net |
fresh / stale | arrive / depart | lend / borrow | encourage recommend / discourage |
simplify / complicate | accelerate / decelerate | *beginner novice / expert advanced |
together jointly / separately alone | near nearby / far distant |
*paper printed analogue / digital electronic paperless | *lease rent / own |
calm relaxed / nervous anxious | attend / skip | generous / stingy | crowded / deserted |
legible / illegible | *wired / wireless | *odd / even | *theory / practice | tall / low-rise |
sharp / blunt
"""

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

# Words of one line exclude each other when they stand in the same place.
_EXCLUSIVE = """
hourly daily nightly weekly fortnightly biweekly monthly quarterly annual continuous continuously |
red blue green yellow orange purple black white grey gray pink brown | critical urgent medium moderate |
draft published archived | gold silver bronze platinum | train plane car bus ferry |
email phone fax letter post chat | married single divorced widowed | waterfall agile kanban scrum |
monorepo polyrepo
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
wore wear sped speed split split hires hire rebuilt build rewrote write
"""

# What several words say together, as one word.
_PHRASES = r"""
no longer=nolonger; any ?more=anylonger; any longer=anylonger;
(?:loses?|losing|lost) money=unprofitable; in the red=unprofitable; (?:makes?|making) money=profitable;
in the black=profitable; in force=inforce; in effect=inforce; first day=start;
(?:goes|go|went|going) live=launch; kick(?:s|ed)? off=start; (?:takes?|took|taking) place=happens;
shuts? down=shutdown; (?:switched|turned) off=disabled; turned on=enabled; phased? out=retire;
laid off=fired; by hand=manual; in[- ]house=inhouse; on[- ]prem(?:ises?)?=onpremises;
self[- ]hosted=onpremises; open[- ]source=opensource; closed[- ]source=proprietary;
full[- ]time=fulltime; part[- ]time=parttime; on[- ]site=onsite; opt[- ]in=optin; opt[- ]out=optout;
in advance=upfront; free of charge=gratis; e-mails?=email; at the moment=; at present=; right now=now;
as planned=; so far=; at last=; not only=; around the clock=24/7; used to(?: be)?=formerly; not yet=not;
set up=install; stands? in=substitute; (?:is|are) going to=will; (?:has|have) to=must;
in charge of=leading; responsible for=owning; as of=from; as well as=and; such as=like;
up to date=current; per cent=percent; rather than=instead of; lots? of=many; a few=several;
in favou?r of=for; out of date=uncurrent; outdated=uncurrent; each other=together; fail(?:s|ed)? to=not;
stop(?:ped|s)?(?= \w+ing)=nolonger; exempt from=not; out of service=broken;
out of(?= (?:stock|control|warranty|business|reach))=not in; out of order=broken; behind schedule=late;
ahead of schedule=early; on (?:time|schedule|track)=punctual; in time=punctual; ahead of=above;
over budget=above budget; (?:under|within) budget=below budget; behind=below; sped up=accelerated;
pick(?:s|ed|ing)? up=rise; slow(?:s|ed|ing)? down=decline; left(?= the| our)=retired;
(?:has|have) been (?:stopped|closed|ended|terminated)=retired;
(?:was|were|(?:has|have) been) (?:dropped|cancelled|scrapped)=retired; keeps?(?= \w+ing)=;
(?:taken|handed|passed) over (?:by|to)=now led by; (?:given|gave) up=retired;
(?:become|became)(?= an? | part )=moved to; (?:within|in) walking distance=near;
(?:allowed|able|permitted|entitled) to=can;
(?:raised|lowered|cut|reduced|increased|extended|shortened|changed) to=now;
(?:valid|runs?|lasts?|continues?) (?:until|through|till)=ends in;
(?:sold|turned|voted) (?:it )?down=rejected; (?:go|goes|went|gone|going|is|are) up=rise;
(?:go|goes|went|gone|going) down=fall; lower than=low than;
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
ALIASES = {
    "k8s": "kubernetes",
    "postgres": "postgresql",
    "js": "javascript",
    "ts": "typescript",
    "golang": "go",
}
ALIASES |= {
    "uk": "britain",
    "usa": "us",
    "gh": "github",
    "sso": "single sign on",
    "euro": "eur",
    "dollar": "usd",
}

# Words without a claim of their own: a sentence says the same with and without them.
LIGHT = frozenset(
    "currently now nowadays today still already really quite typically usually generally overall actually "
    "basically officially simply exactly mostly mainly largely especially recently finally once own "
    "available have has had having be been being is are was were do does did done get gets got will shall "
    "would can could may must should going go goes went become becomes became remain remains stay stays "
    "seem seems there here come comes came also too ever even yet give gives much many several various "
    "per each every any all both total roughly about approximately around circa nearly almost least most "
    "than up true yes ok left via using by-hand move moved switch switched change changed replace "
    "replaced part whole one ones thing things way kind sort case rate level amount number value".split()
)
NEGATIONS = frozenset(
    "nicht kein keine keinen keiner keinem nie niemals "
    "not no never none cannot without nobody nothing neither nor nowhere nolonger lack lacks lacking "
    "refuses isnt arent wasnt werent dont doesnt didnt cant couldnt wont wouldnt shouldnt hasnt havent "
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
primary main new happens last long due take migrate switch move hold consist apply valid employee company cost
"""
# Headings that name something of which there is one: another value excludes the one before.
_SINGLE = """
model cadence backend strategy method location headquarters status stage priority version format
currency language approach framework head lead contact host default chair CEO CFO CTO sponsor landlord
venue owner manager director provider carrier caterer insurer auditor investor lawyer adviser advisor
leader winner maintainer approver treasurer president speaker moderator runner successor employer
"""


def _groups(table: str) -> list[str]:
    """The groups of a table, whose bars end them, and whose lines do not."""
    return [" ".join(group.split()) for group in table.split("|")]


@cache
def opposites() -> dict[str, tuple[int, int, bool]]:
    """For each root its line, its side (1 or -1) and whether the line is one of classes."""
    found: dict[str, tuple[int, int, bool]] = {}
    for number, line in enumerate(_groups(_OPPOSITES)):
        left, right = line.lstrip("*").split(" / ")
        for side, listed in ((1, left), (-1, right)):
            for word in listed.split():
                found.setdefault(stem(word), (number, side, line.startswith("*")))
    return found


@cache
def single_valued() -> frozenset[str]:
    """The roots of things of which there is one."""
    return frozenset(root(word.casefold()) for word in _SINGLE.split())


def is_single(heading: str) -> bool:
    """Whether a heading names something of which there is one, so that one value excludes another.

    >>> is_single("Payment provider"), is_single("Head of sales"), is_single("Servers"), is_single("Invoices")
    (True, True, False, False)
    """
    (word,) = re.split(r"\s(?:of|for|at|in|with)\s", heading.casefold())[0].split()[-1:] or [""]
    return word in _SINGLE.casefold().split()


@cache
def weak() -> frozenset[str]:
    """The roots that need not be matched when something else differs."""
    return frozenset(map(root, _WEAK.split()))


@cache
def synonyms() -> dict[str, str]:
    """For each root the root that stands for all that mean the same."""
    found: dict[str, str] = {}
    for line in _groups(_SYNONYMS):
        first, *others = [stem(word) for word in line.split()] or [""]
        for other in others:
            found.setdefault(other, found.get(first, first))
    return found


@cache
def exclusive() -> dict[str, int]:
    """For each root of a closed class the number of that class."""
    return {stem(word): number for number, line in enumerate(_groups(_EXCLUSIVE)) for word in line.split()}


@cache
def irregular() -> dict[str, str]:
    """The plain form of forms that no ending explains."""
    listed = _IRREGULAR.split()
    return dict(zip(listed[::2], listed[1::2], strict=True))


@cache
def _phrases() -> tuple[re.Pattern[str], list[str]]:
    """One pattern for all phrases, a group for each, and the word that stands for each."""
    parts = [part.strip().rpartition("=") for part in _PHRASES.replace("\n", ";").split(";") if "=" in part]
    listed = "|".join(f"({part[0]})" for part in parts)
    return re.compile(rf"\b(?:{listed})\b", re.IGNORECASE), [part[2] for part in parts]


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
    plain = stem(irregular().get(word, word))
    for ending in ("er", "est", "ly", "ally", "ment"):
        base = word.removesuffix(ending)
        doubled = base[:-1] if base[-1:] == base[-2:-1] else base
        cut = next((cut for cut in (stem(base), stem(doubled)) if cut in opposites()), "")
        if word.endswith(ending) and cut and plain not in opposites():
            plain = cut
    return synonyms().get(plain, plain)
