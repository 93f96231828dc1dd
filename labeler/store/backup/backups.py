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
    """Copy the golden set at ``path`` as it is at one moment into the new file ``target``.

    Nobody waits meanwhile. Returns what is in the copy. Raises `Unusable` where either file does
    not work.
    """
    with integrity.open_read_only(path) as db:
        db.execute("BEGIN")
        newest = integrity.read_position(db)
        try:
            target.touch(0o600, exist_ok=False)  # it holds keys; who may read it is decided later
            with closing(sqlite3.connect(target)) as copied:
                db.backup(copied)
        except sqlite3.DatabaseError as error:
            raise translate_error(error, target, str(target)) from error
    return newest


def check_copy(path: Path, newest: LogPosition) -> list[str]:
    """Return where a finished copy is not what was copied, read as it stands on the disk."""
    if found := integrity.find_damage(path, "integrity_check", integrity.WITHOUT_LOG):
        return found
    with integrity.open_read_only(path, integrity.WITHOUT_LOG) as db:
        there = integrity.read_position(db)
    return [] if there == newest else [f"it goes up to {there}, not up to {newest}"]


def known_faults(path: Path) -> list[str]:
    """Return what is odd in a finished copy because it is so in what was copied."""
    with integrity.open_read_only(path, integrity.WITHOUT_LOG) as db:
        broken = integrity.broken_references(db)
        if not integrity.has_current_schema(db):
            return broken
        return [*broken, *integrity.broken_rules(db), *HashChain(db).check().faults]


def seal_in_file(path: Path) -> Seal | None:
    """Return the seal of the logs in a file, None in one with another schema."""
    with integrity.open_read_only(path) as db:
        return HashChain(db).present_seal() if integrity.has_current_schema(db) else None


def position_in_file(path: Path) -> LogPosition:
    """Return which golden set a file holds, and how far it goes."""
    with integrity.open_read_only(path) as db:
        return integrity.read_position(db)


EVERY, FOLDER, KEEP = "LABELER_BACKUP_EVERY", "LABELER_BACKUP_TO", "LABELER_BACKUP_KEEP"
TIMESTAMP = "%Y%m%dT%H%M%SZ"
BACKUP_SUFFIX = ".db"
TIMESTAMP_NAME = re.compile(r"\d{8}T\d{6}Z\.db", re.ASCII)


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made and checked; ``odd`` is what is wrong in the golden set itself."""

    path: Path
    newest: LogPosition
    size: int
    seal: Seal | None
    odd: Sequence[str] = ()

    def __str__(self) -> str:
        """Say what is in it, and the seal of its logs."""
        said = (
            f"{self.path}: {describe_position(self.newest)}, {format_megabytes(self.size)}, checked"
        )
        odd = [f"WRONG in the golden set, and so in it: {odd}" for odd in self.odd]
        seal = [] if self.seal is None else [f"seal: {self.seal}"]
        return "\n".join([said, *odd, *seal])


def describe_position(newest: LogPosition) -> str:
    """Say up to where a golden set goes."""
    when = f" of {newest.judged_at}" if newest.judged_at else ""
    return f"{newest.judgment:,} judgments{when}, {newest.remark:,} remarks"


def format_megabytes(size: int) -> str:
    """Say how large a file is.

    >>> format_megabytes(1_234_567)
    '1.2 MB'
    """
    return f"{size / 1e6:,.1f} MB"


def back_up(path: Path, target: Path, *, replace: bool = False) -> Backup:
    """Copy the golden set at ``path`` to the file ``target``, while others may write to it.

    The copy is read back and checked before it gets its name. Where ``target`` is a folder it is
    named in there, after the moment. Raises `BadInput` where something is there already, unless
    it may be replaced, and where the copy is not whole: then what was there stays.
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
    """Return the bytes of a checked backup; it is made, and removed, beside the golden set."""
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
        integrity.check_undamaged(path)  # which remembers that it is damaged
        raise BadInput(
            f"{target}: no backup was made, as the copy is not whole: {found[0]}. 'labeler check' "
            f"says more of {path}"
        )
    return newest


def check_target(path: Path, target: Path, *, replace: bool) -> None:
    """Raise `BadInput` where a backup cannot be put, or may not."""
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
    """Name a backup in a folder after its golden set and this moment."""
    return folder / f"{path.stem}-{datetime.now(UTC):{TIMESTAMP}}{BACKUP_SUFFIX}"


# On a timer ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Schedule:
    """How often a backup is made, in which folder, and how many of the newest stay there."""

    every: timedelta
    folder: Path
    keep: int

    @classmethod
    def from_environment(cls, said: Mapping[str, str]) -> Schedule | None:
        """Return what the server's environment says, None where it says nothing."""
        if EVERY not in said:
            return None
        return cls(timedelta(seconds=float(said[EVERY])), Path(said[FOLDER]), int(said[KEEP]))

    def in_environment(self) -> dict[str, str]:
        """Return what says this in a server's environment."""
        folder = str(self.folder.absolute())
        return {EVERY: str(self.every.total_seconds()), FOLDER: folder, KEEP: str(self.keep)}


