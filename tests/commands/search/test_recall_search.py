"""What recall finds: what is written, what is meant, in any script, and what the best hits lead to."""

import json
import math
import re
import unicodedata

import pytest

from commands.desk import Desk, note, refs_of
from commands.notes import UNRELATED
from mabos_cli.core.memory.stores import Departure
from mabos_cli.core.search.recall import Depth, recall
from mabos_cli.formats.memory.items import render_departure

# What stands there as written

SERVICES = "billing payment invoice checkout refund order basket login search export".split()
LOUD = [
    note(
        n,
        f"The {SERVICES[n % 10]} service failed with an error code during deploy {n}; "
        "the error was a timeout of the database connection",
        importance=1.0,
    )
    for n in range(200)
]
LONG = "Long minutes of the week. " * 60
WRITTEN = {
    "ERR_4711": LONG + "Someone saw ERR_4711 on Tuesday.",
    "ORA-00942": LONG + "ORA-00942 came up",
    "E1001": "E1001",
    "v2.1.7": "Pinned to v2.1.7",
    "deploy_prod.sh": "Run deploy_prod.sh from the laptop",
    "src/app/main.py": "The loop is in src/app/main.py",
    "ops@example.com": "Write to ops@example.com",
    '"blue heron protocol"': LONG + "We call it the blue heron protocol",
    '"a quarter to"': "Come at a quarter to five",
}


@pytest.fixture(scope="module")
def loud(tmp_path_factory):
    """200 important notes about errors and deploys, and a few unimportant ones that hold a name."""
    desk = Desk(tmp_path_factory.mktemp("loud") / "ws")
    quiet = [note(1000 + n, text, importance=0.0) for n, text in enumerate(WRITTEN.values())]
    desk.put(LOUD + quiet)
    desk.write("notes/deploy-runbook.md", "# Deploy\n\nFirst build.\n\n## Rollback\n\nTake the last image.\n")
    return desk


@pytest.mark.parametrize("place", range(len(WRITTEN)), ids=WRITTEN)
@pytest.mark.parametrize(
    "question",
    ["{}", "{}?", "Which error came with {} when the deploy failed with a timeout of the database?"],
)
def test_what_is_named_comes_first(loud, place, question):
    name = [*WRITTEN][place]
    assert loud.refs(question.format(name))[0] == note(1000 + place, "").id


@pytest.mark.parametrize("preset", ["default", "seed", "balanced", "rrf"])
def test_what_is_named_comes_first_whatever_the_preset(loud, preset):
    question = "the error ERR_4711 during the deploy of the database"
    assert loud.refs(question, preset=preset)[0] == note(1000, "").id


def test_what_is_named_comes_first_with_a_limit_of_one(loud):
    assert loud.refs("timeout error of the deploy, ERR_4711", 1) == [note(1000, "").id]


@pytest.mark.parametrize("number", [0, 77, 199, 1000, 1007])
@pytest.mark.parametrize("question", ["{}", "what is {}?", "deploy error timeout {}"])
def test_an_id_finds_its_item(loud, number, question):
    wanted = note(number, "").id
    assert loud.refs(question.format(wanted))[0] == wanted
    assert loud.refs(question.format(wanted.lower()))[0] == wanted


def test_a_file_name_finds_its_passages(loud):
    for question in ("deploy-runbook.md", "notes/deploy-runbook.md", "what does deploy-runbook.md say?"):
        assert {*loud.refs(question)[:2]} == {"notes/deploy-runbook.md:1-3", "notes/deploy-runbook.md:5-7"}
    assert loud.refs("deploy-runbook.md about the last image")[0] == "notes/deploy-runbook.md:5-7"


def test_words_of_a_phrase_apart_are_not_the_phrase(desk):
    phrase, apart = (
        note(1, "the night shift swaps", importance=0),
        note(2, "shift of the night", importance=1),
    )
    desk.put([phrase, apart, *(note(9 + n, text) for n, text in enumerate(UNRELATED))])
    exact = {hit.candidate.ref: "exact" in dict(hit.parts) for hit in desk.ask('"night shift"')}
    assert exact[phrase.id] and not exact[apart.id]


