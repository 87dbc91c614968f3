"""Git, as far as a workspace needs it: asked without prompts, pagers and editors, about the repository that the workspace is in.

The repository may come from a stranger, so nothing that its own configuration names is run: `_guards` switches off its hooks,
filters, monitors, external diffs and signing programs for every call, and no call reaches a network or a submodule.
"""

import os
import re
import stat
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import MabosError, NotFound, Unavailable
from mabos_cli.workspace.files import list_names, read_bytes
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.platform import end_process_group

_PATIENCE = 60.0  # seconds
_STALE = 600.0  # seconds: no commit takes that long, but somebody may think about its message
# What a hook of git that calls us has in its environment: it names another repository, or an index that is in use.
_FOREIGN = frozenset(
    "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE "
    "GIT_INTERNAL_SUPER_PREFIX GIT_NAMESPACE GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_QUARANTINE_PATH GIT_SHALLOW_FILE "
    "GIT_WORK_TREE".split()
)
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
# Whatever the repository says. The last one makes a commit durable: git's default leaves it to the next sync.
_ALWAYS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.alternateRefsCommand": "",
    "diff.ignoreSubmodules": "all",
    "log.showSignature": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "core.fsync": "all",
}
# Programs that only the repository's own configuration names, by a pattern of the key, and what is said instead.
_INSTEAD = (
    (r"filter\..*\.(?:clean|smudge|process)", ""),
    (r"filter\..*\.required", "false"),
    (r"diff\..*\.(?:command|textconv)", ""),
    (r"gpg\.(?:openpgp\.)?program", "gpg"),
    (r"gpg\.x509\.program", "gpgsm"),
    (r"gpg\.ssh\.program", "ssh-keygen"),
    (r"gpg\.ssh\.defaultkeycommand", ""),
)

# What a repository's own configuration may say that makes somebody's git run a program.
_PROGRAMS = re.compile(
    r"core\.(?:fsmonitor|hookspath|sshcommand|editor|pager|askpass|alternaterefscommand|gitproxy)|diff\.external"
    r"|filter\..*\.(?:clean|smudge|process)|diff\..*\.(?:command|textconv)|merge\..*\.driver|(?:merge|diff)tool\..*\.cmd"
    r"|gpg\..*program|gpg\.ssh\.defaultkeycommand|credential\.(?:.*\.)?helper|alias\..*|pager\..*|sequence\.editor"
    r"|include(?:if\..*)?\.path|remote\..*\.(?:uploadpack|receivepack|vcs)|uploadpack\.packobjectshook"
    r"|trailer\..*\.(?:command|cmd)|interactive\.difffilter",
    re.DOTALL,
)


class GitFailed(Unavailable):
    """Git ran and failed; the message is its own."""


