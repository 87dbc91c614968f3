"""Words that exclude each other: opposites by table and by their beginning, and the words of closed classes."""

from functools import cache
from typing import NamedTuple

from mabos_cli.core.language.text import stem

# Words of one side mean much the same here; words across the slash exclude each other. Endings do not matter, and
# a word with several meanings stands in several groups. A star marks classes rather than judgements: before a
# noun they tell things apart (old, new contract).
_OPPOSITES = """
grow increase rise expand climb surge accelerate up upward soar boom escalate mount swell rebound / decline
decrease fall shrink drop contract slump dwindle down downward plummet slip wane tumble recede diminish
collapse sink stagnate subside crash | enable activate / disable deactivate | open reopen / close shut |
accept approve authorise authorize grant ratify greenlight / reject refuse deny veto decline overrule |
include contain cover / exclude omit | public / private confidential secret | manual manually handmade /
automatic automated automate automation robot robotic | sync synchronous / async asynchronous | profitable /
lossmaking | hire recruit / fire dismiss layoff sack | start begin commence / end finish conclude stop cease
expire halt | launch introduce adopt keep retain continue remain inforce reinstate / retire discontinue
sunset abolish scrap decommission shutdown abandon lift revoke withdraw cancel deprecate remove resign
dissolve terminate repeal defunct dismantle | high / low | more / less fewer | fast quick rapid quickly
swift / slow sluggish slowly laggy | early earlier soon sooner punctual prompt promptly / late later delay
overdue tardy postpone | cheap inexpensive affordable / expensive costly pricey exorbitant | easy simple
straightforward easily trivial / difficult hard complicated complex tricky | strong robust strengthen
resilient / weak fragile weaken feeble brittle | good great excellent positive well / bad terrible negative
badly poor poorly awful dreadful | better improve / worse worsen deteriorate degrade | best / worst | large
big huge substantial considerable significant / small tiny little negligible insignificant | major / minor |
long lengthy / short brief | *new / old legacy former previous | *young / old elderly | *first primary main
/ last second secondary | always / rarely seldom | often frequent commonly regularly / rare infrequent
scarcely hardly | mandatory compulsory obligatory must required / optional voluntary discretionary | legal
lawful permissible / illegal illicit | valid / invalid void | active live / inactive dormant
idle | complete / incomplete pending outstanding | permanent indefinite / temporary interim provisional
makeshift | *internal inhouse / external outsource | central centralize centralise monolith monolithic /
decentralize decentralise distribute microservice | cloud saas / onpremises | fixed static constant
hardcoded / configurable variable dynamic adjustable sliding flexible floating | encrypt / plaintext
cleartext | *online / offline | remote remotely homeoffice / onsite | *fulltime / parttime | free gratis
complimentary / paid pay chargeable | prepaid upfront / postpaid arrears | buy acquire / sell divest | win /
lose | success succeed pass / failure fail flunk | safe secure harmless / insecure vulnerable risky
dangerous hazardous | stable steady / volatile erratic flaky fluctuating | accurate correct right precise /
inaccurate wrong incorrect imprecise mistaken | possible feasible viable achievable / impossible infeasible
| present / absent missing away | visible / invisible hidden | direct directly / indirect indirectly |
*inbound incoming / outbound outgoing | *import / export | *upload / download | *push / pull | *read / write
| *frontend client-side / backend server-side | *horizontal / vertical | optimistic confident bullish
hopeful upbeat / pessimistic worried bearish sceptical gloomy | happy satisfied pleased delighted content
glad enthusiastic / dissatisfied frustrated displeased annoyed angry disappointed upset | like love enjoy
prefer / dislike hate avoid detest loathe | agree consent / disagree object | support back endorse favour
favor / oppose resist | raise / lower cut reduce reduction slash | allow permit let welcome legal / forbid
prohibit ban block bar disallow prevent taboo outlaw | wide broad / narrow | deep / shallow | full occupied
booked taken / empty vacant | free available / occupied booked taken engaged busy | quiet silent calm /
noisy loud busy overloaded hectic | intact work function operational functional / broken defective faulty
damaged malfunction inoperable outage | comfortable ample plenty plentiful abundant / tight scarce short
meagre | sufficient enough adequate / insufficient inadequate | understaffed shorthanded / overstaffed |
overpriced / underpriced | healthy / ailing sick ill | mature / immature nascent | *formal / informal |
*local / global worldwide | *domestic / foreign overseas | *wholesale / retail | *individual / collective
joint | shared multi-tenant / dedicated single-tenant exclusive | proprietary / opensource | stateful /
stateless | mutable / immutable | strict stringent / lenient lax permissive | optin / optout | ascending /
descending | *maximum / minimum | majority most / minority few | *top / bottom | leading / trailing behind
lagging | *junior / senior | *light bright / dark dim | *light lightweight / heavy | *hot warm / cold cool
chilly | *hardware / software | *debit / credit | *asset / liability | *input / output | *upstream /
downstream | *morning / evening | *daytime / night | *weekday / weekend | *winter / summer | consistent /
inconsistent | compatible / incompatible | entire entirely fully whole / partly partially partial |
necessary essential indispensable vital / superfluous redundant dispensable | solvent / insolvent bankrupt |
surplus / deficit shortage shortfall | employed / jobless | alive / dead | promote / demote | merge / split
| connect / disconnect | trust / distrust mistrust | advantage benefit upside / disadvantage drawback
downside | forward / backward | gradual gradually / sudden abruptly abrupt | honest / dishonest | regular /
irregular | *one-time / recurring | dependent depend rely / independent | formal / casual | *national /
international | vegetarian vegan / carnivore meat | profit gain / loss | tighten stiffen / loosen relax ease
| clean / dirty filthy | wet damp / dry | thick / thin | soft / rigid stiff | rich wealthy / poor | friendly
polite courteous / hostile rude | patient / impatient | loyal / disloyal | motivated / demotivated | *inflow
/ outflow | *gross / net | fresh / stale | arrive / depart | lend / borrow | encourage recommend advise /
discourage | simplify / complicate | accelerate hasten / decelerate slow | *beginner novice / expert
advanced | together jointly / separately alone | near nearby close / far distant | *paper printed analogue /
digital digitise digitize electronic paperless scan | *lease rent / own | calm relaxed / nervous anxious |
attend / skip | generous / stingy | crowded packed / deserted empty | legible / illegible | *wired / wireless |
*odd / even | tall / low-rise | sharp / blunt | resolve solve fix settle / open outstanding ongoing | repair
/ broken defective | delete erase purge wipe / keep retain preserve archive | attract / repel deter | boring
dull tedious / exciting thrilling engaging interesting fun | popular beloved / obscure | acidic acid /
alkaline | fertile / barren | organic / conventional synthetic | ripe / rotten | passable navigable /
impassable blocked closed | sunny / cloudy rainy overcast | guilty liable convicted / innocent acquitted |
admissible / inadmissible | taxable / tax-free tax-exempt | competent skilled qualified / incompetent |
sensitive responsive / indifferent insensitive immune | contagious infectious / harmless | benign /
malignant | chronic / acute | conscious awake / asleep | sober / drunk | sterile / contaminated | turn-based
/ real-time realtime | *2d / 3d | supervised / self-supervised | overfit / underfit generalise generalize |
deterministic / random stochastic | eager / lazy | compiled / interpreted | relational / nosql | throttle /
unlimited unmetered unrestricted | limited finite / unbounded infinite endless | indefinitely forever /
briefly | singletrack single-track / doubletrack double-track | electrified electric / diesel | *underground
subterranean / overground elevated | *northbound / southbound | *eastbound / westbound | *northern north /
southern south | *eastern east / western west | *front / rear back | *inner interior / outer exterior |
*inside indoors indoor / outside outdoors outdoor | liquid / illiquid | appreciate / depreciate | overvalued
/ undervalued | overweight / underweight | upgrade / downgrade | upsell / downsell | inflate inflation /
deflate deflation | centralised / federated | sequential serial / parallel concurrent | join / leave quit |
enter / exit leave | enrol enroll register / deregister | attack / defend | advance / retreat | praise /
criticise criticize blame | remember / forget | ignore neglect / heed obey | obey comply / violate breach |
confirm / refute disprove deny contradict | true / false | prove / disprove | genuine authentic real
original / fake counterfeit forged | natural / artificial | clear obvious / ambiguous vague | transparent /
opaque | smooth / rough bumpy | flat even / hilly steep | straight / curved crooked | round / square | solid
/ hollow | tame / wild | native / invasive exotic | *rural / urban | *coastal / inland | busy / quiet idle |
tired exhausted / rested fresh | proud / ashamed | brave / cowardly | lazy / hardworking diligent
industrious | talkative / reserved taciturn | introverted shy / extroverted outgoing sociable | modest /
arrogant | careful cautious / careless reckless | flexible / inflexible rigid stubborn | aware / oblivious |
common ordinary / exceptional | symmetric / asymmetric | uniform homogeneous / diverse heterogeneous mixed |
lead / trail | exceed surpass beat outperform / miss undershoot underperform | meet hit reach achieve / miss
| undersubscribed / oversubscribed | efficient / inefficient wasteful | effective / ineffective useless |
useful helpful / useless pointless | worthwhile worth / worthless pointless | portable / stationary immobile
| waterproof / leaky permeable | soluble / insoluble | flammable / fireproof | toxic poisonous / harmless
edible | edible / inedible | ventilated / stuffy | inhabited / abandoned | reversible / irreversible |
renewable / fossil | negotiable / final | unanimous unanimously / divided controversial contested | elected
/ appointed | *anonymous / named identified | verbose / terse concise | asleep / awake | ally / enemy rival
| friend / enemy foe | expand widen broaden / narrow restrict limit | hawkish / dovish | overbooked /
underbooked | lenient / harsh severe | *mild / severe | tolerate / intolerant | tolerant / intolerant |
resistant immune / susceptible vulnerable prone | deficient / sufficient | attach / detach | freeze / thaw |
insource / outsource | nationalise nationalize / privatise privatize | withhold / release grant | detain /
release | arrest / release | suspend / reinstate resume | suspended paused pause frozen halted / running
resumed resume active ongoing | stay / leave | help benefit / hurt harm damage | watertight waterproof sealed / leak leaky | uphold allow sustain /
dismiss overrule overturn | reliable dependable / flaky erratic | healthy / failing degraded | gain / shed |
converge / diverge | admit / discharge | stable / critical | favourable favorable / adverse | smooth / choppy
stutter laggy | polished / buggy | fair / biased | interpretable / blackbox | spicy / bland mild | sweet / sour
bitter salty | overheat / cool | crisp / blurry blurred | clear / blocked clogged jammed congested | default /
repay | booming buoyant thriving flourishing / stagnant depressed struggling | scarce / oversupply glut |
available instock / unavailable soldout | lit / dark | obsolete outdated uncurrent / current modern |
 tidy / messy cluttered | punctual / unpredictable |
 save / waste squander |
build construct / demolish | plant sow / uproot | hatch / perish | thrive flourish / wither languish | bloom / fade |
heal recover / relapse | swell / subside | walkable / inaccessible | accessible /
inaccessible | readable / unreadable garbled | dense / sparse | frequent / sporadic | centralised / scattered |
lossless / lossy | uncompressed raw / compressed | normalized normalised / denormalized denormalised | public /
members-only | vested / forfeited |
smooth even / noisy jagged erratic | silenciosa silencioso tranquila tranquilo / ruidosa ruidoso | cara caro / barata barato |
limpia limpio / sucia sucio | llena lleno / vacía vacío | abierta abierto / cerrada cerrado | rápida rápido / lenta lento |
segura seguro / insegura inseguro peligrosa peligroso | teuer / billig günstig | leise ruhig / laut lärmend |
schnell / langsam | geöffnet offen / geschlossen | leer / voll | sauber / schmutzig |
"""