def check_folder(folder: Path) -> None:
    """Raise `BadInput` for a folder that takes no file."""
    with atomic_files.partial_file(folder / "backup.db"):
        pass


def backups_in_series(folder: Path, stem: str, golden_set: str) -> list[Path]:
    """Return the backups that a timer made of a golden set in a folder, oldest first.

    They are told by their names, which have the golden set's own number in them: what has another
    name is nobody's to remove.
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
    """Name the next backup of a series: after this moment, and always after the one before.

    A clock that was put back would else make the newest one the first to go.
    """
    beginning = _series_prefix(stem, golden_set)
    now = datetime.now(UTC).replace(microsecond=0)
    if made:
        last = backup_time(made[-1])
        now = max(now, last + timedelta(seconds=1))
    return folder / f"{beginning}{now:{TIMESTAMP}}{BACKUP_SUFFIX}"


def backup_time(backup: Path) -> datetime:
    """Return when a backup of a series was made, as its name says."""
    return datetime.strptime(backup.stem.rpartition("-")[2], TIMESTAMP).replace(tzinfo=UTC)


def back_up_in_series(path: Path, schedule: Schedule) -> Backup:
    """Make the next backup of a series, then remove the oldest beyond those to be kept."""
    golden_set = position_in_file(path).golden_set
    with atomic_files.translate_os_errors(schedule.folder):
        made = backups_in_series(schedule.folder, path.stem, golden_set)
    backup = back_up(path, next_in_series(schedule.folder, path.stem, golden_set, made))
    for old in [*made, backup.path][: -schedule.keep]:
        with atomic_files.translate_os_errors(old):
            old.unlink(missing_ok=True)
    return backup


def describe_schedule(schedule: Schedule | None, path: Path, now: datetime | None = None) -> str:
    """Say how a server backs up its golden set, and whether it does."""
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
    """Say whether a judgment has waited for a backup for longer than two of them take to come."""
    if judged_at is None:
        return False
    judged = datetime.fromisoformat(judged_at)
    is_in_none = last is None or judged >= last + timedelta(seconds=1)  # a name has no fractions
    return is_in_none and now - judged > 2 * schedule.every


def in_units(time: timedelta) -> str:
    """Say a length of time in the largest unit that it is a whole number of.

    >>> in_units(timedelta(minutes=15)), in_units(timedelta(hours=24)), in_units(timedelta(hours=1))
    ('15 minutes', '1 day', '1 hour')
    """
    seconds = int(time.total_seconds())
    units = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
    unit, size = next(each for each in units.items() if seconds % each[1] == 0)
    return f"{seconds // size} {unit}{'s' if seconds != size else ''}"


try:
    import fcntl
except ImportError:  # Windows, which renames no file that anybody has open
    fcntl = None  # type: ignore[assignment]

# Where SQLite's readers hold a lock, for as long as they have a file with a write-ahead log open:
# https://www.sqlite.org/c3ref/file_control.html and os_unix.c (SHARED_FIRST, SHARED_SIZE).
FIRST_BYTE, BYTES = 0x40000002, 510


@contextmanager
def exclusive_access(path: Path) -> Iterator[None]:
    """Keep every other process from opening a golden set as long as the block runs.

    Raises `Busy` where a server or anybody else has it open. Not for a process that has it open
    itself: when this ends, so do its own locks.
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
    """What is in the golden set's place now, and where that is which was there before, if any.

    ``replaced`` is None where nothing was there or nobody can read it; ``odd`` is what is wrong in
    the backup because it was so in the golden set.
    """

    newest: LogPosition
    aside: Path | None
    replaced: LogPosition | None
    odd: Sequence[str]


def restore(path: Path, backup: Path, *, force: bool = False) -> RestoreResult:
    """Put a copy of ``backup`` at ``path``, once it is found whole.

    Raises `Busy` where any process has the golden set open, and `BadInput` where the backup is
    not whole, or is one of another golden set and not ``force``. What was at ``path`` is renamed,
    with the log beside it: whatever that was, it is not taken for the log of the new file.
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
        # SQLite has closed the file by now: a lock of ours would not outlive that.
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
    """Return what can still be read of the golden set that is to be replaced."""
    if not path.exists():
        return None
    try:
        return position_in_file(path)
    except (LabelerError, KeyError):
        return None


def _put_aside(path: Path) -> Path | None:
    """Give what is at a place another name, with the log that lies beside it; return that name.

    The file itself keeps its own name as well until another takes it, so that there is always one;
    the log does not, as it would be taken for the log of the other.
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
