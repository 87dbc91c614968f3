"""The question what a mirror holds of an agent."""

from mabos_cli.formats.typeql import label, literal


def ask_uids(kind: str, agent: str) -> str:
    """The uids of a type that begin with the name of an agent; of agents, the one with this name.

    >>> print(ask_uids("goal", "c.f-o"))
    match $e isa goal, has uid $uid;
    $uid like "^c[.]f-o/.*";
    select $uid;
    """
    # Of what the name of an agent may hold, only a dot means something to a regular expression.
    prefix = literal(f"^{agent.replace('.', '[.]')}/.*")
    wanted = f"== {literal(agent)}" if kind == "agent" else f"like {prefix}"
    return f"match $e isa {label(kind)}, has uid $uid;\n$uid {wanted};\nselect $uid;"
