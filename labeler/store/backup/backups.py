"""Backups: copy a golden set that is in use, check the copy, keep the newest, restore one.

A copy is read back from the disk before it gets its name. A backup is restored only where no
other process has the golden set open, as SQLite's locks show; the file it replaces is kept
beside it.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from labeler.errors import BadInput, Busy, LabelerError, NotFound
from labeler.store import StorageError, integrity, sqlite
from labeler.store.backup import atomic_files
from labeler.store.hash_chain import Seal
from labeler.store.integrity import LogPosition
from labeler.store.sqlite import broken_link_error, check_path, translate_error
from labeler.store.tamper_check import HashChain


def copy_golden_set(path: Path, target: Path) -> LogPosition:
    """Copy the state of the golden set at ``path`` at one moment into the new file ``target``.

    Readers and writers do not wait. Returns the position of the copy. Raises a `LabelerError` where
    either file does not work.
    """
    with integrity.open_read_only(path) as db:
        db.execute("BEGIN")
        newest = integrity.read_position(db)
        try:
            target.touch(0o600, exist_ok=False)  # it holds keys; `copy_permissions` comes later
            with closing(sqlite3.connect(target)) as copied:
                db.backup(copied)
        except sqlite3.DatabaseError as error:
            raise translate_error(error, target, str(target)) from error
    return newest


def check_copy(path: Path, newest: LogPosition) -> list[str]:
    """Return how a finished copy, read from the disk, differs from its source."""
    if found := integrity.find_damage(path, "integrity_check", integrity.WITHOUT_LOG):
        return found
    with integrity.open_read_only(path, integrity.WITHOUT_LOG) as db:
        there = integrity.read_position(db)
    return [] if there == newest else [f"it goes up to {there}, not up to {newest}"]


def known_faults(path: Path) -> list[str]:
    """Return the faults of a finished copy that its source has, too."""
    with integrity.open_read_only(path, integrity.WITHOUT_LOG) as db:
        broken = integrity.broken_references(db)
        if not integrity.has_current_schema(db):
            return broken
        return [*broken, *integrity.broken_rules(db), *HashChain(db).check().faults]


def seal_in_file(path: Path) -> Seal | None:
    """Return the seal of the logs in a file, None for another schema."""
    with integrity.open_read_only(path) as db:
        return HashChain(db).present_seal() if integrity.has_current_schema(db) else None


def position_in_file(path: Path) -> LogPosition:
    """Return which golden set a file holds, and the last event of each of its logs."""
    with integrity.open_read_only(path) as db:
        return integrity.read_position(db)


EVERY, FOLDER, KEEP = "LABELER_BACKUP_EVERY", "LABELER_BACKUP_TO", "LABELER_BACKUP_KEEP"
TIMESTAMP = "%Y%m%dT%H%M%SZ"
BACKUP_SUFFIX = ".db"
TIMESTAMP_NAME = re.compile(r"\d{8}T\d{6}Z\.db", re.ASCII)


@dataclass(frozen=True, slots=True)
class Backup:
    """A checked backup; ``odd`` are the faults of the golden set itself."""

    path: Path
    newest: LogPosition
    size: int
    seal: Seal | None
    odd: Sequence[str] = ()

    def __str__(self) -> str:
        """Return its path, position, size, faults and seal, a line each for the last two."""
        said = (
            f"{self.path}: {describe_position(self.newest)}, {format_megabytes(self.size)}, checked"
        )
        odd = [f"WRONG in the golden set, and so in it: {odd}" for odd in self.odd]
        seal = [] if self.seal is None else [f"seal: {self.seal}"]
        return "\n".join([said, *odd, *seal])


def describe_position(newest: LogPosition) -> str:
    """Return the last judgment and the last remark of a golden set in words."""
    when = f" of {newest.judged_at}" if newest.judged_at else ""
    return f"{newest.judgment:,} judgments{when}, {newest.remark:,} remarks"


def format_megabytes(size: int) -> str:
    """Return a size in megabytes, as text.

    >>> format_megabytes(1_234_567)
    '1.2 MB'
    """
    return f"{size / 1e6:,.1f} MB"


def back_up(path: Path, target: Path, *, replace: bool = False) -> Backup:
    """Copy the golden set at ``path`` to the file ``target``, while others may write to it.

    The copy is read back and checked before it gets its name. In a folder it is named after the
    golden set and the time. Raises `BadInput` where ``target`` exists, unless ``replace``, and
    where the copy is not intact: then the old file stays.
    """
    target = backup_path(target, path) if target.is_dir() else target
    check_target(path, target, replace=replace)
    with atomic_files.partial_file(target) as part:
        newest = _checked_backup_copy(path, part, target)
        seal, odd = seal_in_file(part), known_faults(part)
        backup = Backup(target, newest, part.stat().st_size, seal, odd)
        with atomic_files.translate_os_errors(target):
            atomic_files.copy_permissions(part, path)
            atomic_files.publish(part, target, replace=replace)
    return backup


def content_of(path: Path) -> bytes:
    """Return the bytes of a checked backup, made and removed beside the golden set."""
    with atomic_files.partial_file(path) as part:
        _checked_backup_copy(path, part, path)
        return part.read_bytes()


def _checked_backup_copy(path: Path, part: Path, target: Path) -> LogPosition:
    try:
        newest = copy_golden_set(path, part)
    except LabelerError as error:
        integrity.check_undamaged(path)
        raise type(error)(str(error).replace(str(part), str(target))) from error
    with atomic_files.translate_os_errors(target):
        atomic_files.sync_to_disk(part)
    if found := check_copy(part, newest):
        integrity.check_undamaged(path)  # which marks it as damaged
        raise BadInput(
            f"{target}: no backup was made, as the copy is not whole: {found[0]}. 'labeler check' "
            f"says more of {path}"
        )
    return newest


def check_target(path: Path, target: Path, *, replace: bool) -> None:
    """Raise `BadInput` where no backup can be written at ``target``, or none may."""
    if target.is_symlink() and not target.exists():
        raise broken_link_error(target)
    if not target.exists():
        if not target.absolute().parent.is_dir():
            raise BadInput(f"{target}: the folder {target.parent} does not exist; create it first")
        return
    if path.exists() and target.samefile(path):
        raise BadInput(f"{target}: is the golden set itself; name another file")
    if not target.is_file():
        raise BadInput(f"{target}: is not an ordinary file; name another")
    if not replace:
        raise BadInput(f"{target}: is there already; replace it with --force")


def backup_path(folder: Path, path: Path) -> Path:
    """Return the path of a backup in a folder, named after its golden set and the time."""
    return folder / f"{path.stem}-{datetime.now(UTC):{TIMESTAMP}}{BACKUP_SUFFIX}"


# On a timer ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Schedule:
    """How often a backup is made, in which folder, and how many of the newest are kept."""

    every: timedelta
    folder: Path
    keep: int

    @classmethod
    def from_environment(cls, said: Mapping[str, str]) -> Schedule | None:
        """Return the schedule in the server's environment, None where there is none."""
        if EVERY not in said:
            return None
        return cls(timedelta(seconds=float(said[EVERY])), Path(said[FOLDER]), int(said[KEEP]))

    def in_environment(self) -> dict[str, str]:
        """Return the environment variables of this schedule."""
        folder = str(self.folder.absolute())
        return {EVERY: str(self.every.total_seconds()), FOLDER: folder, KEEP: str(self.keep)}


