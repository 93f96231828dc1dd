"""Atomic output of golden sets, files and folders: complete or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from labeler.errors import BadInput, LabelerError
from labeler.store import Store
from labeler.store.addresses import Address, StoreLocation
from labeler.store.backup.atomic_files import (
    partial_file,
    publish,
    sync_to_disk,
    translate_os_errors,
)
from labeler.store.connection import golden_set_exists
from labeler.store.sqlite import broken_link_error, check_path


@contextmanager
def open_to_load(path: StoreLocation) -> Iterator[Store]:
    """Open the golden set at ``path`` to add to it; a new one is kept only if the block succeeds.

    For an existing one, the store makes each addition atomic.
    """
    if is_new(path):
        with new_golden_set(path) as store:
            yield store
    else:
        with Store(path) as store:
            yield store


def is_new(path: StoreLocation) -> bool:
    """Return whether ``path`` has no golden set yet: it is missing or empty.

    Raises the store's error if none can be opened or made there.
    """
    if isinstance(path, Address):
        return not golden_set_exists(path)
    check_path(path, create=True)
    return not path.exists() or _is_empty(path)


def _is_empty(path: Path) -> bool:
    """Return whether ``path`` is an ordinary empty file, as ``touch`` makes one."""
    return path.is_file() and path.stat().st_size == 0


@contextmanager
def new_golden_set(path: StoreLocation, *, replace: bool = False) -> Iterator[Store]:
    """Make a new golden set and move it to ``path`` when the block succeeds."""
    if isinstance(path, Address):
        with Store(path, create=True) as store:
            try:
                yield store
            except BaseException:
                store.connection.drop_if_empty()
                raise
        return
    with partial_file(path) as part:
        try:
            with Store(part, create=True) as store:
                yield store
        except LabelerError as error:
            raise type(error)(str(error).replace(str(part), str(path))) from error
        with translate_os_errors(path):
            if _is_empty(path):
                shutil.copymode(path, part)
                publish(part, path.resolve(), replace=True)
            else:
                publish(part, path, replace=replace)


def write_file(path: Path, data: bytes, *, replace: bool) -> None:
    """Write a whole file or nothing; raise `BadInput` if it exists, unless ``replace``."""
    check_writable(path, replace=replace)
    with partial_file(path) as part, translate_os_errors(path):
        part.write_bytes(data)
        publish(part, path, replace=replace)


def check_writable(path: Path, *, replace: bool) -> None:
    """Raise `BadInput` if no file can be written, or one exists and must not be replaced."""
    with translate_os_errors(path):
        there = path.exists()
    if path.is_dir():
        raise BadInput(f"{path}: is a folder; name a file")
    if there and not path.is_file():
        raise BadInput(f"{path}: is not an ordinary file; '-' writes to the standard output")
    if path.is_symlink() and not there:
        raise broken_link_error(path)
    _refuse_existing(path, replace=replace)


def write_folder(path: Path, files: Mapping[str, bytes], *, replace: bool) -> None:
    """Write a whole folder of files or nothing; replace one only if it holds no other files.

    An empty folder counts as missing.
    """
    with translate_os_errors(path):
        there = path.exists()
    if there and not path.is_dir():
        raise BadInput(f"{path}: is a file; name a folder, or a .zip")
    stranger = next((name for name in _files_in(path) if name not in files), None)
    if stranger is not None:
        raise BadInput(f"{path}: holds other files too, such as {stranger}; name a new folder")
    if any(_files_in(path)):
        _refuse_existing(path, replace=replace)
    with partial_file(path) as part, translate_os_errors(path):
        for name, data in files.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            (part / name).write_bytes(data)
            sync_to_disk(part / name)
        _swap_folders(part, path)


def _swap_folders(part: Path, path: Path) -> None:
    with partial_file(path) as old:
        if path.exists():
            path.rename(old)
        try:
            part.rename(path)
        except OSError:
            if old.exists():
                old.rename(path)
            raise
        sync_to_disk(path.absolute().parent)


def _files_in(folder: Path) -> Iterator[str]:
    return (p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir())


def _refuse_existing(path: Path, *, replace: bool) -> None:
    if path.exists() and not replace:
        raise BadInput(f"{path}: is there already; replace it with --force")
