"""Zip archives to sources: which files are in one, within the limits; knows no format inside."""

from __future__ import annotations

import os
import struct
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from labeler.errors import BadInput
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.reading import Source
from labeler.formats.records import short

_END = b"PK\x05\x06"  # begins the record at the end of an archive, which a comment may follow
_END_SIZE, _LONGEST_COMMENT = 22, 1 << 16
_LARGE_END = b"PK\x06\x06"
_FOR_EACH = 1 << 10  # bytes that the list of an archive may take for each file; about 80 are usual
_ENCRYPTED = 1


def members_of(archive: Path, shown: str, limits: Limits = LIMITS) -> Mapping[str, zipfile.ZipInfo]:
    """Return the files in an archive by their path in it.

    Raises `BadInput` where there are more than the limits allow or two have one path, and
    `zipfile.BadZipFile` where it is no archive, or a damaged one.
    """
    with archive.open("rb") as stream:
        found = members_in(stream, shown, limits)
    files = [member for member in found if not member.is_dir()]
    path, often = (
        Counter(member.filename for member in files).most_common(1)[0] if files else ("", 0)
    )
    if often > 1:
        raise BadInput(f"{shown}: holds {short(path)} {often} times; keep one of them")
    return {member.filename: member for member in files}


def members_in(stream: IO[bytes], shown: str, limits: Limits = LIMITS) -> list[zipfile.ZipInfo]:
    """Return all members of an open archive, once its list is known not to be too long."""
    if _list_size(stream) > limits.members * _FOR_EACH:
        raise BadInput(f"{shown}: {limits.over('members', None, 'what the archive lists')}")
    stream.seek(0)
    with zipfile.ZipFile(stream) as opened:
        found = opened.infolist()
    if len(found) > limits.members:
        raise BadInput(f"{shown}: {limits.over('members', len(found), 'the archive')}")
    return found


def _list_size(stream: IO[bytes]) -> int:
    """Return how many bytes an archive's list of its files takes, 0 where no end is found."""
    size = stream.seek(0, os.SEEK_END)
    start = stream.seek(max(0, size - _END_SIZE - _LONGEST_COMMENT))
    tail = stream.read()
    place = tail.rfind(_END)
    if place < 0 or len(tail) < place + _END_SIZE:
        return 0
    # An archive may say more in a second record before this one; its list ends where that begins.
    (listed,) = struct.unpack_from("<L", tail, place + 12)
    large = tail.rfind(_LARGE_END, 0, place)
    if large >= 0 and len(tail) >= large + 48:
        (in_large,) = struct.unpack_from("<Q", tail, large + 40)
        listed = max(listed if listed != 0xFFFFFFFF else 0, in_large)
    return int(min(listed, start + place))


def check_together(shown: str, members: Mapping[str, zipfile.ZipInfo], limits: Limits) -> None:
    """Raise `BadInput` where files of an archive come to more than may be unpacked."""
    if sum(member.file_size for member in members.values()) > limits.unpacked:
        raise BadInput(f"{shown}: {limits.over('unpacked', None, 'what is unpacked from it')}")


def member_source(
    archive: Path, member: zipfile.ZipInfo, name: str, limits: Limits = LIMITS
) -> Source:
    """Return one file inside an archive as a source."""
    return Source(
        name,
        member.file_size,
        lambda: _open_member(archive, member, name),
        limits,
        bounded=True,
    )


@contextmanager
def _open_member(archive: Path, member: zipfile.ZipInfo, name: str) -> Iterator[IO[bytes]]:
    if member.flag_bits & _ENCRYPTED:
        raise BadInput(f"{name}: is encrypted; pack it without a password")
    with zipfile.ZipFile(archive) as opened:
        try:
            stream = opened.open(member)
        except NotImplementedError as error:
            raise BadInput(f"{name}: {error}; pack it as other zip archives are") from error
        except (RuntimeError, zipfile.BadZipFile) as error:
            raise BadInput(f"{name}: cannot be unpacked: the archive is damaged") from error
        with stream:
            yield stream
