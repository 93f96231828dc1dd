"""Puts a backup in the place of a golden set that nobody has open; what was there is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from labeler.errors import BadInput, LabelerError, NotFound
from labeler.store import Unusable, copying, damage
from labeler.store.backup import locks, parts
from labeler.store.backup.backups import STAMP
from labeler.store.health import Newest
from labeler.store.sqlite import check_place

LOGS = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Restored:
    """What is in the golden set's place now, and where that is which was there before, if any.

    ``replaced`` is None where nothing was there or nobody can read it; ``odd`` is what is wrong in
    the backup because it was so in the golden set.
    """

    newest: Newest
    aside: Path | None
    replaced: Newest | None
    odd: Sequence[str]


def restore(path: Path, backup: Path, *, force: bool = False) -> Restored:
    """Put a copy of ``backup`` at ``path``, once it is found whole.

    Raises `Busy` where any process has the golden set open, and `BadInput` where the backup is
    not whole, or is one of another golden set and not ``force``. What was at ``path`` is renamed,
    with the log beside it: whatever that was, it is not taken for the log of the new file.
    """
    check_place(path, create=True)
    if not backup.is_file():
        raise NotFound(f"{backup}: there is no such file; name a backup")
    if path.exists() and path.samefile(backup):
        raise BadInput(f"{backup}: is the golden set itself; name a backup of it")
    place = path.resolve()
    with parts.part_of(place) as part:
        newest, replaced = _checked_copy(backup, part), _known(place)
        odd = copying.oddities(part)
        if replaced and replaced.golden_set != newest.golden_set and not force:
            raise BadInput(
                f"{backup}: is of another golden set than {path}; grades that wait in browsers "
                "for the one would be refused by the other. Replace it all the same with --force"
            )
        # SQLite has closed the file by now: a lock of ours would not outlive that.
        with locks.to_itself(place), parts.translated(path):
            parts.become_like(part, place if place.exists() else backup)
            aside = _put_aside(place)
            parts.publish(part, place, replace=True)
    damage.lift(path)
    return Restored(newest, aside, replaced, odd)


def _checked_copy(backup: Path, part: Path) -> Newest:
    try:
        newest = copying.copy(backup, part)
        found = copying.check_copy(part, newest)
    except Unusable as error:
        raise BadInput(f"{backup}: cannot be restored: {error.__cause__ or error}") from error
    if found:
        raise BadInput(f"{backup}: cannot be restored, as it is not whole: {found[0]}")
    return newest


def _known(path: Path) -> Newest | None:
    """Return what can still be read of the golden set that is to be replaced."""
    if not path.exists():
        return None
    try:
        return copying.newest_of(path)
    except (LabelerError, KeyError):
        return None


def _put_aside(path: Path) -> Path | None:
    """Give what is at a place another name, with the log that lies beside it; return that name.

    The file itself keeps its own name as well until another takes it, so that there is always one;
    the log does not, as it would be taken for the log of the other.
    """
    if not path.exists():
        for ending in LOGS:
            path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
        return None
    aside = _name_aside(path)
    try:
        aside.hardlink_to(path)
    except OSError:  # a file system without hard links
        path.rename(aside)
    for ending in LOGS:
        log = path.with_name(f"{path.name}{ending}")
        if log.exists():
            log.rename(aside.with_name(f"{aside.name}{ending}"))
    return aside


def _name_aside(path: Path) -> Path:
    beginning, number = f"{path.stem}-replaced-{datetime.now(UTC):{STAMP}}", 1
    aside = path.with_name(f"{beginning}{path.suffix}")
    while aside.exists():
        number += 1
        aside = path.with_name(f"{beginning}-{number}{path.suffix}")
    return aside
