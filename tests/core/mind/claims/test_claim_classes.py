"""Pairs of beliefs from many trades: what kinds of differences are conflicts, and what kinds are none."""

import pytest

from mabos_cli.core.mind.claims.words import compare_words, opposites, root
from mabos_cli.core.mind.conflicts import find_conflicts
from mabos_cli.core.mind.mind import Belief

DISAGREE = [
    # negation
    ("Choir", "The choir performs at funerals.", "The choir never performs at funerals.", ""),
    ("Refrigerated trucks", "All our trucks are refrigerated.", "None of our trucks are refrigerated.", ""),
    ("Aisha", "Aisha is a member of the works council.", "Aisha is not on the works council.", ""),
    (
        "Dr. Lindqvist",
        "Dr. Lindqvist takes new patients.",
        "Dr. Lindqvist isn't taking any new patients.",
        "",
    ),
    ("Postmortems", "Every outage gets a written postmortem.", "We write no postmortems for outages.", ""),
    ("Alpha users", "Alpha users have signed an NDA.", "Nobody among the alpha users has signed an NDA.", ""),
    (
        "Dining car",
        "Trains to Gothenburg carry a dining car.",
        "There's no dining car on trains to Gothenburg.",
        "",
    ),
    (
        "Apple orchard",
        "The orchard has been certified as organic.",
        "The orchard isn't certified as organic.",
        "",
    ),
    ("Fire drill", "A fire drill was held this year.", "There has been no fire drill this year.", ""),
    ("Ravi", "Ravi has a driving licence.", "Ravi has no driving licence.", ""),
    (
        "Tenant screening",
        "We run a credit check on every tenant.",
        "No credit check is run on tenants.",
        "Tenants",
    ),
    ("Expense cards", "Interns get a company card.", "Interns do not get a company card.", "Company cards"),
    ("Bakery", "We bake on Sundays.", "We don't bake on Sundays.", ""),
    (
        "Solvent storage",
        "Solvents are stored in the basement.",
        "Solvents may not be stored in the basement.",
        "",
    ),
    ("Runway", "The cash lasts until we run dry in ten months.", "Runway: 16 months.", ""),
    ("Gestation", "A cow carries for nine months.", "Gestation takes 240 days.", ""),
    # antonym
    ("Lift", "The lift in building B is working again.", "The lift in building B is broken.", ""),
    ("Playtest feedback", "Testers found the tutorial boring.", "Testers found the tutorial exciting.", ""),
    ("Export orders", "Export orders are picking up.", "Export orders are slowing down.", ""),
    ("Barn roof", "The barn roof is watertight.", "The barn roof leaks.", ""),
    ("Patient flow", "The number of outpatients has gone up.", "We see fewer outpatients than before.", ""),
    (
        "Gearbox",
        "The new gearbox is quieter than the old one.",
        "The new gearbox is louder than the old one.",
        "",
    ),
    ("Steel demand", "Demand for steel is strong.", "Demand for steel is weak.", ""),
    ("Insulation", "The attic is well insulated.", "The attic is poorly insulated.", ""),
    ("Zoe's mood", "Zoe is satisfied with her new role.", "Zoe is unhappy with her new role.", ""),
    ("Nurse morale", "Morale among the nurses is high.", "Morale among the nurses is low.", ""),
    ("Drought", "The well on the hill is full.", "The well on the hill has run dry.", ""),
    ("Retry logic", "Retries are enabled for webhooks.", "Retries are disabled for webhooks.", "Webhooks"),
    (
        "Brand awareness",
        "Brand awareness in Spain has improved.",
        "Brand awareness in Spain has worsened.",
        "",
    ),
    # number
    ("Batch size", "We train with batches of 512.", "The batch size is 256.", ""),
    ("Deposit", "A deposit of 20% is due on booking.", "On booking, guests pay a 30 percent deposit.", ""),
    ("Cache TTL", "Entries are cached for 5 minutes.", "The cache TTL is 60 seconds.", ""),
    ("Ferry capacity", "The ferry carries up to 90 cars.", "The ferry can carry at most 60 cars.", ""),
    ("Metric retention", "Metrics are retained for thirteen months.", "We keep metrics for 30 days.", ""),
    ("Market share", "Our market share is 23%.", "We hold roughly a third of the market.", ""),
    ("Notice", "Tenants must give three months' notice.", "Tenants must give six weeks' notice.", ""),
    ("ICU", "The ICU has a dozen ventilators.", "The ICU has nine ventilators.", ""),
    ("GPU memory", "Each GPU has 80 GB of memory.", "The GPUs have 40 GB of memory each.", ""),
    ("Court fees", "The court fees come to 3,480 euros.", "Court fees amount to €2,960.", ""),
    # date
    ("Retirement of Jens", "Jens retires next year.", "Jens will retire in 2031.", ""),
    (
        "Parents' evening",
        "Parents' evening is on Thursday.",
        "Parents' evening takes place on a Tuesday.",
        "",
    ),
    ("Bond maturity", "The bond matures in 2031.", "The bond matures in 2029.", ""),
    ("Roof repair", "The roof will be repaired in spring.", "The roof will be repaired in October.", ""),
    ("Film premiere", "The film premieres on Friday 3 July.", "The premiere is on 17 July.", ""),
    ("Harvest", "Grape harvest begins in September.", "Grape harvest begins in mid-August.", ""),
    (
        "Founding",
        "The cooperative was founded in 1921.",
        "The cooperative was founded in 1912.",
        "Cooperative",
    ),
    ("Open beta", "The open beta starts next month.", "The open beta starts next spring.", ""),
    ("Filing", "The brief must be filed by Friday.", "The brief is due on Monday.", ""),
    ("IPO", "The IPO is planned for 2027.", "The IPO will not happen before 2028.", ""),
    ("Payslips", "Payslips are sent on the 25th.", "Payslips go out on the last day of the month.", ""),
    ("Lambing", "Lambing begins in mid-February.", "Lambing begins in April.", ""),
    ("Handover", "The handover of the barn is at 7 a.m.", "The barn is handed over at 10:30.", ""),
    # named-value
    ("Paint supplier", "Paint comes from Jotun.", "We get our paint from Hempel.", ""),
    ("House bank", "Our house bank is Commerzbank.", "We do our banking with ING.", ""),
    ("Team lead", "Ola leads the data team.", "The data team is led by Bea.", "Data team"),
    ("Tracing backend", "Jaeger", "Tempo", ""),
    (
        "Data warehouse",
        "Our data warehouse runs on Snowflake.",
        "Our data warehouse runs on BigQuery.",
        "Analytics",
    ),
    (
        "Power of attorney",
        "Mr. Falk holds the power of attorney.",
        "The power of attorney is held by Ms. Dahl.",
        "",
    ),
    (
        "Experiment tracking",
        "Experiments are tracked in MLflow.",
        "Experiments are tracked in Weights & Biases.",
        "",
    ),
    ("Auditor", "KPMG audits our books.", "Our books are audited by Grant Thornton.", ""),
    ("Terminus", "The night train ends in Trieste.", "The night train's terminus is Ljubljana.", ""),
    ("Headteacher", "Mrs. Okoye", "Mr. Brandt", ""),
    ("Rolling stock", "The trains are built by Stadler.", "The trains are made by Alstom.", ""),
    ("Ship registry", "The ship is registered in Malta.", "The ship is registered in Panama.", ""),
    ("Freight forwarder", "Kuehne handles our sea freight.", "Our sea freight is handled by Maersk.", ""),
    # supersession
    ("Ferry", "There is a ferry to the island every hour.", "The ferry to the island no longer runs.", ""),
    ("Build farm", "Builds run on TeamCity.", "We switched from TeamCity to Buildkite.", ""),
    (
        "Tram 5",
        "Tram 5 goes to the airport.",
        "Tram 5 was rerouted and now ends at the exhibition grounds.",
        "",
    ),
    ("Ploughing", "We plough every field in autumn.", "We stopped ploughing two years ago.", ""),
    ("Billing", "Timesheets are filled in on paper.", "Timesheets are now entered in Clio.", ""),
    (
        "Company car",
        "Everyone in sales has a company car.",
        "Company cars were replaced by a mobility budget.",
        "",
    ),
    (
        "Monitoring",
        "We monitor with Nagios.",
        "Nagios has been decommissioned; Zabbix does the monitoring now.",
        "",
    ),
    ("Serving", "The model is served with TorchServe.", "We moved model serving over to Triton.", ""),
    ("Shift model", "Nurses work in three shifts.", "Nurses have switched to two 12-hour shifts.", ""),
    ("Chemotherapy ward", "Dr. Abel heads the chemotherapy ward.", "Dr. Abel has retired.", ""),
    (
        "Patient records",
        "Patient records are kept on paper.",
        "All patient records were digitised last month.",
        "",
    ),
    (
        "Grades",
        "Report cards show marks from 1 to 6.",
        "Marks have been replaced by written assessments.",
        "",
    ),
    ("Authentication", "Users log in with a password.", "We switched to passkeys; passwords are gone.", ""),
    # nearly the same words under headings that only say where they are filed
    ("Wine list", "The house red is served cold.", "The house red is never served cold.", "Cellar notes"),
    ("Bylaws", "A quorum of the board is 5 members.", "A quorum of the board is 7 members.", "Board talks"),
    ("Class 7b", "Class 7b has twenty-six pupils.", "Class 7b has 31 pupils.", "Room planning"),
    ("Swimming", "The outdoor pool opens on 9 May.", "The outdoor pool opens on 23 May.", "Season opener"),
    # other forms
    ("Lawn", "Our lawn is mowed by a Stihl robot.", "Our lawn is mowed by a Wolf robot, bought by Ulf.", ""),
    ("Bread", "All our bread comes from Kessler Bakery.", "All our bread comes from Ott Bakery.", "Food"),
    ("Sales", "up on last month", "down on last month", ""),
    ("AGM", "Held on the first Monday of June.", "The AGM is on the third Monday of June.", ""),
    ("Cache", "The cache never evicts pages.", "The cache evicts pages when memory is low.", ""),
    ("Kiln", "The kiln burns gas.", "The kiln was converted from gas to electricity.", "Energy"),
    ("Waste", "Waste is burnt here.", "Waste now goes to Kolm instead of being burnt here.", ""),
]

