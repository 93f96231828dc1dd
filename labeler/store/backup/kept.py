"""Seals that were kept: as text, beside an export, or in what carries one itself.

Knows how to find the seal in a file; what it proves is `labeler.store.chain`'s and `checking`'s.
"""

from __future__ import annotations

import gzip
import json
import os
import zipfile
import zlib
from pathlib import Path

from labeler.errors import BadInput
from labeler.store import health
from labeler.store.chain import Seal
from labeler.store.chained import Chain

BESIDE = ".seal.txt"
IN_A_SET = "seal.txt"  # of a BEIR folder, and of its zip
_SQLITE = b"SQLite format 3\0"
_LONGEST_NAME = 255  # bytes, as most file systems have it
_GZIP = b"\x1f\x8b"
_LAST_LINE = 4096  # bytes; a seal's line is far shorter
_BLOCK = 1 << 20


def beside(path: Path) -> Path:
    """Return where the seal of an export stands that has no room for it; a long name is cut.

    >>> beside(Path("golden.qrels")).name
    'golden.qrels.seal.txt'
    """
    room = _LONGEST_NAME - len(BESIDE)
    return path.with_name(os.fsdecode(os.fsencode(path.name)[:room]) + BESIDE)


def kept_seal(given: str) -> Seal:
    """Return a seal that was kept: ``given`` is its text, or the path of what carries one.

    That is a file beside an export, a log (its last line), a BEIR set, or a backup. Raises
    `BadInput` for anything else.
    """
    if not os.path.lexists(given):
        return Seal.parse(given)
    path = Path(given)
    try:
        return _carried_by(path)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        said = getattr(error, "strerror", None) or error
        raise BadInput(f"{path}: its seal cannot be read: {said}") from error


def _carried_by(path: Path) -> Seal:
    if path.is_dir():
        return _in_text(path, (path / IN_A_SET).read_bytes())
    with path.open("rb") as file:
        begins = file.read(len(_SQLITE))
    if begins == _SQLITE:
        return _in_backup(path)
    if zipfile.is_zipfile(path):
        return _in_zip(path)
    return _in_text(path, _end_of(path, is_packed=begins.startswith(_GZIP)))


def _end_of(path: Path, *, is_packed: bool) -> bytes:
    """Return the end of a file, of which no more is ever held than that."""
    if not is_packed:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LAST_LINE))
            return file.read(_LAST_LINE)
    end = b""
    with gzip.open(path) as unpacked:
        while more := unpacked.read(_BLOCK):
            end = (end + more)[-_LAST_LINE:]
    return end


def _in_backup(path: Path) -> Seal:
    with health.reading(path) as db:
        chain = Chain(db)
        if not chain.is_there():
            raise BadInput(f"{path}: a golden set from before there were seals")
        return chain.present_seal()


def _in_zip(path: Path) -> Seal:
    with zipfile.ZipFile(path) as folder:
        name = next((each for each in folder.namelist() if Path(each).name == IN_A_SET), None)
        if name is None:
            raise BadInput(f"{path}: holds no {IN_A_SET}")
        with folder.open(name) as file:
            return _in_text(path, file.read(_LAST_LINE))


def _in_text(path: Path, end: bytes) -> Seal:
    """Read the last line: a seal, or an object that has one."""
    lines = end.decode("utf-8", "replace").strip().splitlines() or [""]
    text = lines[-1]
    if text.startswith("{"):
        try:
            text = str(json.loads(text).get("seal"))
        except ValueError:
            text = ""
    try:
        return Seal.parse(text)
    except BadInput as error:
        raise BadInput(
            f"{path}: carries no seal; what an export writes beside a file, such as "
            f"golden.qrels{BESIDE}, does, and so do a log, a BEIR set and a backup"
        ) from error
