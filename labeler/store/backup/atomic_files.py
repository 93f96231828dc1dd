"""Atomic writes of files: to a temporary file in the same folder, synced, then renamed.

The temporary file has a random name and is locked by its writer, so no other process uses it.
The next writer removes those that killed processes left.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from labeler.errors import BadInput

LONGEST_NAME = 40  # a name as long as the system allows leaves room for no other
PART_NAME = re.compile(r"\.(?P<token>[0-9a-f]{16}|\d+)\.part$")
LOCK_SUFFIX = ".lock"
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")


@contextmanager
def partial_file(path: Path) -> Iterator[Path]:
    """Give a place beside ``path`` for what is to stand there; what is left there is removed.

    Removes what killed processes have left for the same path.
    """
    for each in abandoned_parts(path):
        remove_part(each)
    part = _part_path(path)
    lock = FileLock(f"{part}{LOCK_SUFFIX}", timeout=0, thread_local=False)
    with translate_os_errors(path):
        os.stat(os.path.join(part.parent, os.curdir))  # a lock would make the folder
        with suppress(NotImplementedError):  # a file system without locks: the name is still ours
            lock.acquire()
    try:
        yield part
    finally:
        _remove_beside(part)
        lock.release()
        _unlink(Path(lock.lock_file))


def _part_path(path: Path) -> Path:
    place = path if path.name else path.absolute()  # "." has no name of its own
    return place.with_name(f"{_part_prefix(place)}{secrets.token_hex(8)}.part")


def _part_prefix(place: Path) -> str:
    return f".{place.name[:LONGEST_NAME]}."


def abandoned_parts(path: Path) -> list[Path]:
    """Return what killed processes have left beside ``path``: parts whose maker is gone.

    A part of an earlier version has no lock, so that nobody can tell; it is none of these.
    """
    return [part for part in parts_beside(path) if has_lock(part) and not is_in_progress(part)]


def parts_beside(path: Path) -> list[Path]:
    """Return all parts beside ``path`` that are for it, in the order of their names."""
    place = path if path.name else path.absolute()
    beginning = _part_prefix(place)
    try:
        names = os.listdir(place.parent)
    except OSError:
        return []
    plain = {name.removesuffix(LOCK_SUFFIX) for name in names if name.startswith(beginning)}
    found = [name for name in plain if PART_NAME.fullmatch(name[len(beginning) - 1 :])]
    return [place.with_name(name) for name in sorted(found)]


def has_lock(part: Path) -> bool:
    """Say whether a part was made under a lock."""
    return Path(f"{part}{LOCK_SUFFIX}").exists()


def is_in_progress(part: Path) -> bool:
    """Say whether the maker of a part still holds its lock."""
    lock = FileLock(f"{part}{LOCK_SUFFIX}", timeout=0, thread_local=False)
    try:
        lock.acquire()
    except (Timeout, OSError, NotImplementedError):
        return True
    lock.release()
    return False


def remove_part(part: Path) -> None:
    """Remove a part, then its lock."""
    _remove_beside(part)
    _unlink(Path(f"{part}{LOCK_SUFFIX}"))


def _remove_beside(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part, ignore_errors=True)
    for ending in SQLITE_SUFFIXES:
        _unlink(Path(f"{part}{ending}"))


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def publish(part: Path, path: Path, *, replace: bool) -> None:
    """Give a finished file its name, on the disk; without ``replace`` one that came first stays."""
    sync_to_disk(part)
    if replace:
        part.replace(path)
    else:
        _publish_new(part, path)
    sync_to_disk(path.parent)


def _publish_new(part: Path, path: Path) -> None:
    try:
        path.hardlink_to(part)
    except FileExistsError:
        raise BadInput(
            f"{path}: has just been made by somebody else; look at it, then run this again"
        ) from None
    except OSError:  # a file system without hard links
        part.rename(path)


def copy_permissions(part: Path, model: Path) -> None:
    """Give a part the permissions of a file and, as far as may be, its owner.

    What is kept from other accounts stays so in a copy, and who runs the server may write to it.
    """
    shutil.copymode(model, part)
    if hasattr(os, "chown"):
        found = model.stat()
        with suppress(PermissionError):
            os.chown(part, found.st_uid, found.st_gid)


def sync_to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    with suppress(PermissionError):  # Windows opens no folder, and keeps their names by itself
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def translate_os_errors(path: Path) -> Iterator[None]:
    """Say the system's complaints about a file in the words of the errors module."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from error
