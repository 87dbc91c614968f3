"""What a heading names: a quantity, an event, or something of which there is one; and words that then say little."""

import re
from functools import cache

from mabos_cli.core.mind.claims.opposites import split_groups
from mabos_cli.core.mind.claims.words import root, roots

# Headings that name something of which there is one: another value excludes the one before.
_SINGLE = """
model cadence backend strategy method location headquarters status stage priority version format
currency language approach framework head lead contact host default chair CEO CFO CTO COO sponsor landlord
venue owner manager director provider carrier caterer insurer auditor investor lawyer adviser advisor
leader winner maintainer approver treasurer president speaker moderator runner successor employer
supplier vendor distributor publisher contractor architect consultant accountant notary vet doctor physician
surgeon nurse headteacher headmaster principal teacher tutor coach captain conductor producer designer
editor author translator editor-in-chief secretary chairman chairwoman chairperson mayor bank broker custodian
colour color variety breed species material fuel engine platform tool software system database registry
tracker scheduler queue cache store broker proxy gateway orchestrator editor compiler runtime library licence license
protocol algorithm architecture tokenizer optimizer terminus destination origin birthplace hometown address
nationality religion site domain law jurisdiction court judge counsel insurance type brand logo font mascot
motto slogan title name nickname residence registrar subcontractor integrator forwarder shipper agency
hosting database-engine airline hotel seat policy rule structure schedule mode unit zone tariff plan
form shape layout direction target audience segment keeper warden caretaker janitor foreman supervisor boss
mentor deputy substitute representative delegate spokesperson liaison referee organiser organizer
"""

# Headings that name a quantity: what their text counts or measures is that.
_MEASURES = """
price cost fee rate salary wage pay rent budget revenue turnover profit margin income expense burn debt loan
deposit discount commission bonus tax duty fare tuition toll premium deductible excess penalty fine royalty
valuation worth value amount total sum share percentage ratio proportion quota allowance limit cap threshold
maximum minimum target goal size count headcount number capacity volume area length height width depth weight mass
distance range speed velocity temperature pressure humidity voltage power consumption usage load throughput
bandwidth latency delay duration time period term deadline age lifetime life lifespan span ttl timeout interval
frequency retention runway warranty guarantee notice leave vacation holiday probation lag lead-time uptime
downtime availability attendance occupancy utilisation utilization yield harvest output production dose dosage
accuracy precision recall score rating nps churn attrition growth inflation interest conversion backlog stock
inventory quorum staff staffing workforce population herd flock enrolment enrollment membership circulation
readership audience wait queue tolerance clearance mileage altitude elevation concentration ph hours shift
liability coverage payout dividend equity stake ownership float balance reserve cash overdraft mortgage
repayment instalment installment rainfall precipitation gestation pregnancy days weeks months years minutes turnaround sla rto rpo error failure dimension resolution framerate
"""

# Headings that name something that happens: a date in their text is its date.
_EVENTS = """
launch release start end opening closing deadline date hearing trial exam examination meeting review audit
inspection delivery handover move migration rollout go-live kickoff freeze renewal expiry expiration retirement
election vote conference fair retreat party wedding birthday concert premiere show match game tournament trip
tour visit workshop training course lecture ceremony graduation inauguration harvest sowing planting lambing
surgery operation appointment check-up vaccination maintenance shutdown outage upgrade update deployment
retraining publication announcement payday payroll payment instalment installment filing submission signing
completion construction demolition arrival departure flight test playtest beta alpha milestone sprint season
festival holiday enrolment tender auction standup stand-up call sync lesson class shift lunch dinner breakfast rehearsal practice
briefing retro retrospective demo seminar webinar interview briefing collection pickup evening day timetable changeover closure reopening
"""

# Words of one group tell of the same event when only its date differs.
_SAME_EVENT = """
happen take place hold schedule set plan due slate fix meet sit convene occur run be fall book pencil |
effect force apply start begin resume reopen return kickoff launch live open introduce release ship publish come out appear
    available commence roll rollout premiere debut issue land inforce take kick enter |
arrive deliver come land receive ship reach install send |
end expire finish run out lapse close terminate conclude stop cease over retire shutdown drop discontinue
    support wind switch decommission turn |
complete finish do ready wrap conclude deliver close end sign |
pay due payable settle remit transfer owe | file submit due hand send lodge deliver |
move relocate migrate transfer switch go | leave depart go resign retire set | found establish set start create |
join start begin arrive | visit come travel go fly | harvest gather reap begin start | plant sow drill |
meet gather convene sit | review audit inspect check examine | announce publish reveal present unveil
"""