# Words of one line exclude each other when they stand in the same place.
_EXCLUSIVE = """
hourly daily nightly weekly fortnightly biweekly monthly quarterly annual continuous continuously |
red blue green yellow orange purple black white grey gray pink brown teal turquoise violet beige navy magenta
    crimson maroon cyan lilac | critical urgent medium moderate |
draft published archived | gold silver bronze platinum |
train plane car bus ferry bike bicycle tram truck lorry boat helicopter |
email phone fax letter post chat sms | married single divorced widowed | waterfall agile kanban scrum |
monorepo polyrepo | wood steel concrete brick aluminium aluminum plastic stone copper titanium timber |
gas oil coal electricity diesel petrol hydrogen | json xml csv yaml protobuf avro parquet |
cotton wool silk linen polyester | solid liquid gaseous | freehold leasehold |
bcrypt argon2 md5 sha1 sha256 | tabs spaces | mañana mañanas tarde tardes noche noches | vormittags nachmittags abends nachts | portrait landscape | triangular rectangular circular hexagonal
"""

# Beginnings that turn a word into its opposite: over- and underestimate, up- and downgrade, pre- and postpaid.
_PREFIXES = (
    ("over", "under"),
    ("up", "down"),
    ("pre", "post"),
    ("in", "out"),
    ("inner", "outer"),
    ("ex", "in"),
    ("im", "ex"),
    ("en", "dis"),
    ("pro", "anti"),
    ("hyper", "hypo"),
    ("multi", "single"),
    ("mono", "multi"),
)
# What makes another word of the same meaning: dimension, dimensional; design, designer.
_ENDINGS = frozenset("al er or ion ation ition ment ness ity ive ly ist ure y ance ence able ful ic ial ally".split())
_NEGATING = ("in", "im", "ir", "il", "dis", "mis", "de")