def check_folder(folder: Path) -> None:
    """Raise `BadInput` for a folder in which no file can be created."""
    with atomic_files.partial_file(folder / "backup.db"):
        pass


def backups_in_series(folder: Path, stem: str, golden_set: str) -> list[Path]:
    """Return the backups that a timer made of a golden set in a folder, oldest first.

    Their names contain the golden set's id. Files with other names are never removed.
    """
    beginning = _series_prefix(stem, golden_set)
    own = [
        each
        for each in folder.iterdir()
        if each.name.startswith(beginning)
        and TIMESTAMP_NAME.fullmatch(each.name, len(beginning))
        and each.is_file()
        and not each.is_symlink()
    ]
    return sorted(own)


def _series_prefix(stem: str, golden_set: str) -> str:
    return f"{stem}-auto-{golden_set[:8]}-"


def next_in_series(folder: Path, stem: str, golden_set: str, made: list[Path]) -> Path:
    """Return the path of the next backup of a series, named after the time.

    The time is at least a second after the last backup's: were the clock put back, the newest
    backup would otherwise be removed first.
    """
    beginning = _series_prefix(stem, golden_set)
    now = datetime.now(UTC).replace(microsecond=0)
    if made:
        last = backup_time(made[-1])
        now = max(now, last + timedelta(seconds=1))
    return folder / f"{beginning}{now:{TIMESTAMP}}{BACKUP_SUFFIX}"