class Answer(NamedTuple):
    """Holds the output of git."""

    code: int
    out: bytes
    err: bytes

    @property
    def reason(self) -> str:
        """Returns why it failed: the first line that names an error, else the first line."""
        lines = [line.strip() for line in self.err.decode("utf-8", "replace").split("\n") if line.strip()]
        fatal = (line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: ")))
        return next(fatal, "") or next(iter(lines), "") or f"exit code {self.code}"


def ask_git(folder: Path, *words: str, stdin: bytes = b"", patience: float = _PATIENCE) -> Answer:
    """Runs git in a folder and returns its output. It has no terminal: a prompt fails instead of waiting."""
    return _run_git(folder, words, _guards(folder), stdin, patience)


def _guards(folder: Path) -> dict[str, str]:
    """Returns the configuration that keeps git from running what the repository of a folder names now."""
    found = dict(_ALWAYS)
    listed = _run_git(folder, ("config", "--list", "--show-scope", "--name-only", "-z"), found)
    scopes_and_names = listed.out.decode("utf-8", "surrogateescape").split("\0")
    for scope, name in zip(scopes_and_names[::2], scopes_and_names[1::2], strict=False):
        for pattern, value in _INSTEAD if scope in ("local", "worktree") else ():
            if re.fullmatch(pattern, name, re.DOTALL):
                found[name] = value
    return found


def _run_git(
    folder: Path,
    words: Sequence[str],
    guards: Mapping[str, str],
    stdin: bytes = b"",
    patience: float = _PATIENCE,
) -> Answer:
    try:
        process = subprocess.Popen(
            ["git", "-C", os.fspath(folder), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(guards),
            start_new_session=True,
        )
    except OSError as error:
        raise Unavailable(f"cannot run git: {error.strerror}", "install git, or do without it") from None
    try:
        out, err = process.communicate(stdin, patience)
    except subprocess.TimeoutExpired:
        raise GitFailed(f"git {words[0]} did not end within {patience:g} s", "the repository may be locked") from None
    finally:
        if process.poll() is None:
            end_process_group(process.pid)
            process.wait()
    return Answer(process.returncode, out, err)


def _environment(guards: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment of a call. Configuration goes behind what the user's own environment has of it: any key fits there, also
    one with an equals sign, which `git -c` would cut."""
    kept = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    count = kept.get("GIT_CONFIG_COUNT", "0")
    first = int(count) if count.isdigit() else 0
    pairs = list(enumerate(guards.items(), first))
    for at, (name, value) in pairs:
        kept |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
    return {**kept, **_QUIET, "GIT_CONFIG_COUNT": str(first + len(pairs))}


class Repository(NamedTuple):
    """The repository that a workspace is in, with the configuration that keeps git from running what it names."""

    top: Path
    guards: Mapping[str, str]

    def run(self, *words: str, stdin: bytes = b"") -> bytes:
        """Returns what git prints; GitFailed when it fails."""
        answer = _run_git(self.top, words, self.guards, stdin)
        if answer.code:
            raise GitFailed(f"git {words[0]}: {answer.reason}")
        return answer.out

    def ask(self, *words: str) -> Answer:
        return _run_git(self.top, words, self.guards)

    def inside(self, path: Path) -> str:
        """Returns a path as git names it; links on the way are followed, one at the end is what git knows."""
        whole = Path(os.path.realpath(path if path.is_dir() else path.parent))
        found = whole if path.is_dir() else whole / path.name
        if not found.is_relative_to(self.top):
            raise GitFailed(f"{path} is not in the repository {self.top}")
        return found.relative_to(self.top).as_posix()

    def read_objects(self, names: Sequence[str]) -> list[bytes]:
        """Returns the contents of files by their names in git, all at once; empty for one that is not there."""
        wanted = [name if "\n" not in name else "" for name in names]  # no line of a question names that one
        asked = os.fsencode("".join(f"{name}\n" for name in wanted))
        out, at, found = self.run("cat-file", "--batch", stdin=asked) if names else b"", 0, []
        for _ in names:
            end = out.index(b"\n", at)
            head = out[at:end].rsplit(b" ", 2)
            size = int(head[-1]) if head[-1].isdigit() else -1
            found.append(out[end + 1 : end + 1 + size] if head[1:2] == [b"blob"] else b"")
            at = end + size + 2
        return found

    def read_config(self, name: str, *, local_only: bool = False) -> str:
        """Returns a configuration value, or with `local_only` one of the repository itself; empty when it is not set."""
        where = ("--local",) if local_only else ()
        return self.ask("config", *where, "--get", name).out.decode("utf-8", "replace").rstrip("\n")


def find_repository(folder: Path) -> Repository | None:
    """Returns the repository that a folder is in; None when it is in none, or git is not there."""
    try:
        return open_repository(folder)
    except (NotFound, Unavailable):
        return None


def has_clones(workspace: WorkspacePaths) -> bool:
    """Returns whether others may count on in a clone: the merge driver is named, and the repository has a remote."""
    rules = read_bytes(workspace.gitattributes)
    if not rules:
        return False
    from mabos_cli.formats.operations.git_merge import names_driver  # here, because few workspaces have it

    with suppress(Unavailable):
        return names_driver(rules.decode("utf-8", "replace")) and bool(ask_git(workspace.root, "remote").out.strip())
    return False


def open_repository(folder: Path) -> Repository:
    """Returns the repository that a folder is in; NotFound when it is in none."""
    guards = _guards(folder)
    answer = _run_git(folder, ("rev-parse", "--show-toplevel"), guards)
    top = os.fsdecode(answer.out.removesuffix(b"\n"))
    if answer.code == 0 and top:
        return Repository(Path(top), guards)
    if b"not a git repository" in answer.err:
        raise NotFound(f"{folder} is in no git repository", "make it one: git init")
    raise GitFailed(f"git rev-parse: {answer.reason}" if answer.code else f"{folder} is in a bare repository")


def list_named_programs(repository: Repository) -> list[str]:
    """Returns what in a repository names programs for git to run: keys of its own configuration, and its hooks."""
    from mabos_cli.formats.operations.git_merge import DRIVER

    listed = repository.ask("config", "--list", "--show-scope", "-z").out.decode("utf-8", "replace").split("\0")
    found = set()
    for scope, entry in zip(listed[::2], listed[1::2], strict=False):
        key, _, value = entry.partition("\n")
        if scope in ("local", "worktree") and _PROGRAMS.fullmatch(key) and value not in ("", "true", "false"):
            found.add(key)
    folder = os.fsdecode(repository.ask("rev-parse", "--git-common-dir").out.removesuffix(b"\n"))
    hooks = list_names(repository.top / folder / "hooks")
    found.update(f"hooks/{name}" for name in hooks if not name.endswith(".sample"))
    return sorted(found - {f"merge.{DRIVER}.driver"})


def find_stale_lock(repository: Repository) -> Path | None:
    """Returns the lock on git's index that a killed git left: git writes nothing while it is there. One that is younger than ten
    minutes may belong to a git at work."""
    answer = repository.ask("rev-parse", "--git-path", "index.lock")
    path = repository.top / os.fsdecode(answer.out.removesuffix(b"\n"))
    try:
        age = time.time() - os.lstat(path).st_mtime
    except OSError:
        return None
    return path if answer.code == 0 and age > _STALE else None


def _refuse_special(repository: Repository, folder: Path) -> None:
    """Refuses a pipe or a device in the place of a file that git itself reads in every folder: it would wait for ever."""
    real = Path(os.path.realpath(folder))
    places = [each for each in real.parents if each.is_relative_to(repository.top)]
    for here, folders, _ in os.walk(real):
        folders[:] = [name for name in folders if name != ".git"]
        places.append(Path(here))
    for path in (place / name for place in places for name in (".gitignore", ".gitattributes")):
        with suppress(FileNotFoundError):
            if stat.S_IFMT(os.lstat(path).st_mode) not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
                raise GitFailed(f"{path} is no regular file")


def changed_paths(repository: Repository, folders: Iterable[Path]) -> dict[str, str]:
    """Returns what differs from the last commit below some folders, and is not ignored: paths, with the two letters of git status."""
    folders = [*folders]
    for folder in folders:
        _refuse_special(repository, folder)
    named = [repository.inside(folder) for folder in folders]
    out = repository.run(
        "status", "--porcelain", "-z", "-uall", "--no-renames", "--ignore-submodules=all", "--", *named
    )
    # A file that was taken out of the index but is there is listed twice: what is staged comes first, and counts.
    return {os.fsdecode(entry[3:]): entry[:2].decode() for entry in reversed(out.split(b"\0")) if entry}


def commit_paths(repository: Repository, paths: Sequence[str], new: Sequence[str], message: str) -> str:
    """Commits files as they are on disk, and nothing else: what a person has staged stays staged. Gives the short name of the
    commit; GitFailed, with everything as it was, when git refuses."""
    if new:  # a commit of paths takes only what git knows by name
        repository.run("add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=_joined(new))
    try:
        repository.run(
            *("commit", "--quiet", "--only", f"--message={message}", "--cleanup=whitespace"),
            *("--pathspec-from-file=-", "--pathspec-file-nul"),
            stdin=_joined(paths),
        )
    except MabosError:
        if new:
            with suppress(MabosError):
                repository.run(
                    "rm", "--cached", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=_joined(new)
                )
        raise
    return repository.run("rev-parse", "--short", "HEAD").decode().strip()


def _joined(paths: Iterable[str]) -> bytes:
    return b"\0".join(map(os.fsencode, paths))


def find_commit(repository: Repository, name: str) -> str:
    """Returns the commit that a name means; NotFound when there is none."""
    answer = repository.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if answer.code or not answer.out:
        raise NotFound(f"no commit {name[:60]!r}", "a branch, a tag, HEAD~3 or a hash; git log lists them")
    return answer.out.decode().strip()


def head_commit(repository: Repository) -> str:
    """Returns the last commit; empty when there is none yet."""
    return repository.ask("rev-parse", "--verify", "--quiet", "HEAD").out.decode().strip()


def commit_before(repository: Repository, moment: datetime) -> str:
    """Returns the last commit that was made before a moment; empty when there is none."""
    if not head_commit(repository):
        return ""
    before = f"--before={format_time(moment)}"
    return repository.run("rev-list", "--max-count=1", before, "HEAD").decode().strip()


class Revision:
    """The files below a folder, at a commit and now; with no commit, as if there had been none."""

    def __init__(self, repository: Repository, commit: str, folder: Path) -> None:
        self._repository = repository
        self._folder = folder
        self._prefix = repository.inside(folder) + "/"
        self._tree = commit or repository.run("hash-object", "-t", "tree", "--stdin").decode().strip()
        self._old: dict[str, bytes] = {}

    @cached_property
    def changed(self) -> list[str]:
        """Returns the files that differ, named from the folder on; those that git ignores are left out."""
        _refuse_special(self._repository, self._folder)
        below = ("--", self._prefix)
        out = self._repository.run(
            *("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
            *(self._tree, *below),
        )
        out += self._repository.run("ls-files", "-z", "--others", "--exclude-standard", *below)
        names = {os.fsdecode(name) for name in out.split(b"\0") if name}
        return sorted(name.removeprefix(self._prefix) for name in names)

    def load(self, names: list[str]) -> None:
        """Reads old versions, all at once."""
        found = self._repository.read_objects([f"{self._tree}:{self._prefix}{name}" for name in names])
        self._old |= zip(names, found, strict=True)

    def old(self, name: str) -> bytes:
        """Returns a file as it was; empty when it was not there."""
        return self._old.get(name, b"")

    def new(self, name: str) -> bytes:
        """Returns a file as it is; empty when it is not there any more."""
        return read_bytes(self._folder / name) or b""

    def added_lines(self, name: str) -> bytes:
        """Returns the lines of a file that only grows which were not in it before."""
        known = set(self.old(name).split(b"\n"))
        return b"\n".join(line for line in self.new(name).split(b"\n") if line not in known)
