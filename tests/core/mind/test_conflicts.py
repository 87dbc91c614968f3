"""Beliefs that disagree are found, whatever their order; beliefs that can both be right are left alone."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.mind import conflicts
from mabos_cli.core.mind.claims.claim import fold_subject, read_claims
from mabos_cli.core.mind.conflicts import Conflict, Memo, find_conflicts, read_belief
from mabos_cli.core.mind.mind import Belief
from mabos_cli.core.mind.pairs import candidate_pairs

quick = settings(deadline=None, derandomize=True)


def pair(subject: str, one: str, two: str, other: str = "") -> list[Belief]:
    return [Belief(subject, one, 0.9, line=3), Belief(other or subject, two, 0.8, line=9)]


def only(subject: str, one: str, two: str, other: str = "") -> Conflict | None:
    found = find_conflicts(pair(subject, one, two, other))
    assert len(found) <= 1
    return found[0] if found else None


DISAGREE = [
    ("negation", "Backups", "Backups are encrypted.", "Backups are not encrypted."),
    ("negation", "Backups", "Backups are encrypted.", "Backups are unencrypted."),
    ("negation", "Resellers", "We never give discounts to resellers.", "Resellers get discounts."),
    ("negation", "Trial", "The trial requires a credit card.", "No credit card is required for the trial."),
    ("antonym", "Smoking", "Smoking is allowed on the roof.", "Smoking is forbidden on the roof."),
    ("antonym", "Demand", "Market demand is growing.", "Market demand is declining."),
    ("antonym", "Deploys", "Deploys are automatic.", "Deploys are done manually."),
    ("antonym", "Roadmap", "The roadmap is public.", "The roadmap is confidential."),
    ("antonym", "Rollout", "The rollout is ahead of schedule.", "The rollout is behind schedule."),
    ("antonym", "Reviews", "Code reviews happen before the merge.", "Code reviews happen after the merge."),
    ("antonym", "Quillwork", "Quillwork is bigger than we are.", "Quillwork is smaller than we are."),
    ("number", "Tokens", "Tokens expire after 12 hours.", "Tokens expire after 30 minutes."),
    ("number", "Seat price", "A seat costs $29 per month.", "A seat costs $39 per month."),
    ("number", "Battery", "The battery lasts up to 10 hours.", "The battery lasts 12 hours."),
    (
        "number",
        "Passwords",
        "Passwords need at least 8 characters.",
        "Passwords need at least 12 characters.",
    ),
    ("number", "Runway", "18 months", "11 months"),
    ("number", "Conversion", "A third of all trials convert.", "One in ten trials converts."),
    ("date", "Launch", "The launch is on 3 March 2026.", "The launch is on 2026-03-17."),
    ("date", "Stand-up", "Stand-up is on Mondays.", "Stand-up is on Tuesdays."),
    ("date", "Release", "Version 4 ships in Q2.", "Version 4 ships in Q3."),
    ("date", "Lease", "The lease runs until 2029.", "The lease ends in 2031."),
    ("date", "Lunch", "Lunch is served at noon.", "Lunch is served at 12:45."),
    ("value", "Main database", "PostgreSQL", "MySQL"),
    ("value", "Sessions", "Sessions are stored in Redis.", "Sessions are stored in PostgreSQL."),
    ("value", "Billing", "Priya owns the billing service.", "The billing service is owned by Tom."),
    ("value", "Approval", "Trips are approved by the CFO.", "Trips are approved by the team leads."),
    ("number", "Backups", "Backups run daily.", "Backups run weekly."),
    ("number", "Alarm", "The alarm is tested once a year.", "The alarm is tested every 6 months."),
    ("number", "Stock count", "We count the stock four times a year.", "We count the stock every month."),
    ("negation", "Nurses", "All nurses have a badge.", "Olga Petrova, a nurse, has no badge."),
    ("negation", "Crates", "None of the crates in hall 3 is broken.", "Four crates in hall 3 are broken."),
    ("negation", "Drivers", "All drivers hold a licence for tankers.", "Petrov holds no licence for tankers."),
    ("negation", "Drivers", "All drivers have signed the rules.", "Some drivers have not signed the rules."),
    ("negation", "Allows dogs", "yes", "no, since May"),
    ("superseded", "Reports", "Reports are sent by fax.", "Reports are no longer sent by fax."),
    ("superseded", "Tickets", "Tickets are kept in Zendesk.", "We replaced Zendesk with Freshdesk."),
    ("superseded", "Hosting", "The site is hosted on Heroku.", "The site has been migrated to Vercel."),
    ("superseded", "Office", "Our office is in Kreuzberg.", "Our office is now in Mitte."),
    ("superseded", "Sven", "Sven works in purchasing.", "Sven has moved to logistics."),
    ("superseded", "Free plan", "The free plan includes 5 projects.", "The free plan was discontinued."),
    ("superseded", "Zoom", "We do the stand-up on Zoom.", "Stand-ups aren't held on Zoom any more."),
    ("superseded", "Manual", "The manual is a PDF.", "The manual is now a website instead of a PDF."),
    ("value", "Insurer", "We are insured with AXA.", "Our insurer is Allianz."),
    ("value", "Pricing", "We charge per project.", "We charge per user."),
    ("superseded", "Travel", "Trips are booked through Egencia.", "Trips are now booked through Navan."),
]

AGREE = [
    # The same in other words.
    ("Demand", "Market demand is growing.", "Demand in the market is increasing."),
    ("Refunds", "A refund takes 14 days.", "It takes two weeks to get a refund."),
    ("Users", "We have 1,000 users.", "There are about 1k users."),
    ("Price", "The plan costs €1,200 a year.", "The plan costs €100 a month."),
    ("Door", "The door isn't open.", "The door is closed."),
    ("Smoking", "Smoking is forbidden.", "Smoking is not allowed."),
    ("Training", "The training isn't optional.", "The training is mandatory."),
    ("Launch", "The launch is on 2026-03-03.", "We launch on 3 March 2026."),
    ("Billing", "Priya owns the billing service.", "The billing service is owned by Priya."),
    ("Sessions", "Sessions live in Postgres.", "Sessions are stored in PostgreSQL."),
    # Another scope.
    ("VAT", "The VAT in Germany is 19%.", "The VAT in France is 20%."),
    ("Plans", "The Pro plan includes 50 projects.", "The Starter plan includes 3 projects."),
    ("Databases", "The staging database is MySQL.", "The production database is PostgreSQL."),
    ("Legal", "Contracts above €50k need a review.", "Contracts below €50k don't need a review."),
    ("Demand", "Demand is growing in Asia.", "Demand is shrinking in Europe."),
    ("Integrations", "We integrate with Slack.", "We integrate with Teams."),
    ("Tools", "We use Slack.", "We use Jira."),
    ("Audits", "The internal audit is done.", "The external audit is done."),
    # Another time.
    ("Churn", "In 2025 churn was 5%.", "In 2024 churn was 3%."),
    ("Sales", "Sales rose in Q1.", "Sales fell in Q2."),
    ("Carrier", "We used to ship with UPS.", "Nowadays we ship with DHL."),
    ("Visits", "We visited Kappa in April.", "We visited Kappa in October."),
    ("Price", "Last year the price was €80.", "This year the price is €95."),
    # More of the same, and what can both be right.
    ("Kappa", "Kappa renewed.", "Kappa renewed for two years at a discount of 5%."),
    ("Stock", "We hold at least 5,000 units.", "We hold 8,140 units."),
    ("Price rise", "The price rise takes effect in 2027.", "The price rise takes effect on 1 April 2027."),
    # Another matter.
    ("Maria", "Maria leads the design team.", "Maria doesn't drink coffee."),
    ("Line 3", "Line 3 employs 24 people.", "Line 3 was built in 2017."),
    ("Kestrel", "weighs 2 kg", "sells for €499"),
    ("Globex", "Globex is in Leeds.", "Globex has moved its warehouse."),
    ("Head of finance", "Karl Brandt runs finance.", "The head of finance reports to Petra."),
    ("Fennel", "Fennel is tiny.", "The contract with Fennel cannot be terminated."),
    # Hedged or conditional.
    ("Prices", "We might raise prices.", "We will lower prices."),
    ("Pages", "When the cache is cold, pages are slow.", "Pages are fast."),
    ("Customers", "Some customers pay late.", "Some customers do not pay late."),
]


@pytest.mark.parametrize(("kind", "subject", "one", "two"), DISAGREE)
def test_beliefs_that_disagree_are_found_either_way_round(kind, subject, one, two):
    found = only(subject, one, two)
    assert found is not None and found.kind == kind
    turned = only(subject, two, one)
    assert turned is not None and (turned.kind, turned.key) == (kind, found.key)


@pytest.mark.parametrize(("subject", "one", "two"), AGREE)
def test_beliefs_that_can_both_be_right_are_left_alone(subject, one, two):
    assert only(subject, one, two) is None
    assert only(subject, two, one) is None


def test_a_conflict_names_both_beliefs_the_newer_one_and_the_goals():
    old = Belief("Session Store", "Redis is our primary session store.", 0.9, "2026-01-15", supports=("G-2",))
    new = Belief("session stores", "Sessions are stored in PostgreSQL after the migration.", 0.85, "2026-02-20")
    new = new._replace(path="Beliefs.md", line=7, supports=("G-1", "G-2"))
    (found,) = find_conflicts([new, old])
    assert {found.a, found.b} == {old, new}
    assert (found.a if found.newer == "a" else found.b) == new
    assert (found.severity, found.goals) == (0.85, ("G-1", "G-2"))
    assert found.subject == "Session Store"
    assert "Redis" in found.reason and "PostgreSQL" in found.reason


@pytest.mark.parametrize(
    ("one", "two", "newer"),
    [
        ("2026-01-01", "2026-01-02", "b"),
        ("2026-01-02", "2026-01-01", "a"),
        ("2026-01-01", "", ""),
        ("soon", "2026-01-01", ""),
        ("2026-01-01", "2026-01-01", ""),
    ],
)
def test_the_newer_belief_is_told_where_dates_tell_it(one, two, newer):
    a, b = pair("Runway", "18 months", "11 months")
    (found,) = find_conflicts([a._replace(updated=one), b._replace(updated=two)])
    assert found.newer == newer


@pytest.mark.parametrize(
    ("subject", "one", "two", "reason"),
    [
        ("Demand", "Demand is growing.", "Demand is declining.", "growing against declining"),
        ("TTL", "Tokens last 12 hours.", "Tokens last 30 minutes.", "12 hours against 30 minutes"),
        ("Main database", "PostgreSQL", "MySQL", "PostgreSQL against MySQL"),
        ("Launch", "The launch is in May.", "The launch is in June.", "May against June"),
    ],
)
def test_the_reason_names_the_words_that_differ(subject, one, two, reason):
    assert only(subject, one, two).reason == reason


@pytest.mark.parametrize(
    ("subject", "one", "two", "other"),
    [
        ("Market demand is growing", "", "", "Market demand is declining"),
        ("Checkout", "The new checkout is fast.", "The new checkout is slow.", "New checkout"),
        ("Team plan", "The Team plan includes SSO.", "SSO isn't included in the Team plan.", "SSO"),
        ("Audit", "The SOC 2 audit ends in May.", "The SOC 2 audit ends in July.", "Compliance"),
        ("Office", "Our headquarters are in Ghent.", "Our headquarters are in Lyon.", "Headquarters"),
    ],
)
def test_near_equal_statements_meet_across_subjects(subject, one, two, other):
    assert only(subject, one, two, other) is not None


@pytest.mark.parametrize(
    ("subject", "other", "kind"),
    [
        ("Readings are stored in InfluxDB", "Readings are stored in TimescaleDB", "value"),
        ("Trade fairs bring qualified leads", "Trade fairs do not bring qualified leads", "negation"),
        ("Die Brauerei verlängert den Vertrag", "Die Brauerei verlängert den Vertrag nicht", "negation"),
    ],
)
def test_headings_that_say_something_are_claims(subject, other, kind):
    found = only(subject, "46 from one fair", "We learned it from two customers.", other)
    assert found is not None and found.kind == kind
    assert only("Opening hours of the shop", "8 am", "6 pm", "Closing hours of the shop") is None


@pytest.mark.parametrize(
    ("subject", "one", "two", "kind"),
    [
        (
            "Demand in DACH",
            "growing by about 12 % a year",
            "shrinking, two lost tenders in January",
            "antonym",
        ),
        ("Lead time", "6 weeks from order to dock", "11 weeks, the second shift is gone", "number"),
        ("Hearing", "2026-03-12, Hamburg, room B 335", "2026-04-16, Hamburg, room B 335", "date"),
        ("Agreement with Zendo", "signed", "not signed, the copy never came", "negation"),
    ],
)
def test_cells_of_tables_give_the_value_first(subject, one, two, kind):
    found = only(subject, one, two)
    assert found is not None and found.kind == kind


@pytest.mark.parametrize(
    ("subject", "one", "two", "other"),
    [
        ("Billing service", "The retry limit is 5.", "The retry limit is 8.", "Search service"),
        ("Globex", "Globex pays within 30 days.", "Initech pays within 60 days.", "Initech"),
        ("Web app", "The web app has no offline mode.", "The iOS app has an offline mode.", "iOS app"),
        ("Sensor", "The battery of the sensor lasts 18 months.", "The battery lasts 14 hours.", "Battery"),
    ],
)
def test_other_subjects_with_like_words_are_other_claims(subject, one, two, other):
    assert only(subject, one, two, other) is None


def test_what_is_not_sure_enough_does_not_conflict():
    one, two = pair("Runway", "18 months", "11 months")
    assert find_conflicts([one, two])
    for certainty in (0.6, 0.3, 0.0, float("nan")):
        assert find_conflicts([one, two._replace(certainty=certainty)]) == []
    assert find_conflicts([one, two._replace(certainty=0.6)], floor=0.5)
    assert find_conflicts([one, two], floor=0.85) == []


def test_nothing_conflicts_with_itself_or_its_own_words():
    for _, subject, one, two in DISAGREE:
        assert only(subject, one, one) is None
        assert only(subject, two, f"  {two.upper()}") is None or two.isupper()
    assert find_conflicts([]) == []


def test_the_key_stays_when_lines_files_certainties_and_order_change():
    one, two = pair("Runway", "18 months", "11 months")
    (found,) = find_conflicts([one, two])
    moved = [
        two._replace(path="x.md", line=1),
        one._replace(subject="The runway", text="18  Months.", line=99),
    ]
    assert [c.key for c in find_conflicts(moved)] == [found.key]
    assert [c.key for c in find_conflicts(pair("Runway", "18 months", "12 months"))] != [found.key]


def test_a_change_replaces_what_was_said_before_but_not_what_is_said_after():
    before, change = pair("Retail store", "We run a store in Ghent.", "The store has been sold.")
    for updated, found in (("2026-01-01", 1), ("2026-09-09", 0), ("", 1)):
        assert len(find_conflicts([before._replace(updated=updated), change._replace(updated="2026-05-05")])) == found


def many(count: int, seed: int = 7) -> list[Belief]:
    """Varied beliefs, half of them in groups of up to five with one subject."""
    chance = Random(seed)
    nouns = ["".join(chance.choice(["ka", "lo", "mi", "ter", "von", "dre"]) for _ in range(4)) for _ in range(900)]
    things = "invoice server contract office team budget report release ticket account".split()
    found: list[Belief] = []
    for number in range(count):
        noun, thing, name = chance.choice(nouns), chance.choice(things), chance.choice(nouns).capitalize()
        forms = [
            f"The {noun} {thing} {chance.choice(['grows', 'shrinks'])}.",
            f"The {thing} of {name} costs ${chance.randint(1, 900)}.",
            f"{name} owns the {noun} {thing}.",
            f"The {noun} {thing} {chance.choice(['is', 'is not'])} stored in {name}.",
        ]
        subject = f"{noun} {thing} {number}" if number % 2 else f"group {number // chance.randint(2, 10)}"
        found.append(Belief(subject, chance.choice(forms), 0.9, line=number))
    return found


def test_few_pairs_are_compared():
    read = [read_belief(belief).marks for belief in many(2000)]
    pairs = candidate_pairs(read)
    assert pairs == sorted(set(pairs)) and all(i < j for i, j in pairs)
    assert len(pairs) < 10 * len(read)


def test_a_large_group_does_not_compare_all_pairs_and_still_finds_conflicts():
    same = [Belief("Market", f"Segment {n} of the market is {n} years old.", 0.9, line=n) for n in range(600)]
    same += pair("Market", "The quorvex segment is growing.", "The quorvex segment is shrinking.")
    assert len(candidate_pairs([read_belief(belief).marks for belief in same])) < 40 * len(same)
    assert [c.reason for c in find_conflicts(same) if c.kind == "antonym"] == ["growing against shrinking"]


def test_comparing_the_beliefs_of_one_subject_ends_and_says_what_it_left_out(monkeypatch):
    monkeypatch.setattr("mabos_cli.core.mind.pairs._COST", 1000)
    left_out = []
    beliefs = [Belief("Market", f"Segment {n} is {n} years old and grows.", 0.9, line=n) for n in range(300)]
    beliefs += pair("Runway", "18 months", "12 months")
    found = find_conflicts(beliefs, cut=lambda *args: left_out.append(args))
    ((subject, count),) = left_out
    pairs = candidate_pairs([read_belief(belief).marks for belief in beliefs])
    assert subject == "market" and len(pairs) - 1000 / 4 - 1 <= count < len(pairs)
    assert "Runway" in [conflict.subject for conflict in found]


def test_the_order_of_beliefs_does_not_matter():
    beliefs = many(150) + [b for _, s, one, two in DISAGREE for b in pair(s, one, two)]
    found = find_conflicts(beliefs)
    assert len(found) >= len(DISAGREE)
    Random(3).shuffle(beliefs)
    assert find_conflicts(beliefs) == found
    assert [c.severity for c in found] == sorted((c.severity for c in found), reverse=True)


PIECES = [
    "not",
    "no longer",
    "up to",
    "3",
    "€1.2M",
    "12-hour",
    "Q1",
    "2026-02-30",
    "May",
    "the 99th",
    "Redis",
    "is",
]
PIECES += [
    "instead of",
    "from",
    "to",
    "than",
    "replaced",
    "by",
    "un",
    "US",
    ",",
    ".",
    "'s",
    "1/0",
    "0 in 0",
    "%",
    "if",
]
words = st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join)
texts = st.one_of(st.text(max_size=80), words)


@quick
@given(st.lists(st.tuples(texts, texts), max_size=4))
def test_any_text_is_read_and_compared(beliefs):
    given_ = [Belief(subject, text, 0.9, line=n) for n, (subject, text) in enumerate(beliefs)]
    found = find_conflicts(given_)
    assert found == find_conflicts(given_[::-1])
    for conflict in found:
        assert conflict.a != conflict.b and conflict.reason and len(conflict.key) == 16


@quick
@given(texts, texts)
def test_equal_texts_never_conflict(subject, text):
    assert find_conflicts([Belief(subject, text, 0.9, line=1), Belief(subject, text, 0.9, line=2)]) == []


def test_long_text_is_cut():
    for text in ("a-" * 50_000, "if a " * 20_000, "1 to " * 20_000, "9" * 90_000):
        assert len(read_claims(text)) <= 12


def test_subjects_that_say_the_same_meet():
    assert fold_subject("The Session Stores!") == fold_subject("session storage") == fold_subject("Store, sessions")
    assert fold_subject("The") == "the" and fold_subject("") == ""


def test_a_belief_that_is_older_and_surer_is_not_called_stale() -> None:
    def action(before: float, after: float) -> str:
        old = Belief("Price", "Saltmarsh pays 5,900 EUR a month", before)._replace(id="B-1", updated="2026-03-02")
        new = Belief("Price", "Saltmarsh pays 5,600 EUR a month", after)._replace(id="B-2", updated="2026-03-04")
        return find_conflicts([old, new])[0].action

    assert action(0.8, 0.8).startswith("the older one, B-1, is likely stale")
    assert action(0.9, 0.7) == "B-2 is newer, B-1 is surer: find out which holds"


def test_a_number_behind_a_name_that_begins_like_a_month_belongs_to_the_name():
    for text, name in (("We meet at Marienplatz 3", "Marienplatz 3"), ("Mayfield 2 is closed", "Mayfield 2")):
        (claim,) = read_claims(text)
        assert ([each.text for each in claim.names], claim.quantities) == ([name], ())
    assert read_claims("We meet on March 3")[0].moments


@pytest.mark.parametrize(
    ("subject", "one", "two", "other", "conflict"),
    [
        ("Freight prices", "The rate for Oslo-Gdansk is 930 EUR.", "Oslo-Gdansk costs 880 EUR.", "Quotes", True),
        ("Hosting", "We pay 300 USD a month for hosting.", "Hosting costs 450 USD a month.", "Cloud", True),
        (
            "Greenhouse",
            "The greenhouse holds 1,200 plants.",
            "There is room for 900 plants in the greenhouse.",
            "Room",
            True,
        ),
        ("CEO", "Marta Silva is the CEO.", "The CEO is Bruno Costa.", "Management", True),
        ("Trains", "The train to Ulm takes 55 minutes.", "The train from Ulm takes 62 minutes.", "", False),
        ("Freight", "The rate for Oslo-Gdansk is 930 EUR.", "The rate for Oslo-Riga is 880 EUR.", "Quotes", False),
        ("Farm", "The render farm has 40 nodes.", "The render farm is to have 72 nodes by 2027.", "Plans", False),
        ("Fee before dispatch", "0 EUR", "15 EUR", "Fee after dispatch", False),
        ("Contract", "The contract was signed on 3 May 2026.", "The contract ends on 1 June 2029.", "", False),
        ("Boats", "Every boat carries a radio.", "The cars do not carry a radio.", "Cars", False),
        ("Nurses", "Not all nurses have a badge.", "The nurse Olga has no badge.", "Olga", False),
        ("Drivers", "All drivers except Jan have a phone.", "The driver Jan does not have a phone.", "Jan", False),
        ("Alarm", "The alarm is tested twice a year.", "The alarm is tested every six months.", "", False),
        ("Report", "The weekly report goes to Ada.", "The monthly report goes to Bo.", "", False),
    ],
)
def test_measures_quantifiers_and_frequencies(subject: str, one: str, two: str, other: str, conflict: bool) -> None:
    assert bool(find_conflicts(pair(subject, one, two, other))) is conflict


def test_what_beliefs_are_about_sets_them_apart() -> None:
    one, two = pair("Limit for purchases", "10,000 EUR", "50,000 EUR")
    assert find_conflicts([one, two]) and find_conflicts([one._replace(about="cfo"), two])
    assert find_conflicts([one._replace(about="cfo"), two._replace(about="CFO")])
    assert not find_conflicts([one._replace(about="cfo"), two._replace(about="ceo")])


def test_witnesses_are_compared_with_beliefs_and_not_with_one_another() -> None:
    belief = Belief("Price", "A seat costs $29 per month.", 0.9, line=3)
    fact = Belief("Seat", "A seat costs $39 per month.", 0.9, id="F-1", path="fact")
    memory = Belief("", "A seat costs $49 per month.", 0.9, id="M-1", path="memory")
    found = find_conflicts([belief], witnesses=[fact, memory])
    assert sorted(c.action for c in found) == ["revise the belief, or forget M-1", "revise the belief, or retract F-1"]
    assert {side.place for c in found for side in (c.a, c.b)} == {":3", "fact F-1", "memory M-1"}
    assert not find_conflicts([], witnesses=[fact, memory])


def test_lists_below_the_names_of_two_things_are_about_both() -> None:
    rates = [Belief("Rate", "12 EUR", 0.9, line=3, group="Rossi"), Belief("Rate", "10 EUR", 0.9, line=9, group="Verdi")]
    assert not find_conflicts(rates)
    assert find_conflicts(
        [each._replace(group=group) for each, group in zip(rates, ("Financial context", "Current state"), strict=True)]
    )
    named = [each._replace(subject=f"Hall 5 costs {each.text}", text="") for each in rates]
    assert find_conflicts(named)


def test_only_what_changed_is_compared_again(monkeypatch: pytest.MonkeyPatch):
    memo, beliefs = Memo({}, {}), many(200)
    first = find_conflicts(beliefs, memo=memo)
    read: list[Belief] = []
    monkeypatch.setattr(conflicts, "read_belief", lambda belief: read.append(belief) or read_belief(belief))
    assert find_conflicts(beliefs, memo=memo) == first and not read
    changed = [beliefs[0]._replace(text="The hall holds 77 pallets."), *beliefs[1:]]
    assert find_conflicts(changed, memo=memo) == find_conflicts(changed, memo=None)
    assert beliefs[0] not in read and len(read) < 220
