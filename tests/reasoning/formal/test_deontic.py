"""Norms: clashes, exceptions and violations."""

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Pattern, Rule
from reasoning.solving import refused, solve, solve_yaml

COTTAGE = """
rules: []
facts: []
norms:
  - {id: none, modality: forbidden, action: fence}
  - {id: cliff, modality: obligatory, action: fence, if: [near cliff]}
query: fence
done: [fence]
context: """


def test_an_exception_leaves_no_violation():
    """Prakken and Sergot, Contrary-to-Duty Obligations (1996): the cottage regulations."""
    inland = solve_yaml("deontic", COTTAGE + "{near cliff: no}")
    assert inland.conclusion.value is False and [row["norm"] for row in inland.detail["violations"]] == ["none"]
    cliff = solve_yaml("deontic", COTTAGE + "{near cliff: yes}")
    assert cliff.conclusion.value is True and cliff.detail["violations"] == []
    assert cliff.detail["clashes"][0]["why"] == "more specific"


def test_priority_goes_before_specificity_and_equals_stay_unresolved():
    text = """
    rules: []
    facts: []
    context: {night: yes}
    query: deploy
    norms:
      - {id: freeze, modality: forbidden, action: deploy, priority: PRIORITY}
      - {id: fix, modality: obligatory, action: deploy, if: [night]}
    """
    assert solve_yaml("deontic", text.replace("PRIORITY", "1")).conclusion.value is False
    assert solve_yaml("deontic", text.replace("PRIORITY", "0")).conclusion.value is True
    equal = solve_yaml("deontic", text.replace("PRIORITY", "0").replace(", if: [night]", ""))
    assert equal.conclusion.value is None and equal.detail["status"] == {"deploy": "conflict"}
    assert equal.caveats[-1].startswith("unresolved: freeze (forbidden: deploy) against fix")


def test_who_is_defeated_defeats_nobody():
    """Reinstatement: the top permission beats the ban, so the ban no longer beats the low permission's duty."""
    answer = solve_yaml(
        "deontic",
        """
        rules: []
        facts: []
        norms:
          - {id: low, modality: obligatory, action: send, priority: 1}
          - {id: ban, modality: forbidden, action: send, priority: 2}
          - {id: top, modality: permitted, action: send, priority: 3}
        """,
    )
    assert answer.detail["status"] == {"send": "obligatory"} and answer.detail["defeated"] == ["ban"]


def test_what_is_obligatory_may_be_permitted_too_but_not_optional():
    text = "rules: []\nfacts: []\nnorms:\n  - {id: a, modality: obligatory, action: pay}\n  - {id: b, modality: permitted, action: ACTION}\n"
    assert solve_yaml("deontic", text.replace("ACTION", "pay")).detail["clashes"] == []
    assert len(solve_yaml("deontic", text.replace("ACTION", "not pay")).detail["clashes"]) == 1


PAYING = """
norms:
  - {id: pay, modality: obligatory, action: "pay ?x", where: ["?x isA supplier"]}
facts: [acme isA vendor, globex isA vendor]
rules: ["if ?x isA vendor then ?x isA supplier"]
undone: [pay acme]
"""


def test_norms_over_facts_have_an_instance_for_each_thing():
    answer = solve_yaml("deontic", PAYING)
    assert answer.detail["status"] == {
        "pay acme": "obligatory",
        "pay globex": "obligatory",
    }
    assert answer.conclusion.value == ("pay globex",)


def test_own_policies_are_obligations_and_constraints_prohibitions():
    own = {
        "facts": (Fact("F-1", "acme", "balance", "-5"), Fact("F-2", "acme", "tier", "gold")),
        "rules": (
            Rule("R-1", "", "policy", (Pattern("?x", "tier", "gold"),), action="call ?x"),
            Rule(
                "R-2",
                "",
                "constraint",
                (Pattern("?x", "balance", "0", "lt"),),
                violation_message="?x is in debt",
            ),
        ),
    }
    answer = solve("deontic", {}, **own)
    assert answer.conclusion.value == ("call acme",) and answer.detail["broken_constraints"] == ["acme is in debt"]


def test_where_no_norm_speaks_it_stays_open():
    text = "rules: []\nfacts: []\nnorms: [{id: a, modality: forbidden, action: smoke, if: [indoors]}]\nquery: smoke\n"
    answer = solve_yaml("deontic", text)
    assert answer.conclusion.value is None and "indoors" in answer.caveats[0]
    assert solve_yaml("deontic", text + "context: {indoors: yes}").conclusion.value is False


def test_bad_input_is_refused():
    one = "{id: a, modality: obligatory, action: x"
    assert refused("deontic", "norms: []") == "norms: there are none"
    assert "'a' occurs twice" in refused("deontic", f"norms: [{one}}}, {one}}}]")
    assert "among what was done too" in refused("deontic", f"norms: [{one}}}]\ndone: [x]\nundone: [x]")
    assert "modality: must be one of" in refused("deontic", "norms: [{id: a, modality: must, action: x}]")
    assert "norms[1].where: no condition names" in refused("deontic", f'norms: [{one}, where: ["?x > 3"]}}]')


def test_a_flag_with_not_inside_is_left_alone():
    text = "rules: []\nfacts: []\nnorms: [{id: a, modality: obligatory, action: wait, if: [door is not open]}]\ncontext: {door is not open: yes}"
    answer = solve_yaml("deontic", text)
    assert answer.conclusion.value == ("wait",) and answer.caveats == ()


def test_a_question_may_be_about_leaving_undone():
    norms = "norms: [{id: n, modality: forbidden, action: smoke}]\n"
    asked = solve_yaml("deontic", norms + "query: not smoke")
    assert asked.conclusion.value is True and asked.summary == "not smoke is obligatory" and not asked.caveats
    assert solve_yaml("deontic", norms + "query: smoke").conclusion.value is False
    assert refused("deontic", norms + "done: [not smoke]") == "done: 'not smoke' is no action"


def test_leave_to_omit_is_no_leave_to_act():
    norms = "norms: [{id: n, modality: permitted, action: not vote}]\n"
    assert solve_yaml("deontic", norms + "query: vote").conclusion.value is None
    assert solve_yaml("deontic", norms + "query: not vote").conclusion.value is True
