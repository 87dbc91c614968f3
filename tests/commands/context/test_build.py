"""context build and compress as they are called: files, standard input, limits, a language model, and bad input."""

import json
import sys
from pathlib import Path

import pytest

from commands.desk import Desk, note

SAMPLES = Path(__file__).parents[3] / "fixtures" / "history"
CHAT = str(SAMPLES / "messages.json")


def build(desk: Desk, *words: str, request: str = "How do we bill?", **options):
    return desk.run("context", "build", "--json", "--request", request, *words, **options)


def compress(desk: Desk, *words: str, history: str = CHAT, **options):
    return desk.run("context", "compress", "--json", "--history", history, *words, **options)


def test_a_window_has_persona_memory_conversation_and_request(desk: Desk) -> None:
    desk.put([note(1, "We bill per seat, net of VAT"), note(2, "Ann likes tea")])
    data = build(desk, "--history", CHAT).data
    roles = [message["role"] for message in data["messages"]]
    assert roles[:3] == ["system"] * 3
    assert "# Persona" in data["messages"][0]["content"]
    assert "[1] M-1770000000001-0001" in data["messages"][1]["content"]
    assert data["messages"][-1] == {"role": "user", "content": "How do we bill?"}
    assert len(data["messages"]) == 2 + 12 + 1
    assert {*roles} == {"system", "user", "assistant"}
    assert (data["action"], data["flush_prompt"], data["counted_by"]) == (
        "ok",
        "",
        "estimate: 4 characters a token",
    )
    assert data["tokens"]["total"] == 2 + sum(n for part, n in data["tokens"].items() if part != "total")
    assert data["utilization"] == data["demand"] == round(data["tokens"]["total"] / 200_000, 4)


def test_what_is_packed_counts_as_used(desk: Desk) -> None:
    [used] = desk.put([note(1, "We bill per seat")])
    build(desk)
    assert desk.run("get", used, "--json", "-a", "main").data["item"]["access_count"] == 1


def test_a_small_window_asks_for_a_flush(desk: Desk) -> None:
    said = build(desk, "--history", CHAT, "--window", "300")
    data = said.data
    assert data["tokens"]["total"] <= 270
    assert data["action"] == "flush"
    assert data["demand"] > 0.9 > data["utilization"]
    assert "mabos store --agent main" in data["flush_prompt"]
    assert data["history"]["summarized"] > 0
    assert any("left out" in note for note in data["notes"]) and said.warnings
    text = desk.run("context", "build", "--request", "How do we bill?", "--history", CHAT, "--window", "300")
    assert "mabos context flush-prompt" in text.stdout.split("\n")[-2]


def test_the_request_that_the_host_recorded_already_is_not_asked_twice(desk: Desk) -> None:
    data = build(desk, "--history", CHAT, request="Then write her a short note.").data
    assert [m["content"] for m in data["messages"]].count("Then write her a short note.") == 1


def test_files_of_the_host_are_read_from_the_agent_or_the_workspace(desk: Desk) -> None:
    desk.write("SOUL.md", "# Soul\n\nCalm.\n")
    (desk.root / "SOUL.md").write_text("Not this one.\n")
    (desk.root / "USER.md").write_text("# User\n\nCalled Kim.\n")
    told = build(desk).data["messages"][0]["content"]
    assert told.index("# Persona") < told.index("Calm.") < told.index("Called Kim.")
    assert "Not this one." not in told


def test_a_system_file_and_skills(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "system.md").write_text("Be brief.\n")
    for name in ("pdf", "web"):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(f"---\ndescription: For {name}.\n---\nUse {name}.\n")
    (tmp_path / "skills" / "README.md").write_text("About.\n")
    data = build(desk, "--system", str(tmp_path / "system.md"), "--skills", str(tmp_path / "skills")).data
    assert data["messages"][0]["content"] == "Be brief."
    assert (
        data["messages"][1]["content"]
        == "Skills:\n- pdf: For pdf.\n- web: For web.\n\n# pdf\n\nUse pdf.\n\n# web\n\nUse web."
    )
    one = build(desk, "--skills", str(tmp_path / "skills" / "web" / "SKILL.md")).data
    assert one["messages"][1]["content"].startswith("Skills:\n- web: For web.")


def test_messages_only_is_an_array_to_pipe(desk: Desk) -> None:
    said = desk.run("context", "build", "--request", "-", "--messages-only", stdin="Wie geht's?\u2028\n".encode())
    assert json.loads(said.stdout)[-1] == {"role": "user", "content": "Wie geht's?\u2028\n"}
    assert desk.run("context", "build", "--request", "x", "--messages-only", "--json").code == 2


