"""The only module that writes files of a workspace, with plain_files.py and platform.py below it; lock.py writes locks. Atomic, durable,
and never over a change that somebody else made meanwhile.

Replacing: temporary file in the same folder, fsync, compare what is there with what we read, rename, fsync the folder.
Appending: one write behind a complete last line, fsync; a failed write is taken back.
"""

import errno
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from zlib import crc32

from mabos_cli.core.language import ids
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import Conflict, InvalidFile, MabosError
from mabos_cli.formats.json.text import BEGINNING, NUMBERED, check_format
from mabos_cli.workspace.layout import TEMP_PREFIX
from mabos_cli.workspace.plain_files import LOCAL, append_lines, open_regular, read_regular, real_path, write_all
from mabos_cli.workspace.platform import CLOSE_ON_EXEC, exchange_files, is_running, keep_rights, read_at, sync_folder

# Text files below this size are replaced rather than appended to: a power cut then cannot leave half an entry.
REPLACE_BELOW = 1 << 20
_TRADED = rf"(?s){re.escape(TEMP_PREFIX)}\d+-\d+-([0-9a-f]{{8}})([0-9a-f]{{8}})-(.+)"
ATTEMPTS = 50  # to write what somebody else keeps changing


class Moved(Conflict):
    """A file is no longer what it was when it was read: read again and redo."""

    def __init__(self, path: Path, is_shared: bool = False) -> None:
        super().__init__(f"{path} was changed meanwhile", "another program is writing it; try again")
        self.path = path
        self.is_shared = is_shared


class FileWrite(NamedTuple):
    """A file that is to be replaced: its new bytes, and those that it was read as (None: there was none). A shared one is
    edited by people, too: not even a save in the instant of replacing it is lost."""

    path: Path
    data: bytes
    read_as: bytes | None
    is_shared: bool = False


def attempts(trouble: str, hint: str = "another program is writing it; try again") -> Iterator[int]:
    """Yields turns to write a file that others write too: who is through leaves the loop, who finds it Moved takes another turn;
    Conflict when that never ends."""
    yield from range(ATTEMPTS)
    raise Conflict(trouble, hint)


# What was written since somebody asked, for who commits it; where nobody asked, nothing is noted.
_written: ContextVar[set[Path] | None] = ContextVar("written", default=None)


def watch_writes() -> set[Path]:
    """Returns the files that are written or removed from now on, as the set grows."""
    _written.set(found := set[Path]())
    return found


def _note_written(*paths: Path) -> None:
    found = _written.get()
    if found is not None:
        found.update(paths)


@contextmanager
def explained(path: Path, doing: str) -> Iterator[None]:
    """Turns an operating system error into one line about a path."""
    try:
        yield
    except OSError as error:
        hints = {
            errno.ENOSPC: "free some space and try again; no file was left half written",
            errno.EROFS: "the workspace is read-only; reading commands still work",
            errno.EACCES: "check the owner and the mode of the file and its folder",
            errno.ELOOP: "replace the symbolic link by a file or folder",
            errno.EINVAL: "replace it by a file",
        }
        hint = hints.get(error.errno or 0, "no file was left half written")
        raise InvalidFile(f"cannot {doing} {path}: {error.strerror or error}", hint) from None


def read_bytes(path: Path) -> bytes | None:
    """Returns the bytes of a file, or None when there is none. A link that leads nowhere is no such absence: what it led to is lost."""
    with explained(path, "read"):
        try:
            with open(open_regular(os.fspath(path)), "rb", buffering=0) as file:
                return file.readall()
        except (FileNotFoundError, NotADirectoryError):
            if not path.is_symlink():
                return None
    raise InvalidFile(f"{path} is a symbolic link that leads nowhere", "put back what it leads to, or remove the link")


def read_saved(path: Path) -> bytes | None:
    """As read_bytes, for a file that people edit and that is about to be rewritten: one that somebody emptied just now is waited
    for, since many editors do so before they write."""
    with suppress(OSError):
        for _ in range(10):
            found = path.stat()
            if found.st_size or time.time() - found.st_mtime > 1:
                break
            time.sleep(0.02)
    return read_bytes(path)


def read_text(path: Path, shown: str = "") -> str:
    """Returns the text of a file, empty when there is none; InvalidFile when it is not UTF-8."""
    return decode_text(read_bytes(path) or b"", shown or str(path))