def test_a_phrase_in_an_unspaced_script_is_a_phrase(desk):
    phrase, apart = note(1, "我们按座位收费"), note(2, "每个座位很贵")
    desk.put([phrase, apart, *(note(9 + n, text) for n, text in enumerate(UNRELATED))])
    exact = {hit.candidate.ref: "exact" in dict(hit.parts) for hit in desk.ask('"座位收费"')}
    assert exact[phrase.id] and not exact[apart.id]


def test_a_quoted_phrase_of_stop_words_comes_first(desk):
    desk.settle("embeddings:\n  provider: none\n")
    phrase = note(1, "To be or not to be", importance=0)
    desk.put([phrase, *(note(9 + n, f"price of thing {n}", importance=1) for n in range(50))])
    assert desk.refs('"to be or not" price')[0] == phrase.id


def test_an_abbreviation_does_not_push_out_the_answer(desk):
    desk.put(
        [
            note(1, "Lunch is served at 1 p.m. in the canteen"),
            note(2, "The budget review is in the large room"),
        ]
    )
    assert desk.refs("Where is the budget review at 7 p.m.?")[0] == note(2, "").id


def test_an_archived_item_is_found_by_its_id_when_asked(desk):
    desk.put([note(n, text) for n, text in enumerate(UNRELATED)])
    desk.archive([note(100 + n, f"old budget {n}") for n in range(5)])
    assert desk.recall(note(103, "").id, "--archived").refs[0] == note(103, "").id


# Scripts

TEXTS = {
    "zh": "我们决定按座位收费，每个座位十二欧元",
    "zh-weather": "明天北京的天气很好",
    "ja": "来週の火曜日に大阪で会議があります",
    "ja-kana": "カタカナのテストをあとで実行する",
    "ko": "서울에서 회의를 했습니다",
    "th": "วันนี้อากาศดีมากในกรุงเทพ",
    "ar": "سنلتقي غدا في القاهرة",
    "he": "הפגישה מחר בירושלים",
    "ru": "Мы встретились в Москве вчера",
    "el": "Η συνάντηση είναι στην Αθήνα",
    "hi": "हम कल दिल्ली में मिलेंगे",
    "bn": "আমরা ঢাকায় দেখা করব",
    "ta": "நாங்கள் சென்னையில் சந்திப்போம்",
    "am": "አዲስ አበባ ውስጥ",
    "ka": "თბილისში შეხვედრა",
    "my": "မြန်မာစာ စမ်းသပ်မှု",
    "km": "ភាសាខ្មែរ",
    "lo": "ພາສາລາວ",
    "vi": "Cuộc họp ở Hà Nội",
    "fr": "Le café est près de la gare",
    "pl": "Łódź i zażółć gęślą jaźń",
    "emoji": "Launch party 🎉🚀 tonight",
    "mixed": "Tokyo 東京都 office v2 открыт",
}
ASKED = [
    ("座位", "zh"),
    ("收费", "zh"),
    ("十二欧元", "zh"),
    ("天气", "zh-weather"),
    ("北京天气", "zh-weather"),
    ("会議", "ja"),
    ("火曜", "ja"),
    ("大阪の会議", "ja"),
    ("カタ", "ja-kana"),
    ("テスト", "ja-kana"),
    ("実行", "ja-kana"),
    ("서울", "ko"),
    ("회의", "ko"),
    ("했습", "ko"),
    ("อากาศ", "th"),
    ("กรุงเทพ", "th"),
    ("القاهرة", "ar"),
    ("بירושלים".replace("ب", "ב"), "he"),
    ("Москве", "ru"),
    ("МОСКВЕ вчера", "ru"),
    ("Αθήνα", "el"),
    ("ΑΘΉΝΑ", "el"),
    ("दिल्ली", "hi"),
    ("ঢাকায়", "bn"),
    ("சென்னையில்", "ta"),
    ("አበባ", "am"),
    ("თბილისში", "ka"),
    ("မြန်မာ", "my"),
    ("ខ្មែរ", "km"),
    ("ພາສາ", "lo"),
    ("ha noi", "vi"),
    ("Hà Nội", "vi"),
    ("cafe", "fr"),
    ("café", "fr"),
    ("CAFE\u0301", "fr"),
    ("gesla jazn", "pl"),
    ("東京都", "mixed"),
    ("京都", "mixed"),
    ("Tokyo", "mixed"),
    ("открыт", "mixed"),
    ("what is открыт in 東京?", "mixed"),
]


