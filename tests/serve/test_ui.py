"""The page of `mabos ui` over HTTP: who is refused, what a call answers, and that nothing is lost beside other writers."""

import http.client
import json
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import Mabos

from mabos_cli.serve.ui import CALLS
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import find_agent
from mabos_cli.workspace.lock import locked
from serve.page_server import KIND, Page, open_page


@pytest.fixture
def page(workspace: Path) -> Iterator[Page]:
    with open_page(workspace) as found:
        yield found


def store(mabos: Mabos, root: Path, text: str, *words: str) -> str:
    done = mabos("--json", "store", "--store", "long_term", *words, "--", text, cwd=root)
    assert done.code == 0, done.stderr
    return json.loads(done.stdout)["data"]["id"]


def edit(file: Path, old: str, new: str) -> None:
    """Saves a file with a text replaced, as an editor does."""
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_only_who_has_the_address_is_answered(page: Page) -> None:
    assert page.get().status == 200 and page.get("main.js").status == page.get("page.css").status == 200
    for path in (
        "/",
        "/main.js",
        "/api/about",
        f"/{page.token[:-1]}/",
        f"/{page.token}x/",
        "/%00/",
        "//",
    ):
        assert page.ask("GET", path).status == 403, path
    assert page.ask("POST", "/api/recall", b"{}", **KIND).status == 403
    assert page.get("../../etc/passwd").status == page.get("../report.css").status == page.get("ui").status == 404
    assert (
        page.get()
        .headers["Content-Security-Policy"]
        .startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    )
    assert "Set-Cookie" not in page.get().headers and page.get().headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in page.get("api/about", Origin=f"http://{page.host}").headers


def test_other_sites_are_refused(page: Page) -> None:
    port = page.host.partition(":")[2]
    assert page.get(Host=f"localhost:{port}").status == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.evil.example:{port}", ""):
        assert page.get(Host=host).status == 421, host
    for origin in (
        "http://evil.example",
        "null",
        f"https://{page.host}",
        "http://localhost:1",
        f"http://localhost:{port}",
    ):
        assert page.ask("POST", f"/{page.token}/api/status", b"{}", Origin=origin, **KIND).status == 403, origin
        assert page.get("api/about", Origin=origin).status == 403, origin
    assert page.get(Sec_Fetch_Site="cross-site").status == page.get(Sec_Fetch_Site="same-site").status == 403
    assert page.ask("POST", f"/{page.token}/api/status", b"{}", Origin=f"http://{page.host}", **KIND).status == 200


def test_only_plain_requests_of_a_size_are_answered(page: Page) -> None:
    path = f"/{page.token}/api/status"
    socket = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec_WebSocket_Key": "x" * 22,
        "Origin": "http://evil.example",
    }
    assert page.get("api/changes", **socket).status == 403
    assert page.get("api/changes", Upgrade="websocket", Connection="Upgrade").status == 400
    assert page.ask("POST", path, b"{}", Content_Type="text/plain").status == 415
    assert page.ask("POST", path, b"{}", Content_Type="application/x-www-form-urlencoded").status == 415
    assert page.ask("POST", path, b"", Content_Length="99999999", **KIND).status == 413
    assert page.ask("POST", path, b"", Content_Length="-1", **KIND).status == 411
    assert page.ask("POST", path, b"0\r\n\r\n", Transfer_Encoding="chunked", **KIND).status == 400
    for body in (b"", b"[]", b"{", b'{"limit": NaN}', b"[" * 60_000, b"\xff"):
        assert page.ask("POST", path, body, **KIND).status == 400, body[:20]
    for method in ("PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"):
        assert page.ask(method, path).status == 501, method


def test_a_call_is_a_command_of_the_list_and_nothing_else(page: Page, workspace: Path, mabos: Mabos) -> None:
    item = store(mabos, workspace, "We bill per seat")
    told = json.loads(mabos("--json", "recall", "--explain", "--limit=3", "seat", cwd=workspace).stdout)["data"]
    assert page.call("recall", query="seat", limit=3).value["data"] == told
    assert [page.call(name).status for name in ("init", "config", "allow", "doctor", "", "../recall")] == [404] * 6
    for given in ({"workspace": "/"}, {"limit": "3"}, {"query": ["x"]}, {"query": "x", "store": "all --archived"}):
        assert page.call("recall", **given).status == 400, given
    assert page.call("recall", query="--workspace=/").status == 200  # a word, not an option
    assert page.call("get", id="M-1-0000").value["error"]["code"] == "not_found"
    assert page.call("get", id=item, agent_id="nobody").status == 404
    assert page.call("read", path="../../../etc/passwd").status in (400, 404, 422)


