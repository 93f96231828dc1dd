"""Backups: a copy of a golden set, checked once it is on the disk, and the newest of many kept.

Knows nothing of who asks, or when the next is due.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from labeler.errors import BadInput, LabelerError
from labeler.store import copying, health
from labeler.store.backup import parts
from labeler.store.chain import Seal
from labeler.store.health import Newest
from labeler.store.sqlite import broken_link

EVERY, FOLDER, KEEP = "LABELER_BACKUP_EVERY", "LABELER_BACKUP_TO", "LABELER_BACKUP_KEEP"
STAMP = "%Y%m%dT%H%M%SZ"
ENDING = ".db"
MOMENT = re.compile(r"\d{8}T\d{6}Z\.db", re.ASCII)


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made and checked; ``odd`` is what is wrong in the golden set itself."""

    path: Path
    newest: Newest
    size: int
    seal: Seal | None
    odd: Sequence[str] = ()

    def __str__(self) -> str:
        """Say what is in it, and the seal of its logs."""
        said = f"{self.path}: {described(self.newest)}, {megabytes(self.size)}, checked"
        odd = [f"WRONG in the golden set, and so in it: {odd}" for odd in self.odd]
        seal = [] if self.seal is None else [f"seal: {self.seal}"]
        return "\n".join([said, *odd, *seal])


def described(newest: Newest) -> str:
    """Say up to where a golden set goes."""
    when = f" of {newest.judged_at}" if newest.judged_at else ""
    return f"{newest.judgment:,} judgments{when}, {newest.remark:,} remarks"


def megabytes(size: int) -> str:
    """Say how large a file is.

    >>> megabytes(1_234_567)
    '1.2 MB'
    """
    return f"{size / 1e6:,.1f} MB"


def back_up(path: Path, target: Path, *, replace: bool = False) -> Backup:
    """Copy the golden set at ``path`` to the file ``target``, while others may write to it.

    The copy is read back and checked before it gets its name. Where ``target`` is a folder it is
    named in there, after the moment. Raises `BadInput` where something is there already, unless
    it may be replaced, and where the copy is not whole: then what was there stays.
    """
    target = named_in(target, path) if target.is_dir() else target
    check_target(path, target, replace=replace)
    with parts.part_of(target) as part:
        newest = _copied(path, part, target)
        seal, odd = copying.seal_of(part), copying.oddities(part)
        backup = Backup(target, newest, part.stat().st_size, seal, odd)
        with parts.translated(target):
            parts.become_like(part, path)
            parts.publish(part, target, replace=replace)
    return backup


def content_of(path: Path) -> bytes:
    """Return the bytes of a checked backup; it is made, and removed, beside the golden set."""
    with parts.part_of(path) as part:
        _copied(path, part, path)
        return part.read_bytes()


def _copied(path: Path, part: Path, target: Path) -> Newest:
    try:
        newest = copying.copy(path, part)
    except LabelerError as error:
        health.check_sound(path)
        raise type(error)(str(error).replace(str(part), str(target))) from error
    with parts.translated(target):
        parts.keep(part)
    if found := copying.check_copy(part, newest):
        health.check_sound(path)  # which remembers that it is damaged
        raise BadInput(
            f"{target}: no backup was made, as the copy is not whole: {found[0]}. 'labeler check' "
            f"says more of {path}"
        )
    return newest


def check_target(path: Path, target: Path, *, replace: bool) -> None:
    """Raise `BadInput` where a backup cannot be put, or may not."""
    if target.is_symlink() and not target.exists():
        raise broken_link(target)
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


def named_in(folder: Path, path: Path) -> Path:
    """Name a backup in a folder after its golden set and this moment."""
    return folder / f"{path.stem}-{datetime.now(UTC):{STAMP}}{ENDING}"


# On a timer ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Schedule:
    """How often a backup is made, in which folder, and how many of the newest stay there."""

    every: timedelta
    folder: Path
    keep: int

    @classmethod
    def of_this_server(cls, said: Mapping[str, str]) -> Schedule | None:
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
    with parts.part_of(folder / "backup.db"):
        pass


def series(folder: Path, stem: str, golden_set: str) -> list[Path]:
    """Return the backups that a timer made of a golden set in a folder, oldest first.

    They are told by their names, which have the golden set's own number in them: what has another
    name is nobody's to remove.
    """
    beginning = _beginning(stem, golden_set)
    own = [
        each
        for each in folder.iterdir()
        if each.name.startswith(beginning)
        and MOMENT.fullmatch(each.name, len(beginning))
        and each.is_file()
        and not each.is_symlink()
    ]
    return sorted(own)


def _beginning(stem: str, golden_set: str) -> str:
    return f"{stem}-auto-{golden_set[:8]}-"


def next_in_series(folder: Path, stem: str, golden_set: str, made: list[Path]) -> Path:
    """Name the next backup of a series: after this moment, and always after the one before.

    A clock that was put back would else make the newest one the first to go.
    """
    beginning = _beginning(stem, golden_set)
    now = datetime.now(UTC).replace(microsecond=0)
    if made:
        last = moment_of(made[-1])
        now = max(now, last + timedelta(seconds=1))
    return folder / f"{beginning}{now:{STAMP}}{ENDING}"


def moment_of(backup: Path) -> datetime:
    """Return when a backup of a series was made, as its name says."""
    return datetime.strptime(backup.stem.rpartition("-")[2], STAMP).replace(tzinfo=UTC)


def back_up_in_series(path: Path, schedule: Schedule) -> Backup:
    """Make the next backup of a series, then remove the oldest beyond those to be kept."""
    golden_set = copying.newest_of(path).golden_set
    with parts.translated(schedule.folder):
        made = series(schedule.folder, path.stem, golden_set)
    backup = back_up(path, next_in_series(schedule.folder, path.stem, golden_set, made))
    for old in [*made, backup.path][: -schedule.keep]:
        with parts.translated(old):
            old.unlink(missing_ok=True)
    return backup


def in_words(schedule: Schedule | None, path: Path, now: datetime | None = None) -> str:
    """Say how a server backs up its golden set, and whether it does."""
    if schedule is None:
        return (
            "This server makes no backups by itself; 'labeler serve --backup-every 15m --backup-to "
            "FOLDER' does"
        )
    newest = copying.newest_of(path)
    try:
        made = series(schedule.folder, path.stem, newest.golden_set)
    except OSError as error:
        return f"No backup can be made: {schedule.folder}: {error.strerror}"
    last = moment_of(made[-1]) if made else None
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