@pytest.fixture(scope="module", params=["wordllama", "none"])
def polyglot(request, tmp_path_factory):
    """The search over notes in many scripts, with vectors and without, and what each of them is about."""
    desk = Desk(tmp_path_factory.mktemp("polyglot") / "ws")
    desk.settle(f"embeddings:\n  provider: {request.param}\n")
    items = {name: note(n, text) for n, (name, text) in enumerate(TEXTS.items())}
    desk.put([*items.values(), *(note(100 + n, text) for n, text in enumerate(UNRELATED))])
    return desk.search(), {name: item.id for name, item in items.items()}


@pytest.mark.parametrize(("question", "name"), ASKED)
def test_every_script_is_found(polyglot, question, name):
    search, ids = polyglot
    assert refs_of(recall(search, question, 10))[0] == ids[name]


@pytest.mark.parametrize("name", ["zh", "zh-weather", "ja", "ja-kana", "ko", "th"])
def test_any_piece_of_unspaced_text_is_found(polyglot, name):
    search, ids = polyglot
    text = TEXTS[name].replace(" ", "").partition("，")[0] if name != "ko" else TEXTS[name].split()[0]
    for start in range(len(text) - 1):
        for end in range(start + 2, len(text) + 1):
            if re.search(r"\w\w", text[start:end]):  # marks alone say nothing
                assert ids[name] in refs_of(recall(search, text[start:end], 10)), text[start:end]


def test_every_note_is_found_by_its_own_text(polyglot):
    search, ids = polyglot
    for name, text in TEXTS.items():
        assert refs_of(recall(search, text, 10))[0] == ids[name]


FOLDED = ["Straße", "weiß", "İstanbul", "Երևան", "ﬁnal"]


@pytest.mark.parametrize("word", FOLDED)
def test_a_word_is_found_by_itself(desk, word):
    desk.settle("embeddings:\n  provider: none\n")
    ids = desk.put([note(n, f"about {text} here") for n, text in enumerate(FOLDED)])
    assert desk.refs(word) == [ids[FOLDED.index(word)]]


MARKED = [
    ("résumé", "NFC", "NFD"),
    ("Zürich", "NFC", "NFD"),
    ("пойдём", "NFC", "NFD"),
    ("пойдём", "NFD", "NFC"),
]


@pytest.mark.parametrize(("word", "written", "asked"), [*MARKED, ("가다", "NFC", "NFD"), ("가다", "NFD", "NFC")])
def test_letters_with_marks_are_found_in_either_form(desk, word, written, asked):
    """A Mac gives file names, and what is pasted from them, in decomposed letters."""
    desk.settle("embeddings:\n  provider: none\n")
    ids = desk.put([note(1, unicodedata.normalize(written, f"about {word} here")), note(2, "nothing of the kind")])
    assert desk.refs(unicodedata.normalize(asked, word)) == ids[:1]


@pytest.mark.parametrize("word", ["résumé", "Zürich"])
def test_decomposed_latin_texts_are_found(desk, word):
    desk.settle("embeddings:\n  provider: none\n")
    ids = desk.put([note(1, unicodedata.normalize("NFD", f"about {word} here")), note(2, "nothing of the kind")])
    assert desk.refs(word) == ids[:1]


HINDI = ["लाल किताब मेज पर है", "वह लंबा लड़का दौड़ता है", "बारिश बहुत तेज है", "बच्चे स्कूल जा रहे हैं", "मुझे दूध लाना है"]


@pytest.mark.parametrize(("word", "place"), [("किताब", 0), ("लड़का", 1), ("स्कूल", 3), ("दूध", 4)])
def test_words_with_vowel_signs_are_words(desk, word, place):
    desk.settle("embeddings:\n  provider: none\n")
    ids = desk.put([note(n, text) for n, text in enumerate(HINDI)])
    assert desk.refs(word) == [ids[place]]


# Meaning