def decode_text(data: bytes, shown: str) -> str:
    """Bytes of a file as text; InvalidFile cites the line that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidFile(f"{shown}:{line}: not valid UTF-8", "convert the file, for example with iconv") from None


def check_ledger(path: Path) -> None:
    """Refuses to append to a file that a newer version of mabos wrote."""
    if path.suffix in NUMBERED and LOCAL not in path.parts:  # what is local can be made again, or is soon used up
        with suppress(OSError):
            check_format(path, read_regular(os.fspath(path), BEGINNING))


def list_names(folder: Path) -> list[str]:
    """Returns the names in a folder, sorted, without our temporary files; none when there is no folder."""
    with explained(folder, "read"):
        try:
            found = os.listdir(real_path(os.fspath(folder)))
            return sorted(name for name in found if not name.startswith(TEMP_PREFIX))
        except (FileNotFoundError, NotADirectoryError):
            return []


def list_stems(folder: Path, ending: str) -> list[str]:
    """Returns the names in a folder that end so, without that ending, sorted."""
    return [name.removesuffix(ending) for name in list_names(folder) if name.endswith(ending)]


def stamp_of(path: Path) -> str:
    """Returns what changes whenever a file does. Empty when there is no file."""
    try:
        return ids.stamp_of(path.stat())
    except OSError:
        return ""


def read_end(path: str | Path, size: int) -> bytes:
    """Returns the last bytes of a file; none when there is no file."""
    try:
        with open(open_regular(os.fspath(path)), "rb", buffering=0) as file:
            return read_at(file.fileno(), size, max(0, os.fstat(file.fileno()).st_size - size))
    except OSError:
        return b""


def is_inside(path: str | Path, root: Path) -> bool:
    """Returns whether a path stays below the root when symbolic links are followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def resolve_inside(path: Path, root: Path) -> Path:
    """Returns the real place of a path, following symbolic links, as long as it stays below the root."""
    real = Path(os.path.realpath(path))
    if not is_inside(real, root):
        raise InvalidFile(
            f"{path} leads out of the workspace to {real}", "replace the symbolic link by a file or folder"
        )
    return real


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Creates a folder and its parents durably; the mode is that of the folder itself if it is new."""
    if os.path.isdir(folder):
        return
    with explained(folder, "create"):
        missing, part = [], folder
        while not part.is_dir():
            missing.append(part)
            part = part.parent
        for part in reversed(missing):
            with suppress(FileExistsError):
                part.mkdir(mode if part is folder else 0o777)
            sync_folder(part.parent)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A folder outside of any workspace that is removed at the end, with all that is in it."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        yield Path(os.path.realpath(name))


def replace_file(path: Path, data: bytes, *, root: Path, expect: bytes | None, shared: bool = False) -> None:
    """Replaces a file by new bytes, atomically and durably, if it still holds `expect` (None: does not exist).

    Mode, owner and access lists stay; a symbolic link inside the root is followed, not replaced. With `shared`, for files that
    people edit, not even a save in the instant between looking and replacing is lost.
    """
    check_format(path, expect)
    target = resolve_inside(path, root)
    make_folder(target.parent)
    with explained(path, "write"):
        fd, temp = open_temp(target.parent)
        try:
            try:
                keep_rights(fd, target)
                write_all(fd, data)
                os.fsync(fd)
            finally:
                os.close(fd)
            if read_bytes(target) != expect:
                raise Moved(path, shared)
            if expect is None:
                _put_new(temp, target)
            elif not (shared and _traded(temp, target, data, expect)):
                os.replace(temp, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temp)
            raise
        _note_written(target)
        sync_folder(target.parent)


def _put_new(temp: Path, target: Path) -> None:
    """Gives a file the name of one that is not there; Moved when it is by now."""
    try:
        os.link(temp, target)
    except FileExistsError:
        raise Moved(target) from None
    except OSError:  # a disk that knows one name for each file
        os.replace(temp, target)
    else:
        os.unlink(temp)


def _traded(temp: Path, target: Path, data: bytes, expect: bytes) -> bool:
    """Puts a file in the place of another by exchanging the two, and looks at what came out: Moved, with everything back in
    its place, when that is not what was expected. False where the system cannot exchange files. The temporary file is named
    after what it may hold, so that whoever finds it knows somebody else's save from our bytes."""
    named = temp.with_name(f"{temp.name}-{crc32(expect):08x}{crc32(data):08x}-{target.name}")
    os.replace(temp, named)
    try:
        if not exchange_files(named, target):
            os.replace(named, temp)
            return False
        if read_bytes(named) != expect:
            raise Moved(target, True)
        return True
    finally:
        remove_temp(named)


def remove_temp(temp: Path) -> None:
    """Removes a temporary file. If a person's save was exchanged into it and its owner had no time to look, the save goes back to
    its place; beside it where the file was saved again since."""
    match = compiled(_TRADED).fullmatch(temp.name)
    held = read_bytes(temp) if match else None
    if match and held is not None and f"{crc32(held):08x}" not in (match[1], match[2]):
        target = temp.with_name(match[3])
        if f"{crc32(read_bytes(target) or b''):08x}" != match[2]:
            os.replace(temp, target.with_name(f"{target.stem}.saved-{crc32(held):08x}{target.suffix}"))
            return
        exchange_files(temp, target)
        if f"{crc32(read_bytes(temp) or b''):08x}" != match[2]:  # saved once more in between: that is the latest word
            exchange_files(temp, target)
    temp.unlink(missing_ok=True)