def backup_time(backup: Path) -> datetime:
    """Return when a backup of a series was made, by its name."""
    return datetime.strptime(backup.stem.rpartition("-")[2], TIMESTAMP).replace(tzinfo=UTC)


def back_up_in_series(path: Path, schedule: Schedule) -> Backup:
    """Make the next backup of a series, then remove all but the newest that are to be kept."""
    golden_set = position_in_file(path).golden_set
    with atomic_files.translate_os_errors(schedule.folder):
        made = backups_in_series(schedule.folder, path.stem, golden_set)
    backup = back_up(path, next_in_series(schedule.folder, path.stem, golden_set, made))
    for old in [*made, backup.path][: -schedule.keep]:
        with atomic_files.translate_os_errors(old):
            old.unlink(missing_ok=True)
    return backup


def describe_schedule(schedule: Schedule | None, path: Path, now: datetime | None = None) -> str:
    """Return a sentence on how, and whether, a server backs up its golden set."""
    if schedule is None:
        return (
            "This server makes no automatic backups; 'labeler serve --backup-every 15m --backup-to "
            "FOLDER' does"
        )
    newest = position_in_file(path)
    try:
        made = backups_in_series(schedule.folder, path.stem, newest.golden_set)
    except OSError as error:
        return f"No backup can be made: {schedule.folder}: {error.strerror}"
    last = backup_time(made[-1]) if made else None
    of = f"the newest is of {last:%Y-%m-%d %H:%M} UTC" if last else "there is none yet"
    if is_overdue(schedule, last, newest.judged_at, now or datetime.now(UTC)):
        return f"No backup has what is newest, and one is overdue: {of}; the server's log says why"
    every = in_units(schedule.every)
    return f"This server makes a backup every {every} where anything is new; {of}"


def is_overdue(
    schedule: Schedule, last: datetime | None, judged_at: str | None, now: datetime
) -> bool:
    """Return whether the newest judgment has waited for a backup for over two intervals."""
    if judged_at is None:
        return False
    judged = datetime.fromisoformat(judged_at)
    is_in_none = last is None or judged >= last + timedelta(seconds=1)  # names have whole seconds
    return is_in_none and now - judged > 2 * schedule.every


def in_units(time: timedelta) -> str:
    """Return a length of time as text, in the largest unit that divides it.

    >>> in_units(timedelta(minutes=15)), in_units(timedelta(hours=24)), in_units(timedelta(hours=1))
    ('15 minutes', '1 day', '1 hour')
    """
    seconds = int(time.total_seconds())
    units = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
    unit, size = next(each for each in units.items() if seconds % each[1] == 0)
    return f"{seconds // size} {unit}{'s' if seconds != size else ''}"


try:
    import fcntl
except ImportError:  # Windows, which does not rename an open file
    fcntl = None  # type: ignore[assignment]

# The bytes that SQLite's readers lock while they have a file with a write-ahead log open:
# https://www.sqlite.org/c3ref/file_control.html and os_unix.c (SHARED_FIRST, SHARED_SIZE).
FIRST_BYTE, BYTES = 0x40000002, 510


