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

LONGEST_NAME = 40  # the longest name that a system allows leaves no room for a suffix
PART_NAME = re.compile(r"\.(?P<token>[0-9a-f]{16}|\d+)\.part$")
LOCK_SUFFIX = ".lock"
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")


@contextmanager
def partial_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` to write to, and remove what is left there.

    Removes the parts that killed processes left for the same path.
    """
    for each in abandoned_parts(path):
        remove_part(each)
    part = _part_path(path)
    lock = FileLock(f"{part}{LOCK_SUFFIX}", timeout=0, thread_local=False)
    with translate_os_errors(path):
        os.stat(os.path.join(part.parent, os.curdir))  # the lock would make the folder
        with suppress(NotImplementedError):  # a file system without locks: the name is still unique
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
    """Return the parts for ``path`` that killed processes left.

    Leaves out parts without a lock, by an earlier version, which may still be in use.
    """
    return [part for part in parts_beside(path) if has_lock(part) and not is_in_progress(part)]


def parts_beside(path: Path) -> list[Path]:
    """Return all parts for ``path``, in the order of their names."""
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
    """Return whether a part was made under a lock."""
    return Path(f"{part}{LOCK_SUFFIX}").exists()


def is_in_progress(part: Path) -> bool:
    """Return whether the process that made a part still holds its lock."""
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
    """Sync a part and rename it; raises `BadInput` for an existing file without ``replace``."""
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
    """Give a part the permissions of a file and, where allowed, its owner.

    So a copy is as private as its model, and the server's account can write to it.
    """
    shutil.copymode(model, part)
    if hasattr(os, "chown"):
        found = model.stat()
        with suppress(PermissionError):
            os.chown(part, found.st_uid, found.st_gid)


def sync_to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    with suppress(PermissionError):  # Windows opens no folder, and syncs names without it
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def translate_os_errors(path: Path) -> Iterator[None]:
    """Translate an `OSError` about a file to `BadInput`."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from error