# Words of one group lead to the same kind of name: who makes it, where it is kept, who is in charge.
_SAME_ROLE = """
build make manufacture produce develop construct create print design brew bake craft |
store keep hold save live sit reside persist archive put stand remain find lie rest |
handle manage run lead head own oversee supervise operate maintain chair direct coordinate organise organize
    responsible charge look take do answer preside moderate conduct |
use run employ rely work build base deploy adopt write serve power depend |
buy source order purchase get come obtain procure import supply deliver provide acquire receive |
track record log manage keep file capture register enter fill document report note write submit |
locate base situate domicile register headquarter house seat incorporate be sit |
teach give instruct hold lecture | represent defend act advise | treat see examine operate | play perform star |
ship send deliver transport carry dispatch forward move | pay bill invoice charge settle process |
sell distribute market offer retail | host run serve deploy operate live | train fit fine-tune build |
end stop terminate finish arrive go lead | insure cover underwrite | audit check review inspect approve sign |
monitor watch observe collect send go write push ship
"""

# Words that say little beside a number: they only lead to it.
_MEASURING = """
amount total average mean median stand count come reach equal last take run cost set comprise consist hold contain
number figure size limit cap measure weigh stretch span earn pay charge bill owe spend budget allow allowed permit
permitted larger longer exceed exceeding wait bring make figure hover sit typical usual typically usually
altogether overall people person employee member head keep retain store expire valid long high big large old wide deep
tall heavy fast rate price fee worth wage value duration length time current estimated roughly fixed flat
have do may can be get need require use offer give provide grant yield produce annual yearly monthly weekly daily cover
"""


@cache
def _names() -> frozenset[str]:
    return frozenset(_SINGLE.casefold().split())


def _head(heading: str) -> str:
    """The word that a heading turns on: the last one before what it is of, for or at."""
    first = re.split(r"\s(?:of|for|at|in|with|per|to|on|by|from|between|after|until)\s|\s?[(,:]", heading.casefold())[0]
    (word,) = first.split()[-1:] or [""]
    return word


@cache
def is_single(heading: str) -> bool:
    """Whether a heading names something of which there is one, so that one value excludes another.

    >>> is_single("Payment provider"), is_single("Head of sales"), is_single("Servers"), is_single("Invoices")
    (True, True, False, False)
    """
    return _head(heading) in _names()


@cache
def is_measure(heading: str) -> bool:
    """Whether a heading names a quantity.

    >>> is_measure("Runway"), is_measure("Cost per lead"), is_measure("Ward 7")
    (True, True, False)
    """
    return root(_head(heading)) in measures()


@cache
def is_event(heading: str) -> bool:
    """Whether a heading names something that happens.

    >>> is_event("Hearing of the appeal"), is_event("Appeals")
    (True, False)
    """
    return root(_head(heading)) in _events()


def is_thing(heading: str, texts: str) -> bool:
    """Whether a heading names a thing or a way of doing it, rather than somebody of whom much can be told.

    >>> is_thing("Milking", ""), is_thing("Ticket sales", ""), is_thing("Nadia", "Nadia lives in Ghent.")
    (True, True, False)
    """
    *more, last = heading.split() or [""]
    if more or not last.replace("-", "").isalpha():
        return last.replace("-", "").isalpha() and last[0].islower()
    return last.endswith(("ing", "tion", "ment", "ance")) or bool(re.search(rf"\b{last.casefold()}", texts))


@cache
def single_valued() -> frozenset[str]:
    """The roots of things of which there is one."""
    return roots(_SINGLE.casefold())


@cache
def measures() -> frozenset[str]:
    """The roots of quantities."""
    return roots(_MEASURES)


@cache
def measuring() -> frozenset[str]:
    """The roots that need not be matched when a number differs."""
    return roots(_MEASURING)


@cache
def _events() -> frozenset[str]:
    return roots(_EVENTS)


@cache
def _same_events() -> list[frozenset[str]]:
    return [roots(group) for group in split_groups(_SAME_EVENT)]


@cache
def happening() -> frozenset[str]:
    """The roots that only say that something happens."""
    return frozenset().union(*_same_events()[:3])


@cache
def _same_roles() -> list[frozenset[str]]:
    return [roots(group) for group in split_groups(_SAME_ROLE)]


@cache
def same_role(x: str, y: str) -> bool:
    """Whether two roots lead to the same kind of name."""
    return any(x in group and y in group for group in _same_roles())


@cache
def same_event(x: str, y: str) -> bool:
    """Whether two roots can tell of the same event."""
    return any(x in group and y in group for group in _same_events())