MEANT = {
    "how much do we charge": "We bill 12 EUR per seat",
    "seeing a doctor": "The meeting with the physician is on Friday",
    "car trouble": "Her automobile broke down on the motorway",
}


@pytest.fixture(scope="module")
def meant(tmp_path_factory):
    desk = Desk(tmp_path_factory.mktemp("meant") / "ws")
    wanted = [note(100 + n, text) for n, text in enumerate(MEANT.values())]
    desk.put([*(note(n, text) for n, text in enumerate(UNRELATED)), *wanted])
    return desk


@pytest.mark.parametrize("question", MEANT)
def test_meaning_is_found_without_a_common_word(meant, question):
    hit = meant.ask(question)[0]
    assert hit.candidate.text == MEANT[question]
    assert hit.matched == () or question.startswith("how")
    assert dict(hit.parts)["lexical"] == 0


@pytest.mark.parametrize("question", ["quantum chromodynamics lattice", "zzzz qqqq", "mortgage interest rate"])
def test_what_has_nothing_in_common_is_no_answer(meant, question):
    assert meant.ask(question) == []
    said = meant.run("recall", question)
    assert said.code == 0
    assert said.stdout == "nothing found among 53 memories and passages\n"


def test_without_a_model_there_is_no_meaning(meant):
    meant.settle("embeddings:\n  provider: none\n")
    try:
        assert meant.ask("seeing a doctor") == []
        assert meant.run("recall", "seeing a doctor").stdout.startswith("nothing found")
        assert meant.recall("seeing a doctor").warnings == []  # it was asked for
    finally:
        meant.settle("")


# Conversations


def test_answers_are_found_by_their_questions(desk):
    """A turn counts for its neighbours of the same session."""
    talk = [
        ("Ada", "Which harbour did you sail to with your brother?"),
        ("Bob", "Kristiansund, it took nine days."),
        ("Ada", "Lovely!"),
    ]
    turns = [note(n, text, author=author, session="s1") for n, (author, text) in enumerate(talk)]
    desk.put([*turns, *(note(100 + n, text) for n, text in enumerate(UNRELATED))])
    hits = {hit.candidate.ref: hit for hit in desk.ask("Which harbour did they sail to?", 5)}
    assert [*hits][:2] == [turns[0].id, turns[1].id]
    assert dict(hits[turns[1].id].parts)["neighbour"] > 0


def test_what_the_named_one_said_counts_more(desk):
    one = note(1, "I like sailing in the summer", author="Ada")
    two = note(2, "I like sailing in the summer too", author="Bob")
    desk.put([one, two, *(note(100 + n, text) for n, text in enumerate(UNRELATED))])
    assert desk.refs("What does Ada like about sailing?")[0] == one.id
    assert desk.refs("What does Bob like about sailing?")[0] == two.id
    hit = desk.ask("What does Bob like about sailing?")[0]
    assert dict(hit.parts)["author"] == 0.25


def test_neighbours_pass_the_filters_too(desk):
    turns = [
        note(1, "Which harbour did you sail to?", session="s", type="event"),
        note(2, "Kristiansund", session="s", type="fact"),
        note(3, "Lovely", session="s", type="event"),
    ]
    desk.put(turns)
    assert {*desk.recall("harbour sail", "--type", "event").refs} == {turns[0].id, turns[2].id}


def test_neighbours_that_are_gone_do_not_come_back(desk):
    desk.put(
        [
            note(1, "Which harbour did you sail to?", session="s"),
            note(4, "Kristiansund", session="s"),
            note(5, "Another talk", session="t"),
        ]
    )
    desk.archive([note(0, "Forgotten", session="s")])
    assert {*desk.refs("harbour sail")} == {note(1, "").id, note(4, "").id}


def test_a_date_of_another_tool_is_over_when_it_is(desk):
    dates = ("2026-02-24T16:00:00+08:00", "2026-02-24T08:00:00-08:00", "some day")
    notes = [note(n, f"the harbour {n}", expires_at=date) for n, date in enumerate(dates)]
    desk.put(notes)
    assert {*desk.recall("harbour", "--live").refs} == {notes[1].id, notes[2].id}
    marked = {row["id"]: row["archived"] for row in desk.recall("harbour").data["results"]}
    assert marked == {notes[0].id: "expired", notes[1].id: None, notes[2].id: None}


