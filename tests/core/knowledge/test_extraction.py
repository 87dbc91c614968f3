import pytest

from mabos_cli.core.knowledge.extraction import extract_triples

SAID = {
    "Acme's revenue is $2M.": ("Acme", "hasRevenue", "$2M"),
    "The CTO of Acme is Ana Silva": ("Acme", "hasCTO", "Ana Silva"),
    "Ana is the CTO of Acme": ("Acme", "hasCTO", "Ana"),
    "Acme has 40 employees": ("Acme", "hasEmployees", "40"),
    "Acme has a headcount of 40": ("Acme", "hasHeadcount", "40"),
    "Northwind is a customer": ("Northwind", "isA", "customer"),
    "Acme is based in Lisbon": ("Acme", "basedIn", "Lisbon"),
    "The office is in Lisbon now": ("office", "isIn", "Lisbon"),
    "Dana works at Acme, and she likes it": ("Dana", "worksAt", "Acme"),
    "Sarah reports to Dana because Ada left": ("Sarah", "reportsTo", "Dana"),
    "The staging server runs on Debian 12": ("staging server", "runsOn", "Debian 12"),
    "The default port is 8443": ("default port", "is", "8443"),
    "Tom's wife is called Ingrid": ("Tom", "hasWife", "Ingrid"),
}
UNSAID = (
    "Maybe Dana moves to Rome",
    "Dana might live in Rome",
    "Dana moved to Rome",
    "Dana no longer lives in Rome",
    "Acme does not use Postgres",
    "If Acme pays, Dana stays",
    "Does Dana live in Rome?",
    "It is 5 o'clock",
    "This is great",
    "The tests are green",
    "Docker images live in the registry",
    "Thanks for that",
    "I've always been fond of it",
    "The pilot with mixed groups raised scores",
    "Let's ship it",
    "Please use tabs",
    "We use Adyen",
    "Our office is in Porto",
    "Anna wohnt in Berlin",
    "Le bureau est à Paris",
    "```\nAcme's key is 12\n```",
)


def triples(text: str, **given: object) -> list[tuple[str, str, str]]:
    return [found.triple for found in extract_triples(text, **given)]


@pytest.mark.parametrize("text", SAID)
def test_what_a_statement_says_outright(text: str) -> None:
    assert triples(text) == [SAID[text]]


@pytest.mark.parametrize("text", UNSAID)
def test_what_says_nothing_that_holds(text: str) -> None:
    assert triples(text) == []


def test_whom_we_mean_must_be_named() -> None:
    text = "We use Adyen. Our office is in Porto. My birthday is 3 May. We never deploy on Fridays. I moved to Rome."
    assert triples(text, speaker="Umbra") == [
        ("Umbra", "uses", "Adyen"),
        ("Umbra", "hasOfficeIn", "Porto"),
        ("Umbra", "hasBirthday", "3 May"),
    ]


def test_predicates_in_use_are_taken_and_surer() -> None:
    [new], [used] = (list(extract_triples("Acme's turnover is $2M", predicates=used)) for used in ((), ("turnover",)))
    assert (new.triple[1], used.triple[1]) == ("hasTurnover", "turnover")
    assert used.confidence > new.confidence


def test_when_it_holds() -> None:
    [found] = extract_triples("Dana lives in Berlin since 2024-03-01 until 2026-12-31.")
    assert (found.triple[2], found.valid_from, found.valid_until) == ("Berlin", "2024-03-01", "2026-12-31")


def test_what_is_named_is_surer_than_what_is_described() -> None:
    named, described, anonymous = (
        next(extract_triples(text)).confidence
        for text in ("Acme uses Postgres", "Acme Corp uses two old databases", "The shop uses two old databases")
    )
    assert named > described > anonymous
    [doubtful] = extract_triples("Order glazes early")  # a verb, perhaps, and no name
    assert doubtful.confidence <= 0.5