class Group(NamedTuple):
    """Where a word stands in the table: the line, the side (1 or -1), and whether the line is one of classes."""

    line: int
    side: int
    classes: bool


def split_groups(table: str) -> list[str]:
    """The groups of a table, whose bars end them, and whose lines do not."""
    return [" ".join(group.split()) for group in table.split("|") if group.strip()]


def plain_form(word: str) -> str:
    """The word without its ending; the stem of occupied is occupy."""
    return stem(f"{word[:-3]}y" if word.endswith("ied") and len(word) > 5 else word)


@cache
def exclusive() -> dict[str, int]:
    """For each root of a closed class the number of that class."""
    listed = enumerate(split_groups(_EXCLUSIVE))
    return {plain_form(word): number for number, line in listed for word in line.split()}


@cache
def opposites() -> dict[str, tuple[Group, ...]]:
    """For each root the groups that it stands in."""
    found: dict[str, tuple[Group, ...]] = {}
    for number, line in enumerate(split_groups(_OPPOSITES)):
        left, right = line.lstrip("*").split(" / ")
        for side, listed in ((1, left), (-1, right)):
            for each in dict.fromkeys(map(plain_form, listed.split())):
                found[each] = (*found.get(each, ()), Group(number, side, line.startswith("*")))
    return found