def test_forgetting_and_undoing_are_the_commands_own(page: Page, workspace: Path, mabos: Mabos) -> None:
    item = store(mabos, workspace, "We bill per seat")
    receipts = lambda: b"".join(p.read_bytes() for p in (workspace / ".mabos" / "receipts").glob("*.jsonl"))  # noqa: E731
    before = receipts().count(b"\n")
    assert page.call("forget", id=item, reason="by mistake").value["data"]["id"] == item
    assert page.call("recall", query="seat").value["data"]["count"] == 0
    found = page.call("get", id=item).value["data"]
    assert found["state"] == "archived" and found["history"][0]["reason"] == "forgotten: by mistake"
    assert page.call("revive", id=item).status == 200
    assert page.call("get", id=item).value["data"]["state"] == "live"
    assert receipts().count(b"\n") == before + 2
    assert page.call("set_trust", id=item, set="trusted").status == 400  # who decides is not said
    assert page.call("set_trust", id=item, set="trusted", by="ada").status == 200
    assert page.call("trust", id=item).value["data"]["decisions"][0]["by"] == "ada"


def test_what_changed_since_it_was_shown_is_not_decided(page: Page, workspace: Path, mabos: Mabos) -> None:
    item = store(mabos, workspace, "We bill per seat")
    shown = {"call": "get", "arguments": {"id": item}, "has": {"id": item, "content": "We bill per seat"}}
    assert mabos("update", item, "--content", "We bill per berth", cwd=workspace).code == 0
    refused = page.call("forget", id=item, seen=shown)
    assert refused.status == 409 and refused.value["error"]["code"] == "conflict"
    assert page.call("get", id=item).value["data"]["state"] == "live"
    shown["has"] = {"id": item, "content": "We bill per berth"}
    assert page.call("forget", id=item, seen=shown).status == 200
    gone = {**shown, "arguments": {"id": "M-1-0000"}}
    assert page.call("revive", id=item, seen=gone).status == 409
    for seen in ([], "get", {}, {**shown, "call": "forget"}, {**shown, "has": []}, {**shown, "call": ["get"]}):
        assert page.call("revive", id=item, seen=seen).status == 400, seen


def test_what_changes_while_a_decision_waits_for_the_lock_is_not_decided(
    page: Page, workspace: Path, mabos: Mabos
) -> None:
    item = store(mabos, workspace, "We bill per seat")
    shown = {"call": "get", "arguments": {"id": item}, "has": {"id": item, "content": "We bill per seat"}}
    place = find_agent(WorkspacePaths(workspace), None)
    with ThreadPoolExecutor(1) as tab:
        with locked(place.lock, workspace, 10):
            refused = tab.submit(page.call, "forget", id=item, seen=shown)
            time.sleep(0.5)  # more than it takes to come to the lock
            edit(place.store, "per seat", "per berth")
        assert refused.result().status == 409
    assert page.call("get", id=item).value["data"]["item"]["content"] == "We bill per berth"


def test_a_proposal_that_changes_while_it_is_merged_stays(page: Page, workspace: Path, mabos: Mabos) -> None:
    assert mabos("ontology", "scaffold", "saas", cwd=workspace).code == 0
    named = ("Mooring fee", "--domain", "saas", "--definition", "a fee for a night")
    assert mabos("ontology", "propose", *named, cwd=workspace).code == 0
    (found,) = page.call("concepts", status="pending").value["data"]["proposals"]
    seen = {"call": "concepts", "arguments": {}, "has": {name: found[name] for name in ("id", "sbvr_definition")}}
    paths = WorkspacePaths(workspace)
    (file,) = paths.ontologies.glob("proposals/*.json")
    with ThreadPoolExecutor(1) as tab:
        with locked(paths.ontology_lock, workspace, 10):
            refused = tab.submit(page.call, "merge", ids=[found["id"]], seen=seen)
            time.sleep(0.5)
            edit(file, "for a night", "for a month")
        assert refused.result().status == 409
    (found,) = page.call("concepts", status="pending").value["data"]["proposals"]
    assert found["sbvr_definition"] == "a fee for a month"


def test_of_two_pages_that_resolve_a_conflict_one_is_told(page: Page, workspace: Path, mabos: Mabos) -> None:
    for state, certainty in (("growing", "0.8"), ("declining", "0.9")):
        done = mabos("belief", "add", "Demand", f"Demand is {state}", "--certainty", certainty, cwd=workspace)
        assert done.code == 0, done.stderr
    (found,) = page.call("conflicts").value["data"]["conflicts"]
    seen = {"call": "conflicts", "arguments": {}, "has": {name: found[name] for name in ("key", "a", "b")}}
    with ThreadPoolExecutor(2) as tabs:
        answers = [*tabs.map(lambda keep: page.call("resolve", id=found["key"], keep=keep, seen=seen).status, "ab")]
    assert sorted(answers) == [200, 409]
    assert page.call("conflicts").value["data"]["conflicts"] == []


