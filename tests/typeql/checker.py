"""Run by a Python that has the official TypeQL 3 parser: reads queries and texts as JSON, writes what is wrong with them.

The parser comes with type-bridge-core, which needs Python 3.12. Nothing of mabos is imported here.
"""

import json
import sys
import warnings

import type_bridge_core as official

warnings.simplefilter("ignore")


def refusal(query: str) -> str:
    """Why the parser refuses a query; empty when it does not. Comparing a query with itself is what parses all of the language."""
    try:
        return "" if official._typeql_queries_equivalent(query, query) else "is not itself"
    except ValueError as error:
        return str(error)


def strings(value: object) -> list[str]:
    """All text values of string literals in a parsed query."""
    if isinstance(value, dict):
        if value.get("value_type") == "string":
            return [value["value"]]
        return [found for each in value.values() for found in strings(each)]
    return [found for each in value for found in strings(each)] if isinstance(value, list) else []


given = json.load(sys.stdin)
refused = [[query, told] for query in given["queries"] if (told := refusal(query))]
wrong = [
    text
    for text, literal in given["literals"]
    if strings(official.parse_typeql_query(f"match $m isa memory_item, has content {literal};")) != [text]
]
json.dump({"refused": refused, "wrong": wrong}, sys.stdout)