@cache
def families() -> dict[str, int]:
    """For each root with opposites a number that it shares with all that it can be compared with.

    A word with two meanings brings the groups of both together.
    """
    first: dict[int, int] = {}

    def find(line: int) -> int:
        while first.setdefault(line, line) != line:
            line = first[line]
        return line

    for groups in opposites().values():
        for group in groups[1:]:
            first[find(group.line)] = find(groups[0].line)
    return {each: find(groups[0].line) for each, groups in opposites().items()}


@cache
def compare_words(x: str, y: str) -> tuple[str, bool]:
    """How two roots stand to each other (same, opposed, excluded or nothing), and whether only as classes.

    >>> compare_words("grow", "shrink"), compare_words("grow", "climb"), compare_words("red", "blu")
    (('opposed', False), ('same', False), ('excluded', False))
    >>> compare_words("overload", "underload"), compare_words("grow", "open")
    (('opposed', False), ('', False))
    """
    common = [(a, b) for a in opposites().get(x, ()) for b in opposites().get(y, ()) if a.line == b.line]
    if common:
        apart = [a for a, b in common if a.side != b.side]
        return ("opposed", all(a.classes for a in apart)) if apart else ("same", False)
    if _turned(x, y):
        return "opposed", False
    short, long = sorted((x, y), key=len)
    if len(short) >= 5 and long.startswith(short) and long.removeprefix(short) in _ENDINGS:
        return "same", False
    group = exclusive().get(x)
    return ("excluded" if group is not None and group == exclusive().get(y) else ""), False


def _turned(x: str, y: str) -> bool:
    """Whether one word is the other with a beginning that negates or turns it round."""
    short, long = sorted((x, y), key=len)
    if len(short) >= 4 and long.endswith(short) and long.removesuffix(short) in _NEGATING:
        return True
    return any(
        one.startswith(a) and two.startswith(b) and one[len(a) :] == two[len(b) :] and len(one) > len(a) + 2
        for a, b in _PREFIXES
        for one, two in ((x, y), (y, x))
    )
