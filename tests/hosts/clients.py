"""MCP clients from npm against `mabos mcp`: the TypeScript SDK and the inspector. The official one of Python is tested by `make test`."""

import json
import time
from pathlib import Path
from typing import Any

from hosts.packages import VERSIONS, folder_of, install, program
from hosts.stage import Stage

SDK, INSPECTOR = "@modelcontextprotocol/sdk", "@modelcontextprotocol/inspector"
CLIENTS = (SDK, INSPECTOR)
SECONDS = 90


def ask_sdk(stage: Stage) -> dict[str, Any]:
    """Returns what the TypeScript SDK was answered: initialize, tools, prompts, a call."""
    server, sdk = stage.server, folder_of(SDK) / "node_modules" / SDK
    words = ["node", str(Path(__file__).parent / "client.mjs"), str(sdk), server["command"], *server["args"]]
    found: dict[str, Any] = _json(stage.run(words, SECONDS))
    return found


def ask_inspector(stage: Stage) -> dict[str, Any]:
    """Returns what the inspector was answered; it starts the server anew for each question, and grades the schemas of tools."""
    server = stage.server
    stage.write("servers.json", {"mcpServers": {"mabos": {"type": "stdio", **server}}})
    head = [
        program(INSPECTOR, "mcp-inspector"),
        "--cli",
        "--config",
        str(stage.home / "servers.json"),
        "--server",
        "mabos",
    ]

    def ask(*words: str) -> dict[str, Any]:
        found: dict[str, Any] = _json(stage.run([*head, "--method", *words], SECONDS))
        return found

    tools = ask("tools/list", "--strict").get("tools", [])
    called = ask("tools/call", "--tool-name", "memory_recall", "--tool-arg", "query=chrony")
    return {"initialize": {}, "tools": tools, "prompts": ask("prompts/list").get("prompts", []), "called": called}


def _json(shown: str) -> dict[str, Any]:
    """Returns the object in what was printed; an empty one where there is none, which is shown."""
    try:
        found = json.loads(shown[shown.index("{") :])
    except ValueError:
        print(shown)
        return {}
    return found if isinstance(found, dict) else {}


def try_client(package: str, keep: bool) -> dict[str, Any]:
    """Asks a server with a memory in it; returns what was seen."""
    install(package)
    began = time.monotonic()
    with Stage(keep=keep) as stage:
        stage.mabos("store", "Decision: enable chrony", "--type", "decision")
        said = (ask_sdk if package == SDK else ask_inspector)(stage)
    answered = "enable chrony" in json.dumps(said.get("called", {}))
    row = {"host": package.partition("/")[2], "version": VERSIONS[package], "tools": len(said.get("tools", []))}
    return row | {"prompts": len(said.get("prompts", [])), "call": answered, "seconds": round(time.monotonic() - began)}