def test_turns_at_the_same_moment_have_neighbours(desk):
    at = "2026-02-01T00:00:00.000Z"
    turns = [note(n, f"turn {n}", session="s", created_at=at) for n in range(12)]
    desk.put([*turns[:5], turns[5]._replace(content="the harbour"), *turns[6:]])
    found = desk.refs("harbour", 5)
    assert found[0] == turns[5].id
    assert {*found[1:]} == {turns[n].id for n in (3, 4, 6, 7)}


# Depth

CHAIN = [
    note(1, "The Orion launch depends on vendor Quillfeather", tags=("launch",)),
    note(2, "Quillfeather invoices are approved by Bramblewick"),
    note(3, "Bramblewick prefers Zanzibar"),
    note(4, "Zanzibar observes Yuletide"),
    note(5, "Yuletide is when Hollyhock sings"),
]


@pytest.fixture
def chain(desk):
    desk.settle("embeddings:\n  provider: none\n")
    desk.put([*CHAIN, *(note(100 + n, text) for n, text in enumerate(UNRELATED))])
    return desk


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_each_pass_finds_one_link_more(chain, depth):
    said = chain.recall("Orion launch", "--depth", str(depth))
    found = [(row["ref"], row["depth"], row["via"]) for row in said.data["results"]]
    links = [[], ["quillfeather"], ["bramblewick"], ["zanzibar"]]
    assert found == [(CHAIN[n].id, n, links[n]) for n in range(depth + 1)]
    assert said.data["depth"] == depth and said.warnings == []


def test_depth_is_at_most_three(chain):
    said = chain.recall("Orion launch", "--depth", "9")
    assert said.refs == [item.id for item in CHAIN[:4]]
    assert said.data["depth"] == 3
    assert said.warnings == ["depth is at most 3"]


def test_depth_below_zero_is_refused(chain):
    said = chain.recall("Orion", "--depth", "-1")
    assert (said.code, said.stdout) == (2, "")
    assert json.loads(said.stderr)["error"]["code"] == "usage"


def test_explain_shows_signals_depth_and_terms(chain):
    said = chain.run("recall", "Orion launch", "--depth", "1", "--explain")
    first, why, second, led = said.stdout.splitlines()
    assert first == f"{CHAIN[0].id} [long_term] fact 0.50 {CHAIN[0].content}"
    assert why == ("  score 0.8500: lexical 1.0000, relevance 1.0000, importance 0.5000; matched orion, launch")
    assert second.startswith(f"{CHAIN[1].id} [long_term] fact 0.50 (depth 1 via quillfeather) ")
    assert led.endswith("; matched no word; found at depth 1 through quillfeather")


def test_signals_are_in_the_json_when_asked_for(chain):
    plain = chain.recall("Orion launch").data["results"][0]
    row = chain.recall("Orion launch", "--explain").data["results"][0]
    assert row.pop("signals") == {"lexical": 1.0, "relevance": 1.0, "importance": 0.5}
    assert row == plain | {name: row[name] for name in ("accessed_at", "access_count")}


def test_vectors_show_in_the_signals(meant):
    row = meant.recall("car trouble", "--explain").data["results"][0]
    assert row["signals"] == {"lexical": 0.0, "semantic": 1.0, "relevance": 1.0, "importance": 0.5}


@pytest.mark.parametrize(("share", "count"), [("0", 0), ("0.3", 3), ("0.5", 5)])
def test_deeper_finds_get_reserved_places_behind_the_strong_direct_hits(desk, share, count):
    desk.settle(f"embeddings:\n  provider: none\nrecall:\n  depth_reserved: {share}\n")
    first = note(1, "Orion quillfeather", importance=1.0)
    direct = [note(10 + n, "Orion " + f"filler{n} " * (n + 1), importance=0.5) for n in range(14)]
    deeper = [note(50 + n, f"quillfeather side{n}", importance=1.0) for n in range(14)]
    desk.put([first, *direct, *deeper, *(note(100 + n, text) for n, text in enumerate(UNRELATED))])
    plain = desk.refs("Orion", 10)
    rows = desk.recall("Orion", "--limit", "10", "--depth", "1").data["results"]
    assert [row["ref"] for row in rows][: 10 - count] == plain[: 10 - count]
    assert [row["depth"] for row in rows] == [0] * (10 - count) + [1] * count
    assert len({row["ref"] for row in rows}) == 10