@contextmanager
def exclusive_access(path: Path) -> Iterator[None]:
    """Keep every other process from opening a golden set in the block.

    Raises `Busy` where another process has it open. Do not use it in a process that has the file
    open: the end of the block releases that process's own locks.
    """
    if fcntl is None or not path.exists():
        yield
        return
    opened = os.open(path, os.O_RDWR)
    try:
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB, BYTES, FIRST_BYTE)
        except (BlockingIOError, PermissionError):
            raise Busy(
                f"{path}: is open in a server or another program; nothing was changed. Stop it, "
                "then run this again"
            ) from None
        yield
    finally:
        os.close(opened)


LOG_SUFFIXES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """Result of a restore: the position of the new file, and the path of the old one, if any.

    ``replaced`` is the position of the old file, None where there was none or it cannot be read.
    ``odd`` are faults that the golden set had when it was backed up.
    """

    newest: LogPosition
    aside: Path | None
    replaced: LogPosition | None
    odd: Sequence[str]


def restore(path: Path, backup: Path, *, force: bool = False) -> RestoreResult:
    """Put a checked copy of ``backup`` at ``path``.

    Raises `Busy` where any process has the golden set open, `BadInput` where the backup is
    damaged, or is of another golden set, unless ``force``. The old file is renamed together with
    its log, so that SQLite does not take that for the log of the new file.
    """
    check_path(path, create=True)
    if not backup.is_file():
        raise NotFound(f"{backup}: there is no such file; name a backup")
    if path.exists() and path.samefile(backup):
        raise BadInput(f"{backup}: is the golden set itself; name a backup of it")
    place = path.resolve()
    with atomic_files.partial_file(place) as part:
        newest, replaced = _checked_copy(backup, part), _readable_position(place)
        odd = known_faults(part)
        if replaced and replaced.golden_set != newest.golden_set and not force:
            raise BadInput(
                f"{backup}: is of another golden set than {path}; grades that wait in browsers "
                "for the one would be refused by the other. Replace it all the same with --force"
            )
        # Lock only now: closing the file, as SQLite has done by now, releases our locks on it.
        with exclusive_access(place), atomic_files.translate_os_errors(path):
            atomic_files.copy_permissions(part, place if place.exists() else backup)
            aside = _put_aside(place)
            atomic_files.publish(part, place, replace=True)
    sqlite.remove_damage_mark(path)
    return RestoreResult(newest, aside, replaced, odd)


def _checked_copy(backup: Path, part: Path) -> LogPosition:
    try:
        newest = copy_golden_set(backup, part)
        found = check_copy(part, newest)
    except StorageError as error:
        raise BadInput(f"{backup}: cannot be restored: {error.__cause__ or error}") from error
    if found:
        raise BadInput(f"{backup}: cannot be restored: it is incomplete: {found[0]}")
    return newest


def _readable_position(path: Path) -> LogPosition | None:
    """Return the position of the golden set to be replaced, None if it cannot be read."""
    if not path.exists():
        return None
    try:
        return position_in_file(path)
    except (LabelerError, KeyError):
        return None


def _put_aside(path: Path) -> Path | None:
    """Rename the file at ``path`` and its log; return the new path of the file.

    Where hard links work, the file keeps its old name, too, until the new file takes it, so that a
    file is always there. The log does not, as SQLite would take it for the log of the new file.
    """
    if not path.exists():
        for ending in LOG_SUFFIXES:
            path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
        return None
    aside = _name_aside(path)
    try:
        aside.hardlink_to(path)
    except OSError:  # a file system without hard links
        path.rename(aside)
    for ending in LOG_SUFFIXES:
        log = path.with_name(f"{path.name}{ending}")
        if log.exists():
            log.rename(aside.with_name(f"{aside.name}{ending}"))
    return aside


def _name_aside(path: Path) -> Path:
    beginning, number = f"{path.stem}-replaced-{datetime.now(UTC):{TIMESTAMP}}", 1
    aside = path.with_name(f"{beginning}{path.suffix}")
    while aside.exists():
        number += 1
        aside = path.with_name(f"{beginning}-{number}{path.suffix}")
    return aside
