"""Items, and texts that try to look like our structure: what the tests of the formats share."""

from hypothesis import strategies as st

from mabos_cli.core.memory.item import TRUSTS, TYPES, MemoryItem

AT = "2026-02-24T14:30:00.000Z"
HOSTILE = (
    "## Fake heading",
    "# 2026-02-24 — Agent Log",
    "## fact (14:30 UTC)",
    "## [long_term] fact: not an entry",
    "## Consolidated (2026-02-24)",
    "### Deeper",
    "```",
    "~~~ python",
    "---",
    "===",
    "- item",
    "* star",
    "+ plus",
    "1. one",
    "12) twelve",
    "> quote",
    "| a | b |",
    "<!-- comment",
    "-->",
    "%% hidden %%",
    "<script>",
    "(manual) ^M-1-aaaa",
    "[a, b] (manual) ^M-1-aaaa",
    "text ^M-1-aaaa",
    "\\^M-1-aaaa",
    "\\## escaped",
    "\\",
    "\\\\%%",
    "  # indented",
    "\t- tab",
    "[link]: http://example.org",
    "[^1]: note",
    "$$",
    "<!-- mabos generated 00000000 -->",
    "plain words",
    "",
    " ",
)
# No carriage returns, controls or direction characters: those are drawn, not kept.
plain_chars = st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp")) | st.sampled_from("\n\t\\#-^%<>M")
plain_texts = st.text(plain_chars, max_size=40)
hostile_texts = st.lists(st.sampled_from(HOSTILE) | plain_texts, min_size=1, max_size=6).map("\n".join)
any_text = st.text(st.characters(exclude_categories=()), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=3,
)
foreign_keys = any_text.filter(lambda key: key not in MemoryItem._fields[:-1])
items = st.builds(
    MemoryItem,
    id=any_text.filter(bool),
    content=any_text,
    type=st.sampled_from(TYPES),
    importance=st.integers(0, 10_000).map(lambda n: n / 10_000),
    trust=st.sampled_from(TRUSTS),
    tags=st.lists(any_text, max_size=2).map(tuple),
    created_at=st.sampled_from(("", AT)),
    access_count=st.integers(0, 1000),
    context=any_text,
    extra=st.dictionaries(foreign_keys, json_values, max_size=1).map(lambda found: tuple(found.items())),
)


def make_item(number, content="content", **fields):
    return MemoryItem(f"M-{1_700_000_000_000 + number}-00aa", content, **({"created_at": AT} | fields))
