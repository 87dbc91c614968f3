"""Which part of a text is told."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mabos_cli.core.context.windows import cut_window, points_elsewhere, read_text, split_units, weigh_terms

FILLER = "Filler says nothing of note. "


def window(text: str, width: int, *asked: str) -> str:
    worth = weigh_terms(asked, [text])
    return cut_window(read_text(text, worth), width, worth).text


def test_a_text_that_fits_is_whole() -> None:
    assert cut_window(read_text("Rent is due.", {}), 100, {}) == ("Rent is due.", True)


def test_a_window_is_contiguous_and_holds_what_is_asked() -> None:
    told = window("Lead sentence here. " + FILLER * 20 + "The budget is 900 euros. " + FILLER * 20, 120, "budget")
    assert "The budget is 900 euros." in told and told.startswith("… ") and told.endswith(" …") and len(told) <= 120
    assert "Lead" not in told and told.strip("… ") in f"{FILLER * 20}The budget is 900 euros. {FILLER * 20}"


@pytest.mark.parametrize(
    ("text", "asked", "answer"),
    [
        ("The limit of a batch is,\ne.g. for a\nlarge store, 500 rows. " + FILLER * 9, "limit", "500 rows."),
        (FILLER * 9 + "\nThe ports are:\n\n- 443 for the API\n- 2379 for etcd\n\n" + FILLER, "port", "2379 for etcd"),
        (FILLER * 9 + "\n\n| Port | Use |\n|---|---|\n| 10250 | kubelet |\n\n" + FILLER, "kubelet", "10250"),
        ("# Rollback\n\n" + FILLER * 9 + "\n\nRun this:\n\n```sh\nhelm undo web\n```\n", "run", "helm undo web"),
        ("Dr. Abel and Mr. Cho vs. Acme Inc. settled on 3 May. " + FILLER * 9, "settl", "3 May."),
    ],
)
def test_sentences_lists_tables_and_code_are_not_cut_before_the_answer(text: str, asked: str, answer: str) -> None:
    assert answer in window(text, 160, asked)


def test_the_title_stays_with_the_window() -> None:
    told = window("## Node ports {#ports}\n\n" + FILLER * 30 + "They start at 30000. " + FILLER * 30, 140, "start")
    assert told.startswith("Node ports – … ") and "30000" in told


def test_comments_and_targets_of_links_within_a_site_are_left_out() -> None:
    text = "<!-- body -->\n\n{{< note >}}\nSee [Pods](/docs/pods), ![a map](map.png) and [the paper](https://example.com/p).\n"
    assert window(text, 200) == "See Pods, a map and [the paper](https://example.com/p)."


def test_a_line_that_leads_to_a_list_does_not_end_a_window() -> None:
    text = "Rent is 900. " + "**The rules for rent are:**\n\n* " + "late fees are due " * 9
    assert window(text, 60, "rent") == "Rent is 900. …"


def test_a_line_that_leads_elsewhere_stays_at_the_end_of_a_text() -> None:
    text = "It signs tokens. A signer implements 3 methods:"
    assert window(text, 300, "signer", "method") == text


def test_what_the_pack_holds_already_is_passed_over() -> None:
    text = "Rent is 900 a month. Rent is due on the first. Rent was raised."
    told = cut_window(read_text(text, {"rent": 1.0}), 45, {"rent": 1.0}, {"rent is 900 a month"}).text
    assert "900" not in told and "due on the first" in told


def test_one_long_sentence_is_cut_around_what_is_asked() -> None:
    told = window("x y " * 100 + "budget " + "word " * 100, 100, "budget")
    assert "budget" in told and told.startswith("… ") and told.endswith("…") and len(told) <= 100


def test_lists_of_links_and_the_head_of_a_page_say_nothing() -> None:
    links = ("Pods", "Jobs and CronJobs", "Nodes in a cluster")
    assert points_elsewhere("## What's next\n\n" + "\n".join(f"- Read [{name}](/docs/x)" for name in links))
    assert points_elsewhere("---\ntitle: Pods\nweight: 10\n---")
    assert not points_elsewhere("Read [Pods](/docs/pods): a Pod is the smallest unit that can be deployed.")
    assert not points_elsewhere("- Runbook: https://example.com/runbook")


@example("00000\x80\x80", 20, set())
@given(st.text(max_size=2000), st.integers(20, 500), st.sets(st.text("abc", min_size=1, max_size=3)))
def test_a_window_is_one_line_within_its_width(text: str, width: int, asked: set[str]) -> None:
    worth = dict.fromkeys(asked, 1.0)
    told = cut_window(read_text(text, worth), width, worth)
    assert len(told.text) <= width and len(told.text.splitlines()) <= 1
    assert all("\n" not in unit.text for unit in split_units(text))
