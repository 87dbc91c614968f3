"""Texts of every kind, the same in each run: scripts, emoji, accents, code, white space, odd characters."""

import random
from collections.abc import Iterator

_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz     ",
    "etaoin shrdlu ETAOIN SHRDLU ",
    "0123456789.,-:/ ",
    "{}[]()<>=+-*/&|^%$#@!~`'\"\\;:,._? \t\n",
    "éèêàüñßøåçœğışřž ",
    "e\u0301a\u0308o\u0302 n\u0303",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя ",
    "αβγδεζηθικλμνξοπρστυφχψω ",
    "漢字仮名交じり文日本語中文简体繁體",
    "ひらがなカタカナー。、",
    "한국어글자입니다 ",
    "العربيةمكتوبة ",
    "עברית כתובה ",
    "ภาษาไทย",
    "हिन्दी में ",
    "😀🎉👩\u200d👩\u200d👧🇩🇪👍🏽 ",
    "\x00\x01\x07\x08\x0b\x0c\r\x1b\x7f\x85\u00a0\u200b\u2028\u202e\ufeff",
    "\u2581 ",
    "\U00020000\U0001f9ff\ue000\uffff\U0010ffff",
)
_SNIPPETS = (
    *("<s>", "</s>", "<unk>", "<0x0A>", "<s", "s>", "</s", "\u2581\u2581", "\r\n", ");\r\n", '");\r'),
    *(
        "def f(x):\n    return x * 2\n",
        'for (int i = 0; i < n; i++) { a[i] = "x"; }',
        "SELECT * FROM t WHERE a='b'",
    ),
    *("https://example.com/a/b?c=d&e=%20", "C:\\Users\\me\\file.txt", "E_CONN_4012", "2024-05-17T08:30:00Z"),
    *("antidisestablishmentarianism", "Donaudampfschifffahrtsgesellschaft", "aaaaaaaaaaaaaaaaaaaaaaaa"),
    *("                                 ", "\n\n\n\n", "\t\t\t", " \n \n ", "naïve café", "don't", "U.S.A."),
)
_WORDS = (
    "the budget of finance team decided quarterly marketing plan approved security audit Friday memory agent goal "
    "belief customer invoices reconcile Postgres migration rollback latency p99 deploys because however"
).split()


def make_texts(count: int, seed: int = 7) -> Iterator[str]:
    """So many texts; the first are the plainest edge cases."""
    chance = random.Random(seed)
    fixed = ("", " ", "  ", "\n", "a", " a", "a ", *_SNIPPETS, *(f" {each} " for each in _SNIPPETS))
    yield from fixed
    for _ in range(count - len(fixed)):
        parts = []
        for _ in range(chance.choice((1, 1, 2, 3, 6))):
            kind = chance.random()
            if kind < 0.3:
                parts.append(" ".join(chance.choices(_WORDS, k=chance.randint(1, 15))))
            elif kind < 0.45:
                parts.append(chance.choice(_SNIPPETS))
            else:
                parts.append("".join(chance.choices(chance.choice(_ALPHABETS), k=chance.choice((1, 3, 8, 30, 300)))))
        yield chance.choice(("", " ", "", "\n")).join(parts)