AGREE = [
    # nearly the same words under headings that say what they are about
    ("Kiel", "The emergency exit closes at 22:00.", "The emergency exit closes at 20:00.", "Flensburg"),
    ("Nurses", "The night shift allowance is 40 euros.", "The night shift allowance is 60 euros.", "Doctors"),
    ("Line 2", "The conveyor motor runs at 900 rpm.", "The conveyor motor runs at 1200 rpm.", "Packing hall"),
    ("Low season", "A double room costs 80 euros.", "A double room costs 140 euros.", "High season"),
    ("Staging", "The web tier runs with 2 replicas.", "The web tier runs with 6 replicas.", "Production"),
    ("Rooms in Haus A", "The laundry room is open.", "The laundry room is not open.", "Rooms in Haus C"),
    # other forms
    ("Baking times", "Scones: 12 minutes.", "Muffins: 25 minutes, fan oven.", ""),
    ("Mail", "Before May 2024, mail went through Exim.", "From May 2024 on, it went through Zimbra.", ""),
    (
        "Orders",
        "Orders cannot be changed once they are paid.",
        "Orders can be changed before they are paid.",
        "",
    ),
    ("Cache", "The cache never evicts pinned pages.", "The cache evicts unpinned pages when it is full.", ""),
    ("Kiln", "The small kiln burns gas.", "The large kiln was converted from gas to oil.", ""),
    ("Payroll", "Payroll is run by Linz.", "Payroll was handed over from Graz to Linz.", ""),
    # paraphrase
    ("Crane", "The crane can lift 12 tonnes.", "The crane's capacity is 12,000 kg.", ""),
    ("Overtime", "We don't pay overtime.", "Overtime is unpaid.", ""),
    ("Steel", "Steel is in high demand.", "Demand for steel is high.", ""),
    ("Tuition", "Students don't pay tuition.", "Tuition is free.", ""),
    ("Lin", "Greta mentors Lin.", "Lin's mentor is Greta.", ""),
    ("Press", "We no longer own the press.", "The press was sold.", ""),
    ("Crew", "Fourteen people make up the crew.", "The crew has 14 members.", ""),
    ("Board", "Half of the board members are women.", "50% of the members of the board are female.", ""),
    ("Surgery", "The operation was postponed.", "The operation will take place later than planned.", ""),
    ("Tenants", "Tenants aren't allowed to sublet.", "Subletting is prohibited.", ""),
    ("Deposits", "Deposits are not refunded.", "We do not give deposits back.", ""),
    ("Nils", "Nils is Ada's deputy.", "When Ada is away, Nils stands in for her.", ""),
    ("Track 2", "Track 2 is out of service.", "Track 2 can't be used at the moment.", ""),
    ("Class trip", "The class trip was called off.", "The class trip isn't taking place.", ""),
    # scope
    ("Difficulty", "On easy, enemies have 50 health.", "On hard, enemies have 120 health.", ""),
    ("Welding", "Sven may weld steel.", "Sven may not weld aluminium.", ""),
    ("Members", "Members enter for free.", "Non-members pay 12 euros.", ""),
    ("Ticket price", "Children pay 4 euros.", "Adults pay 9 euros.", ""),
    (
        "Pesticides",
        "Pesticides are banned in the orchard.",
        "Pesticides are allowed in the wheat fields.",
        "",
    ),
    ("Baggage", "On short flights one bag is free.", "On long flights two bags are free.", ""),
    ("Depot", "The trams are parked in the Nord depot.", "The buses are parked in the Ostend depot.", ""),
    ("Drills", "Building A has a fire drill every year.", "Building C has no fire drills.", ""),
    ("Barn A", "Barn A holds 60 animals.", "Barn B holds 85 animals.", "Barn B"),
    ("Sampling", "In staging we sample all traces.", "In production we sample 1% of the traces.", ""),
    ("Cache", "The browser cache lives for an hour.", "The CDN cache lives for a day.", ""),
    ("Contact", "For invoices the contact is Lea.", "For repairs the contact is Jo.", ""),
    ("Tax", "Books are taxed at 7%.", "Toys are taxed at 19%.", ""),
    ("Latency", "Reads take 4 ms.", "Writes take 30 ms.", ""),
    # time
    ("Milk price", "The milk price was 38 cents in March.", "The milk price was 42 cents in May.", ""),
    ("Gala", "Last year's gala was in the Old Mint.", "This year's gala is in the Town Hall.", ""),
    ("Stock", "On 1 May we had 900 bales in stock.", "On 1 August we had 120 bales in stock.", ""),
    ("Ferry prices", "In 2023 a ticket was 12 euros.", "In 2025 a ticket was 15 euros.", ""),
    ("Office", "From 2015 to 2020 the firm was in Bonn.", "Since 2021 the firm has been in Cologne.", ""),
    ("Staffing", "We used to have one night nurse.", "There are two night nurses now.", ""),
    ("Heating", "In January heating costs 900 euros.", "In June heating costs 100 euros.", ""),
    ("Chair", "Dr. Ahn chaired the board until 2020.", "Dr. Bose has chaired the board since 2020.", ""),
    ("Team", "During production the team had 60 people.", "After release the team had 25 people.", ""),
    ("Budget", "The legal budget for 2025 was $300k.", "The legal budget for 2026 is $420k.", ""),
    ("Auditor", "Until last year KPMG audited our books.", "Grant Thornton audits our books.", ""),
    ("Rates", "Rates are expected to rise next year.", "Rates fell this year.", ""),
    ("IPO", "In 2024 we were against an IPO.", "In 2026 we are in favour of an IPO.", ""),
    ("Lift", "The lift was broken on Tuesday.", "The lift worked on Thursday.", ""),
    # elaboration
    ("Suppliers", "We buy steel from Voest.", "We buy steel from Voest and from Salzgitter.", ""),
    (
        "Alerts",
        "Alerts go to Slack.",
        "Alerts go to Slack, and those of severity 1 also go to the pager.",
        "",
    ),
    (
        "Tarn",
        "Tarn is a client of ours.",
        "Tarn has been a client of ours since 2016 and is billed quarterly.",
        "",
    ),
    ("Vault", "Secrets are kept in Vault.", "Secrets are kept in Vault and rotated every 90 days.", ""),
    ("ICU", "The ICU is full.", "The ICU is full, so two patients had to be sent to Lund.", ""),
    ("Price", "The price is 40 euros.", "The price of 40 euros includes breakfast.", ""),
    ("Crane", "The crane is red.", "The crane is red and was painted in 2022.", ""),
    ("Passkeys", "We support passkeys.", "We support passkeys since version 4; passwords still work.", ""),
    ("Loan", "The loan runs until 2031.", "The loan runs until March 2031 at a fixed rate of 3.4%.", ""),
    ("Badger", "Our mascot is a badger.", "Our mascot is a badger called Bruno.", ""),
    ("Vet", "The vet comes on Tuesdays.", "The vet comes on Tuesdays and Fridays.", ""),
    ("Fund", "The fund holds bonds.", "The fund holds bonds and a few shares.", ""),
    ("Ward 4", "Ward 4 has 28 beds.", "Of the 28 beds on ward 4, six are in single rooms.", ""),
    ("Visa", "Karim needs a visa.", "Karim needs a visa, and the embassy takes six weeks to issue it.", ""),
    # unrelated
    ("Ferry", "The ferry takes 40 minutes.", "The ferry leaves every 90 minutes.", ""),
    ("Mill", "The mill has 14 employees.", "The mill has two wheels.", ""),
    ("Fund", "The fund was launched in 2012.", "The fund was audited in 2024.", ""),
    ("Tarn", "Tarn's lawyer is Ms. Roth.", "Tarn's chairman is Mr. Ilves.", ""),
    ("Paper", "The paper has 12 pages.", "The paper has 4 authors.", ""),
    ("Sakari", "Sakari conducts the orchestra.", "Sakari has moved to Turku.", ""),
    ("Kafka", "Kafka is used for events.", "Kafka isn't backed up.", ""),
    ("Kiosk", "The kiosk sells newspapers.", "The kiosk is for sale.", ""),
    ("Irrigation", "Irrigation uses 40% of our water.", "Irrigation is now paid for by the district.", ""),
    ("Anna", "Anna works part-time.", "Anna doesn't have a car.", ""),
    ("Tractor", "The tractor is green.", "The tractor was bought second-hand.", ""),
    pytest.param(
        "Gala",
        "The gala costs 40,000 euros.",
        "A seat at the gala costs 90 euros.",
        "",
        marks=pytest.mark.xfail(strict=True, reason="parts of a thing are taken for the thing"),
    ),
    ("Year 9", "Year 9 has 78 pupils.", "Year 9 goes to Rome in May.", ""),
    ("Hens", "The hens lay 300 eggs a day.", "The hens eat 40 kg of grain a day.", ""),
]