def test_depth_with_filters_stays_within_them(chain):
    assert chain.recall("Orion", "--depth", "3", "--tag", "launch").refs == [CHAIN[0].id]


def test_depth_without_a_hit_ends_at_once(chain):
    said = chain.recall("Atlantis", "--depth", "3")
    assert said.refs == []


# Presets, age, diversity, limits

ALIKE = [
    note(1, "budget for the harbour crane is forty thousand", importance=0.9),
    note(2, "budget for the harbour crane is forty thousand euros", importance=0.9),
    note(3, "harbour crane budget was voted down by nine councillors", importance=0.5),
]


def test_mmr_prefers_what_is_unlike(desk):
    desk.put(ALIKE)
    question = "budget for the harbour crane"
    plain = desk.recall(question).refs
    assert {*plain[:2]} == {ALIKE[0].id, ALIKE[1].id}
    diverse = desk.recall(question, "--mmr").refs
    assert diverse[0] == plain[0] and diverse[1] == ALIKE[2].id
    assert sorted(diverse) == sorted(plain)


def test_mmr_with_lambda_one_changes_nothing(desk):
    desk.put(ALIKE)
    desk.settle("recall:\n  mmr_lambda: 1.0\n")
    assert desk.recall("harbour crane budget", "--mmr").refs == desk.recall("harbour crane budget").refs


def test_mmr_with_lambda_zero_is_novelty_alone(desk):
    desk.put(ALIKE)
    desk.settle("recall:\n  mmr_lambda: 0\n")
    assert desk.recall("budget for the harbour crane", "--mmr").refs[1] == ALIKE[2].id


def test_decay_prefers_what_is_newer(desk):
    old = note(1, "budget talk", importance=0.9)._replace(created_at="2025-02-24T14:30:00.000Z")
    new = note(2, "budget talk as well")
    desk.put([old, new])
    assert desk.recall("budget talk").refs == [old.id, new.id]
    said = desk.recall("budget talk", "--decay", "--explain")
    assert said.refs == [new.id, old.id]
    assert said.data["results"][1]["signals"]["decay"] == round(0.5 ** (365 / 30), 4)


def test_half_life_is_a_setting(desk):
    desk.put([note(1, "budget talk")._replace(created_at="2026-02-14T14:30:00.000Z")])
    desk.settle("recall:\n  half_life: 10d\n")
    row = desk.recall("budget talk", "--decay", "--explain").data["results"][0]
    assert row["signals"]["decay"] == 0.5


@pytest.mark.parametrize("preset", ["seed", "balanced", "rrf"])
def test_preset_by_option_and_by_setting(desk, preset):
    desk.put([note(n, text, importance=n / 60) for n, text in enumerate(UNRELATED)])
    question = "the old bridge in winter"
    default = desk.recall(question, "--explain").data["results"]
    by_option = desk.recall(question, "--explain", "--preset", preset).data["results"]
    desk.settle(f"recall:\n  preset: {preset}\n")
    by_setting = desk.recall(question, "--explain").data["results"]
    shown = [[(row["ref"], row["score"], row["signals"]) for row in rows] for rows in (by_option, by_setting)]
    assert shown[0] == shown[1] != [(row["ref"], row["score"], row["signals"]) for row in default]
    back = desk.recall(question, "--explain", "--preset", "default").data["results"]
    assert [row["score"] for row in back] == [row["score"] for row in default]


def test_uses_count_in_the_balanced_preset(desk):
    desk.put([note(1, "budget talk", access_count=8), note(2, "budget talk", access_count=0)])
    first = desk.recall("budget talk", "--preset", "balanced", "--explain").data["results"][0]
    assert first["id"] == note(1, "").id
    assert first["signals"]["access"] == 1.0