def test_what_is_left_declined_or_rejected_is_not_offered_again(page: Page, workspace: Path, mabos: Mabos) -> None:
    for words in (
        ("capture", "Lesson learned: send the invoice before the 5th", "--type", "lesson"),
        ("goal", "add", "Renew the largest customer"),
        ("ontology", "scaffold", "saas"),
        ("ontology", "propose", "Mooring fee", "--domain", "saas", "--definition", "a fee for a night"),
    ):
        assert mabos(*words, cwd=workspace).code == 0, words
    waiting = {"candidates": "candidates", "proposals": "proposals", "concepts": "proposals"}
    found = {name: page.call(name, **_pending(name)).value["data"][part][0] for name, part in waiting.items()}
    assert page.call("leave", leave=found["candidates"]["id"]).status == 200
    assert page.call("decline", decline=found["proposals"]["id"], reason="not now").status == 200
    assert page.call("reject", id=found["concepts"]["id"], reason="too narrow").status == 200
    assert not any(page.call(name, **_pending(name)).value["data"][part] for name, part in waiting.items())


def _pending(name: str) -> dict[str, str]:
    return {"status": "pending"} if name == "concepts" else {}


def test_looking_changes_nothing(workspace: Path, mabos: Mabos) -> None:
    item = store(mabos, workspace, "We bill per seat")
    assert mabos("fact", "assert", "billing", "uses", "postgres", cwd=workspace).code == 0
    assert mabos("hierarchy", "build", cwd=workspace).code == 0
    known = {"id": item, "path": "MEMORY.md", "entity": "billing", "query": "seat", "text": "billing"}
    files = lambda: {p: p.read_bytes() for p in workspace.rglob("*") if p.is_file() and ".mabos/index" not in str(p)}  # noqa: E731
    with open_page(workspace, "--read-only") as page:
        assert page.get("api/about").value["read_only"] is True
        page.call("recall", query="seat")
        before = files()
        for call in CALLS.values():
            given = {param.name: known[param.name] for param in call.params if param.name in known}
            answer = page.call(call.name, **given)
            expected = (200, 404) if call.name in ("review", "explain") else (200,)  # no git here, and no such fact
            assert answer.status in (expected if call.effect.reads else (403,)), (call.name, answer.body)
        assert {p for p, data in files().items() if before.get(p) != data} <= {*(workspace / ".mabos").rglob("*")}
        assert not list((workspace / ".mabos" / "queue").glob("*access*"))


def test_the_stream_tells_of_changes(page: Page, workspace: Path, mabos: Mabos) -> None:
    connection = http.client.HTTPConnection(page.host, timeout=30)
    connection.request("GET", f"/{page.token}/api/changes")
    stream = connection.getresponse()
    assert stream.getheader("Content-Type") == "text/event-stream"
    first = stream.readline()
    assert first.startswith(b"data: ") and stream.readline() == b"\n"
    store(mabos, workspace, "We bill per seat")
    assert stream.readline().startswith(b"data: ")
    assert page.end() == (0, b"")
    stream.read()
    connection.close()


def test_pages_that_wait_for_changes_leave_room_for_others(page: Page) -> None:
    waiting = [http.client.HTTPConnection(page.host, timeout=30) for _ in range(14)]
    for connection in waiting:
        connection.request("GET", f"/{page.token}/api/changes")
    streams = [connection.getresponse() for connection in waiting]  # which stay open as long as somebody holds them
    assert sorted(stream.status for stream in streams) == [200] * 12 + [503] * 2
    assert page.call("status").status == 200
    for stream, connection in zip(streams, waiting, strict=True):
        stream.close()
        connection.close()
    for _ in range(50):  # a page that is reloaded leaves its stream behind
        stream = http.client.HTTPConnection(page.host, timeout=30)
        stream.request("GET", f"/{page.token}/api/changes")
        if stream.getresponse().status == 200:
            break
        time.sleep(0.1)
    else:
        pytest.fail("streams of pages that left are still counted")


def test_it_ends_with_ctrl_c(page: Page) -> None:
    assert page.call("status").status == 200
    assert page.end(signal.SIGINT) == (130, b"")


def test_two_clients_beside_three_writers_lose_nothing(page: Page, workspace: Path, mabos: Mabos) -> None:
    items = [store(mabos, workspace, f"Berth {n} is let to ship {n * 7}") for n in range(40)]

    def write(writer: int) -> list[str]:
        return [store(mabos, workspace, f"Writer {writer} saw heron {n} at pier {writer * 31 + n}") for n in range(8)]

    def ask(number: int) -> int:
        if number % 10 == 0 and number // 10 < len(items):
            return page.call("forget", id=items[number // 10]).status
        return page.call("recall", query=f"berth {number % 40}", limit=5).status

    with ThreadPoolExecutor(64) as clients, ThreadPoolExecutor(3) as writers:
        written = [writers.submit(write, n) for n in range(3)]
        statuses = [*clients.map(ask, range(500))]
        kept = [item for done in written for item in done.result()]
    assert statuses == [200] * 500
    assert [page.call("get", id=item).value["data"]["state"] for item in kept] == ["live"] * 24
    assert {page.call("get", id=item).value["data"]["state"] for item in items} == {"archived"}
    status = Path(f"/proc/{page.process.pid}/status")
    if status.exists():
        kilobytes = int(next(line for line in status.read_text().split("\n") if line.startswith("VmRSS")).split()[1])
        assert kilobytes < 300_000