def conflicts(subject: str, one: str, two: str, other: str) -> set[int]:
    """How many conflicts there are, whichever belief stands first; the second is the later one."""
    a = Belief(subject, one, 0.9, "2025-06-03")
    b = Belief(other or subject, two, 0.8, "2026-01-14")
    return {len(find_conflicts([x._replace(line=1), y._replace(line=2)])) for x, y in ((a, b), (b, a))}


@pytest.mark.parametrize(("subject", "one", "two", "other"), DISAGREE)
def test_one_excludes_the_other(subject, one, two, other):
    assert conflicts(subject, one, two, other) == {1}


@pytest.mark.parametrize(("subject", "one", "two", "other"), AGREE)
def test_both_can_be_right(subject, one, two, other):
    assert conflicts(subject, one, two, other) == {0}


def test_no_word_is_its_own_opposite():
    for word, groups in opposites().items():
        assert len({line for line, *_ in groups}) == len(groups), word


@pytest.mark.parametrize(
    ("one", "two", "relation"),
    [
        ("grew", "shrinking", "opposed"),
        ("approved", "rejection", "opposed"),
        ("overestimate", "underestimates", "opposed"),
        ("upgrading", "downgraded", "opposed"),
        ("efficient", "inefficient", "opposed"),
        ("occupied", "vacant", "opposed"),
        ("dimension", "dimensional", "same"),
        ("teal", "orange", "excluded"),
        ("train", "harvest", ""),
    ],
)
def test_words_are_compared_in_any_form(one, two, relation):
    assert compare_words(root(one), root(two))[0] == compare_words(root(two), root(one))[0] == relation


@pytest.mark.parametrize(
    ("said", "two", "count"),
    [
        ("2026-02-19", "Frostlog enters Japan this spring.", 1),
        ("2027-02-19", "Frostlog enters Japan this spring.", 0),
        ("", "Frostlog enters Japan this spring.", 0),
        ("2026-02-19", "Frostlog enters Japan next year.", 0),
        ("2026-11-19", "Frostlog enters Japan by the end of the quarter.", 1),
    ],
)
def test_relative_times_are_told_from_the_day_they_were_said(said, two, count):
    one = Belief("Frostlog", "Frostlog enters Japan not before 2027.", 0.9, "2026-01-16", line=1)
    assert len(find_conflicts([one, Belief("Frostlog", two, 0.9, said, line=2)])) == count


def test_what_a_belief_states_as_well_does_not_conflict_with_the_rest_of_it():
    one = Belief("Hosting", "The site is hosted on Vercel.", 0.9, "2025-01-01", line=1)
    two = "The site is hosted on Vercel; it was moved from Heroku in 2023."
    assert find_conflicts([one, Belief("Hosting", two, 0.9, "2026-01-01", line=2)]) == []