def test_unknown_preset_is_refused(desk):
    said = desk.run("recall", "x", "--preset", "best")
    assert (said.code, said.stdout) == (2, "")
    assert said.stderr == ("mabos: unknown preset 'best'\n  hint: one of: default, seed, balanced, rrf\n")
    desk.settle("recall:\n  preset: best\n")
    said = desk.run("recall", "x")
    assert said.code == 4 and "mabos.yaml:2: recall.preset must be one of" in said.stderr


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """500 items that all hold one word."""
    desk = Desk(tmp_path_factory.mktemp("many") / "ws")
    desk.put([note(n, f"budget line {n} of the ledger", importance=n / 500) for n in range(500)])
    return desk


@pytest.mark.parametrize(("limit", "count"), [("1", 1), ("7", 7), ("300", 300), ("0", 500), ("9999", 500)])
@pytest.mark.parametrize("query", [["budget"], []])
def test_limit(many, limit, count, query):
    said = many.recall(*query, "--limit", limit)
    assert len(said.refs) == count == len({*said.refs}) == said.data["count"]
    if not query:
        assert said.refs == [note(n, "").id for n in range(499, 499 - count, -1)]


def test_no_limit_gives_all_of_many(desk):
    desk.settle("embeddings:\n  provider: none\n")
    desk.put([note(n, f"budget line {n}") for n in range(4100)])
    assert len(desk.refs("budget", 100_000)) == 4100


def test_items_of_many_parts_leave_room_for_others(desk):
    desk.settle("embeddings:\n  provider: none\n")
    desk.put([note(n, "long talk about other things " * 2000 + f"budget {n}") for n in range(20)])
    assert len(desk.refs("long talk", 10)) == 10


def test_limit_is_twenty_or_a_setting(many):
    assert len(many.recall("budget").refs) == 20
    many.settle("recall:\n  limit: 33\n")
    assert len(many.recall("budget").refs) == 33
    many.settle("")


@pytest.mark.parametrize("preset", ["default", "seed", "balanced", "rrf"])
def test_limit_beyond_the_pool_with_every_preset(many, preset):
    assert len({*many.recall("budget", "--limit", "300", "--preset", preset).refs}) == 300


def test_mmr_within_the_limit(many):
    assert len({*many.recall("budget", "--limit", "30", "--mmr").refs}) == 30


@pytest.mark.parametrize("budget", [1, 50, 1000, 10**6])
def test_token_budget_is_never_exceeded(many, budget):
    said = many.recall("budget", "--limit", "100", "--token-budget", str(budget))
    costs = [math.ceil(len(row["content"]) / 4) for row in said.data["results"]]
    assert said.data["token_count"] == sum(costs) <= budget
    left = 100 - len(costs)
    assert said.warnings == ([f"{left} results did not fit the token budget"] if left else [])


def test_a_hit_is_no_use_and_journalled_uses_show_at_once(desk):
    desk.put([note(1, "budget talk")])
    assert [desk.recall(*words).data["results"][0]["access_count"] for words in ((), ("budget",), ("budget",))] == [
        0,
        0,
        0,
    ]
    assert desk.run("get", note(1, "").id).code == 0
    assert desk.run("context", "pack", "budget").code == 0
    assert desk.recall("budget").data["results"][0]["access_count"] == 2


def test_depth_is_the_same_in_process_and_at_the_shell(chain):
    search = chain.search(20)
    assert refs_of(recall(search, "Orion launch", 20, Depth(2))) == chain.recall("Orion launch", "-d", "2").refs


def test_what_was_consolidated_leads_to_what_it_went_into(desk):
    left = [note(n, f"The nightly backup took {n} minutes") for n in (41, 55)]
    group = note(60, "[Consolidated from 2 memories] Backups ran. | The nightly backup took 41 and 55 minutes", derived_from=(left[0].id, left[1].id))  # fmt: skip
    desk.put([group, *(note(n, f"The nightly backup took {n} minutes", importance=0.9) for n in range(10, 40))])
    gone = [Departure(item, "long_term", "consolidated", "2026-02-20T00:00:00.000Z", group.id) for item in left]
    desk.write("archive/2026-02.jsonl", b"".join(map(render_departure, gone)).decode())
    assert desk.recall("The nightly backup took 55 minutes").refs[0] == group.id