def append_bytes(path: Path, data: bytes, *, root: Path, durable: bool = True) -> None:
    """Appends complete lines behind the last complete line: a torn tail is closed first, a failed write taken back."""
    target = resolve_inside(path, root)
    check_ledger(path)
    make_folder(target.parent)
    with explained(path, "append to"):
        append_lines(os.fspath(target), data, durable=durable)
        _note_written(target)


def append_text(path: Path, text: str, *, root: Path, header: str = "") -> None:
    """Appends to a Markdown log, with a header when it is new. Small logs are replaced whole, large ones appended to."""
    for _ in attempts(f"{path} keeps changing"):
        with explained(path, "read"):
            size = path.stat().st_size if path.exists() else 0
        if size > REPLACE_BELOW:
            return append_bytes(path, text.encode("utf-8"), root=root)
        with suppress(Moved):
            old = read_saved(path)
            body = (old or header.encode("utf-8")).rstrip(b"\0")
            gap = b"" if body.endswith(b"\n") or not body else b"\n"
            return replace_file(path, body + gap + text.encode("utf-8"), root=root, expect=old, shared=True)


def plan_edit(path: Path, edit: Callable[[str], str | None]) -> FileWrite | None:
    """Returns the write of a Markdown file that a function makes of its text; None when it leaves it as it is."""
    old = read_saved(path)
    # Bytes that are not UTF-8 pass through as they are: a person's file is not ours to refuse or to mend.
    text = (old or b"").decode("utf-8", "surrogateescape")
    new = edit(text)
    return None if new is None or new == text else FileWrite(path, new.encode("utf-8", "surrogateescape"), old, True)


def edit_text(path: Path, edit: Callable[[str], str | None], *, root: Path) -> bool:
    """Rewrites a Markdown file by a function of its text, again when somebody saved it meanwhile; whether it changed."""
    for _ in attempts(f"{path.name} keeps changing"):
        file = plan_edit(path, edit)
        if file is None:
            break
        with suppress(Moved):
            replace_file(path, file.data, root=root, expect=file.read_as, shared=True)
            return True
    return False


def remove_file(path: Path, *, root: Path) -> None:
    """Removes a file of ours below the root that holds nothing of its own any more (a drained queue, a folded journal)."""
    place = resolve_inside(path.parent, root) / path.name
    with explained(path, "remove"), suppress(FileNotFoundError):
        place.unlink()
        _note_written(place)
        sync_folder(place.parent)


def move_files(moves: Iterable[tuple[Path, Path]], *, root: Path) -> None:
    """Renames files within the root, durably and never onto something that is there already.

    Folders are synced once, behind all renames: each file is whole at one of its two places at any time.
    """
    left: set[Path] = set()
    entered: set[Path] = set()
    try:
        for path, goal in moves:
            source, target = resolve_inside(path.parent, root) / path.name, resolve_inside(goal, root)
            make_folder(target.parent)
            with explained(path, "move"):
                if os.path.lexists(target):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
                os.rename(source, target)
            _note_written(source, target)
            entered.add(target.parent)
            left.add(source.parent)
    finally:
        # New places first: what is on the disk at both is found again, what is at neither is lost.
        for folder in (*sorted(entered), *sorted(left - entered)):
            with explained(folder, "sync"):
                sync_folder(folder)


def open_temp(folder: Path) -> tuple[int, Path]:
    """Returns a new temporary file in a folder, open for writing, and its path. Its name says whose it is."""
    for attempt in range(100):
        temp = folder / f"{TEMP_PREFIX}{os.getpid()}-{attempt}"
        with suppress(FileExistsError):
            return os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | CLOSE_ON_EXEC, 0o666), temp
    raise OSError(errno.EEXIST, "no free temporary name")


def find_temps(folder: Path) -> list[Path]:
    """Temporary files below a folder."""
    walk = os.walk(folder)
    return [Path(here) / name for here, _, names in walk for name in names if name.startswith(TEMP_PREFIX)]


def _is_orphan(temp_name: str) -> bool:
    """Returns whether the process that a temporary file is named after is gone."""
    number = temp_name.removeprefix(TEMP_PREFIX).partition("-")[0]
    return not number.isdigit() or not is_running(int(number))


def sweep_temps(folder: Path, *, locked: bool) -> int:
    """Removes temporary files that killed processes left below a folder.

    Below an agent's folder only the holder of its lock writes, so that everything there is left over; elsewhere only
    the files of processes that are gone.
    """
    found = [temp for temp in find_temps(folder) if locked or _is_orphan(temp.name)]
    for temp in found:
        with suppress(OSError, MabosError):
            remove_temp(temp)
    return len(found)