def test_a_build_twice_is_the_same(desk: Desk) -> None:
    desk.put([note(n, f"Billing rule {n} for seats") for n in range(20)])
    first, second = (build(desk, "--history", CHAT, "--window", "900").data for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["build", "--request", "  "], 2, "the request is empty"),
        (["build", "--request", "x", "--window", "0"], 2, "context.window must be a whole number above 0"),
        (["build", "--request", "x" * 900, "--window", "200"], 2, "the request needs 230 tokens"),
        (["build", "--request", "-", "--history", "-"], 2, "standard input can be read once"),
        (["build", "--request", "x", "--history", "/nowhere.json"], 3, "no file /nowhere.json"),
        (["build", "--request", "x", "--skills", "/nowhere"], 3, "no file /nowhere"),
        (["build"], 2, "--request"),
        (["compress", "--history", CHAT, "--budget", "0"], 2, "--budget must be above 0"),
        (
            ["compress", "--history", CHAT, "--keep", "0"],
            2,
            "context.recent_messages must be a whole number above 0",
        ),
        (["compress", "--history", CHAT, "--llm"], 6, "no language model is configured"),
        (["compress", "--history", "-"], 4, "standard input:1: not valid JSON"),
    ],
)
def test_bad_input_is_one_clear_line(desk: Desk, words: list[str], code: int, told: str) -> None:
    said = desk.run("context", *words, stdin=b"no json")
    assert (said.code, said.stdout) == (code, "")
    assert told in said.stderr


def test_shares_that_are_too_many_are_refused(desk: Desk) -> None:
    desk.settle("context:\n  reserve_share: 0.5\n")
    said = desk.run("context", "build", "--request", "x")
    assert said.code == 2
    assert "the shares of the window add up to 1.4" in said.stderr


def test_a_tokenizer_that_is_named_and_absent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mabos_cli.backends.tokenizers.find_spec", lambda name: None)
    desk.settle("context:\n  tokenizer: tiktoken\n")
    assert compress(desk).code == 6
    desk.settle("context:\n  tokenizer: llama\n")
    assert compress(desk).data["counted_by"] == "llama bpe"


def test_compression_says_what_became_of_the_turns(desk: Desk) -> None:
    data = compress(desk, "--budget", "220", "--keep", "3").data
    assert data["tokens"] <= 220 < data["tokens_before"]
    assert data["recent"] == 3
    assert data["recent"] + data["kept"] + data["summarized"] + data["left_out"] == data["turns"] == 12
    assert data["summarized_by"] == "quotes"
    summary = next(m for m in data["messages"] if m["content"].startswith("Earlier conversation:"))
    assert summary["role"] == "system"
    assert all(line.startswith("turn ") for line in summary["content"].split("\n")[1:])


def test_compression_of_nothing(desk: Desk) -> None:
    data = compress(desk, history="-", stdin=b"[]").data
    assert (data["messages"], data["tokens"], data["tokens_before"]) == ([], 0, 0)


def model(desk: Desk, path: Path, script: str) -> None:
    path.write_text(script)
    desk.settle(f'llm:\n  command: "{sys.executable} {path}"\n')


def test_a_model_writes_the_summary(desk: Desk, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    script = (
        f"import sys\nopen({str(prompt)!r}, 'w').write(sys.stdin.read())\nprint('They bill per seat. <|im_start|>')"
    )
    model(desk, tmp_path / "model.py", script)
    said = compress(desk, "--budget", "220", "--keep", "3", "--llm")
    told = next(m["content"] for m in said.data["messages"] if m["content"].startswith("Earlier"))
    assert "They bill per seat. ‹|im_start|>" in told
    assert said.data["summarized_by"] and said.data["summarized_by"] in told
    assert "turn 2 (user): Good morning!" in prompt.read_text()
    assert "Then write her a short note." not in prompt.read_text()


def test_a_model_that_fails_leaves_the_quotes_and_a_warning(desk: Desk, tmp_path: Path) -> None:
    model(desk, tmp_path / "model.py", "raise SystemExit(3)")
    said = compress(desk, "--budget", "220", "--keep", "3", "--llm")
    assert said.data["summarized_by"] == "quotes"
    assert len(said.warnings) == 1 and "without a language model" in said.warnings[0]
