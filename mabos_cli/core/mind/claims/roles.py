"""What a name or a date does in a claim: whether it is what is claimed, or only what the claim is about."""

from itertools import pairwise

from mabos_cli.core.mind.claims.claim import Claim
from mabos_cli.core.mind.claims.names import Name
from mabos_cli.core.mind.claims.words import CURRENCIES, NAMES, PLACES, root, roots

# Where there is only one, another one excludes it.
ALONE = frozenset("only sole single exclusive exclusively".split())
_UNIQUE = ALONE | frozenset("main primary default official current preferred standard largest biggest best top".split())
_BE = frozenset("is are was were be been".split())
_OWNING = roots(
    "own lead manage head run chair approve sign handle host serve maintain win supply operate preside "
    "teach represent coach conduct direct edit supervise oversee coordinate organise organize treat prosecute "
    "audit insure cater print publish develop manufacture make build produce design deliver fund finance sponsor hold"
)
_ADDING = roots("integrate work partner meet comply compatible talk compete share depend support")
_CHOOSING = roots("use run prefer choose select pick want adopt deploy")
_MADE = roots("make build")
_SOURCING = roots("buy source order import supply get obtain tune fine-tuned train derive distil")
_WHOLE = frozenset("all our entire whole".split())
_MOVING = roots(
    "go report move migrate switch belong assign route escalate send upload forward deploy "
    "change transfer lose publish write push sync export stream log ship deliver submit post save"
)
_KEEPING = roots(
    "keep store hold save host write publish build register place manage track handle record plan document organise"
)
_LOCATING = roots(
    "live base locate headquarter host store happen hold register incorporate reside write publish "
    "domicile seat situate settle reside keep want pay invoice denominate quote run work sit place build implement rewrite"
)
_DONE = frozenset("held sent paid made built sold met put kept".split())
_SET = frozenset("held due scheduled planned".split())
_LEADING = frozenset("on in at by from for the due scheduled set planned until now end start of not before".split())
# What happens once, or always at the same time: its date is what is claimed about it.
_EVENTS = roots(
    "start end begin launch release ship deliver finish close open expire renew due deadline meeting review "
    "happen schedule found sign move migrate retire shutdown deprecate announce join leave arrive freeze "
    "complete run effect birthday drop audit hearing meet renewal go publish introduce discontinue switch "
    "payroll payday kickoff stop cancel inaugurate premiere elect vote submit file exam inspection "
    "overhaul graduate marry retrain harvest sow plant depart wedding birth die establish "
    "create enter commence handover convene resume reopen rollout upgrade install commission effective "
    "inforce apply come land appear debut surgery appointment conference trial tournament "
    "return become concert exhibition fair lapse mature settle payable repay redeem distribute refresh replace rebuild"
)


def _is_said(claim: Claim, at: int) -> bool:
    """Whether what leads to a point in time says that something is then: is on, was by, has been since."""
    done = False
    for word in claim.words[max(0, at - 4) : at][::-1]:
        if word in _BE or word == "since":
            return word not in ("was", "were") or not done
        done = done or (word.endswith(("ed", "en")) or word in _DONE)
        if word not in _LEADING and not done:
            return False
    return False


def is_dated(claim: Claim) -> bool:
    """Whether the point in time is what is claimed, rather than the time that the claim is about."""
    if any(moment.turn == 0 for moment, _ in claim.moments):
        return False
    told = bool({"will", "shall", "wont"} & {*claim.words}) or any(_is_said(claim, at) for _, at in claim.moments)
    told = told or claim.words[0] in _SET or ("goes", "back") in pairwise(claim.words)
    return told or not claim.terms or bool(_EVENTS & {*map(root, claim.words)})


def _is_by(claim: Claim, name: Name) -> bool:
    """Whether the name tells who does it: by the team in Madrid, under the law of Delaware."""
    return bool({"by", "under"} & {*claim.words[max(0, name.at - 4) : name.at]})


def is_claimed(claim: Claim, name: Name, same_subject: bool) -> bool:
    """Whether a name is what is claimed: the place, owner or tool, where another one would exclude it."""
    head, after = root(name.head), claim.words[name.end : name.end + 3]
    if name.slot == "for":
        return False
    if name.slot in ("be", "by", "through", "via", "under", "as", "per") or _UNIQUE & {*claim.words}:
        return True
    if name.slot == "first":
        owning = after[:1] == ("does",) or (
            not (after[:1] and after[0] in _BE and "by" in after) and any(root(word) in _OWNING for word in after)
        )
        definite = after[:1] in (("is",), ("are",)) and after[1:2] in (("our",), ("the",), ("my",), ("their",))
        return owning or definite or (same_subject and not after)
    if name.slot == "of":
        if head in _MADE:
            return True
        return _is_by(claim, name)
    if name.slot in ("in", "at", "within", "on", "into"):
        # Things go on in many places and regions at once, but are kept, held or written in one.
        listed = name.key in NAMES or name.key in CURRENCIES or name.head.endswith("ed")
        return (
            _is_by(claim, name)
            or head in _LOCATING
            or bool(_KEEPING & {*map(root, claim.words[max(0, name.at - 4) : name.at])})
            or name.head in _BE
            or (listed and name.key not in PLACES)
        )
    if name.slot == "with":
        return head not in _ADDING
    if name.slot in ("to", "from"):
        # People come from many places, but all that we use of something from one.
        whole = name.head in ("come", "comes") and _WHOLE & {*claim.words}
        sourced = head in _SOURCING or ((same_subject or bool(whole)) and name.key not in PLACES)
        return name.head in _BE or (head in _MOVING if name.slot == "to" else sourced)
    purpose = {"for", "as"} & {*claim.words[name.end :]}
    return name.slot in ("object", "using") and head in _CHOOSING and (same_subject or bool(purpose))
