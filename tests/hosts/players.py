"""The hosts: what their settings hold before mabos comes, and how a session is played with each."""

import time
from collections.abc import Sequence
from functools import partial

from hosts.packages import folder_of, program
from hosts.stage import Stage
from hosts.terminal import Terminal, wait_until

SECONDS = 180  # for a prompt, on a busy machine
START, QUIET = 3.0, 1.5  # seconds without output, after which a host waits for the first prompt, and for the next one


class Host:
    """A host: its name, to us and as a package, the names of its modes, and its commands in a terminal."""

    name = key = package = ""
    one_shot, interactive = "", ""
    leave, compact = "/exit", "/compact"
    session = 0

    @property
    def modes(self) -> list[str]:
        """The modes that there are."""
        return [mode for mode in (self.interactive, self.one_shot) if mode]

    def is_one_session(self, mode: str) -> bool:
        """Returns whether all prompts of a mode are of one session; else each is one of its own."""
        return mode == self.interactive

    def set_up(self, stage: Stage) -> None:
        """Writes the settings that a person has who uses the host already, with our model in place of theirs."""

    def connect(self, stage: Stage) -> None:
        """Connects the host with the workspace, as a person does."""
        stage.mabos("connect", self.key, "--user")
        stage.forget_hooks()

    def words(self, prompt: str) -> list[str]:
        """Returns the command line: for one prompt, or for a terminal where that is empty."""
        raise NotImplementedError

    def play(self, stage: Stage, mode: str, prompts: Sequence[str]) -> str:
        """Plays a session, which in one shot is a run for each prompt, until all is learned; returns what the host printed."""
        self.session += 1
        if mode == self.interactive:
            return self._in_terminal(stage, prompts)
        shown = []
        for prompt in prompts:
            shown.append(stage.run(self.words(prompt), SECONDS))
            stage.wait_learned()
        return "\n".join(shown)

    def _in_terminal(self, stage: Stage, prompts: Sequence[str]) -> str:
        with Terminal(self.words(""), stage.env, stage.app) as terminal:
            terminal.wait_quiet(START, SECONDS)
            for prompt in prompts:
                count = len(stage.model.requests)
                terminal.enter(prompt)
                if not prompt.startswith("/"):
                    wait_until(partial(stage.was_asked, prompt, count), SECONDS)
                terminal.wait_quiet(QUIET, SECONDS)
            terminal.enter(self.leave)
            terminal.wait_end(SECONDS)
            wait_until(lambda: not stage.open_sessions(), SECONDS)
        stage.wait_learned()
        return terminal.text


class Claude(Host):
    """Claude Code."""

    name, key, package = "Claude Code", "claude", "@anthropic-ai/claude-code"
    one_shot, interactive = "-p", "interactive"
    _key = "sk-ant-none-" + "0" * 20

    def set_up(self, stage: Stage) -> None:
        stage.env |= {"ANTHROPIC_BASE_URL": stage.model.url, "ANTHROPIC_API_KEY": self._key}
        stage.env |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        known = {"hasCompletedOnboarding": True, "theme": "dark", "projects": {str(stage.app): trusted}}
        stage.write(".claude.json", known | {"customApiKeyResponses": {"approved": [self._key[-20:]], "rejected": []}})

    def words(self, prompt: str) -> list[str]:
        allowed = ["--allowedTools", "mcp__mabos,Bash(echo:*)"]
        return [program(self.package, "claude"), *(["-p", prompt] if prompt else []), *allowed]


class Codex(Host):
    """Codex."""

    name, key, package = "Codex", "codex", "@openai/codex"
    one_shot, interactive = "exec", "TUI"
    leave = "/quit"

    def set_up(self, stage: Stage) -> None:
        lines = [
            'model = "scripted"',
            'model_provider = "scripted"',
            'approval_policy = "never"',
            'sandbox_mode = "danger-full-access"',
            "[model_providers.scripted]",
            'name = "scripted"',
            f'base_url = "{stage.model.url}/v1"',
            'wire_api = "responses"',
            f'[projects."{stage.app}"]',
            'trust_level = "trusted"',
        ]
        stage.write(".codex/config.toml", "\n".join(lines) + "\n")

    def connect(self, stage: Stage) -> None:
        super().connect(stage)
        # A person has to trust hooks once, in the terminal, for all modes.
        with Terminal(self.words(""), stage.env, stage.app) as terminal:
            if terminal.wait_for("2. Trust all and continue", SECONDS):
                time.sleep(1)
                terminal.enter("2")
                terminal.wait_quiet(START, SECONDS)
            terminal.enter(self.leave)
            terminal.wait_end(SECONDS)

    def words(self, prompt: str) -> list[str]:
        shot = ["exec", "--skip-git-repo-check", prompt] if prompt else []
        return [program(self.package, "codex"), *shot]


class Gemini(Host):
    """Gemini CLI."""

    name, key, package = "Gemini CLI", "gemini", "@google/gemini-cli"
    one_shot, interactive = "-p", "interactive"
    leave, compact = "/quit", "/compress"

    def set_up(self, stage: Stage) -> None:
        stage.env |= {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": stage.model.url}
        security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
        quiet = {"general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False}}
        stage.write(".gemini/settings.json", {"security": security, "ui": {"theme": "Default"}, **quiet})

    def words(self, prompt: str) -> list[str]:
        return [program(self.package, "gemini"), "--yolo", *(["-p", prompt] if prompt else [])]


class OpenClaw(Host):
    """OpenClaw, without its gateway."""

    name, key, package = "OpenClaw", "openclaw", "openclaw"
    one_shot = "agent --local"

    def is_one_session(self, mode: str) -> bool:
        return True

    def set_up(self, stage: Stage) -> None:
        model = {"id": "scripted", "name": "scripted", "contextWindow": 200_000, "maxTokens": 4096}
        provider = {
            "baseUrl": f"{stage.model.url}/v1",
            "apiKey": "none",
            "api": "openai-completions",
            "models": [model],
        }
        agents = {"defaults": {"model": {"primary": "scripted/scripted"}, "workspace": str(stage.app)}}
        known = {"models": {"mode": "merge", "providers": {"scripted": provider}}, "agents": agents}
        stage.write(".openclaw/openclaw.json", known)
        stage.env |= {"NODE_COMPILE_CACHE": str(folder_of(self.package) / "compiled")}

    def words(self, prompt: str) -> list[str]:
        session = ["--session-id", f"session-{self.session}", "--message", prompt]
        return [program(self.package, "openclaw"), "agent", "--local", *session]


HOSTS = (Claude(), Codex(), Gemini(), OpenClaw())
