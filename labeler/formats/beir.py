"""BEIR and MTEB folders, plain or zipped: corpus, queries and qrels.

Includes reading zip archives within the limits: the size of an archive's directory is checked
before it is parsed, so that a crafted archive cannot exhaust memory.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from labeler.errors import BadInput, NotFound
from labeler.formats.beir_parts import (
    PartKind,
    choose_qrels,
    choose_texts,
    missing_parts,
    parts_among,
    paths_in_folder,
)
from labeler.formats.chunks import chunks_from
from labeler.formats.golden import golden_from
from labeler.formats.grades import GradeRule, empty_golden
from labeler.formats.joined_files import join_files
from labeler.formats.json_records import short
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import InputFile, Progress, StrPath, Throttle, file_source, stat_path
from labeler.formats.queries import queries_from
from labeler.model import LoadedBeir


def read_beir(
    folder: StrPath,
    *,
    split: str = "test",
    negative_as_zero: bool = False,
    grade_map: Mapping[float, int] | None = None,
    facets: Sequence[str] | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
    negative_as_ungraded: bool = False,
) -> LoadedBeir:
    """Read a BEIR folder, or a zip archive that holds one at its root or one level down.

    Required are ``corpus.jsonl`` and ``queries.jsonl`` (or ``.gz``) and ``qrels/<split>.tsv``, or
    the same in Parquet as MTEB has it, see `labeler.formats.beir_parts`; a folder without any qrels
    gives an empty golden set. Queries without grades are kept. Raises `BadInput` with file and
    line, `NotFound` for a missing file.
    """
    rule = GradeRule(negative_as_zero, grade_map or {}, negative_as_ungraded)
    shown = os.fspath(folder) if name is None else name
    parts = _parts(Path(folder), shown, limits)
    corpus = _texts(shown, parts, "corpus", split)
    queries = _texts(shown, parts, "queries", split)
    qrels = _qrels(shown, parts, split)
    share = _progress_shares([corpus, queries, *([qrels] if qrels else [])], progress)
    return LoadedBeir(
        chunks=chunks_from(corpus, share(corpus)),
        queries=queries_from(queries, facets, share(queries)),
        golden=golden_from(qrels, rule, share(qrels)) if qrels else empty_golden(shown),
    )


def _parts(folder: Path, shown: str, limits: Limits) -> dict[str, InputFile]:
    """Return the parts of a folder or archive by their path inside it."""
    found = stat_path(folder, shown)
    if found is None:
        raise NotFound(f"{shown}: there is no such folder")
    try:
        if stat.S_ISDIR(found.st_mode):
            return folder_parts(folder, shown, limits)
        if not stat.S_ISREG(found.st_mode):
            raise _no_archive(shown)
        return _zipped_parts(folder, shown, limits)
    except zipfile.BadZipFile as error:
        raise _damaged(folder, shown) from error
    except OSError as error:
        raise BadInput(f"{shown}: cannot be opened: {error.strerror}") from error


def _no_archive(shown: str) -> BadInput:
    return BadInput(f"{shown}: a BEIR set is a folder or a zip archive; this is neither")


def _damaged(path: Path, shown: str) -> BadInput:
    with path.open("rb") as stream:
        if stream.read(4) == b"PK\x03\x04":
            return BadInput(f"{shown}: the zip archive is cut off or damaged; copy the file again")
    return _no_archive(shown)


def folder_parts(folder: Path, shown: str, limits: Limits = LIMITS) -> dict[str, InputFile]:
    """Return the parts of a BEIR set in a folder by their path inside it."""
    return {
        part: file_source(path, f"{shown}/{part}", limits)
        for part, path in paths_in_folder(folder).items()
    }


def _zipped_parts(archive: Path, shown: str, limits: Limits) -> dict[str, InputFile]:
    members = archive_members(archive, shown, limits)
    parts = parts_among(members, shown)
    check_total_size(shown, {path: members[path] for path in parts.values()}, limits)
    return {
        part: member_source(archive, members[path], f"{shown}/{path}", limits)
        for part, path in parts.items()
    }


def _texts(shown: str, parts: Mapping[str, InputFile], kind: PartKind, split: str) -> InputFile:
    """Return corpus or queries; raises `NotFound` that names every missing file."""
    if missing := missing_parts(parts):
        raise NotFound(
            f"{shown}: there is no {' and no '.join(missing)}; a BEIR set has corpus.jsonl, "
            "queries.jsonl and qrels/test.tsv, or folders of Parquet called corpus, queries and "
            "qrels"
        )
    return _joined(shown, parts, kind, choose_texts(shown, [*parts], kind, split))


def _qrels(shown: str, parts: Mapping[str, InputFile], split: str) -> InputFile | None:
    paths = choose_qrels(shown, [*parts], split)
    return _joined(shown, parts, "qrels", paths) if paths else None


def _joined(
    shown: str, parts: Mapping[str, InputFile], kind: PartKind, paths: Sequence[str]
) -> InputFile:
    return join_files(f"{shown}/{kind} ({len(paths)} files)", [parts[path] for path in paths])


def _progress_shares(
    sources: Sequence[InputFile], progress: Progress | None
) -> Callable[[InputFile], Progress | None]:
    """Return a function that gives each source its share of one progress bar, by size."""
    report = Throttle(progress)
    total = sum(source.size for source in sources) or 1
    starts = {
        source.name: sum(before.size for before in sources[:place])
        for place, source in enumerate(sources)
    }

    def share(source: InputFile) -> Progress | None:
        start = starts[source.name]
        return lambda fraction: report((start + source.size * fraction) / total)

    return share


_END_RECORD = b"PK\x05\x06"  # begins the record at the end of an archive; a comment may follow
_END_SIZE, _LONGEST_COMMENT = 22, 1 << 16
_ZIP64_END_RECORD = b"PK\x06\x06"
_LIST_BYTES_PER_FILE = 1 << 10  # most bytes of an archive's directory per file; 80 are usual
_ENCRYPTED = 1


def archive_members(
    archive: Path, shown: str, limits: Limits = LIMITS
) -> Mapping[str, zipfile.ZipInfo]:
    """Return the files in an archive by their path in it.

    Raises `BadInput` where there are more than the limits allow or two have the same path, and
    `zipfile.BadZipFile` where it is no archive, or a damaged one.
    """
    with archive.open("rb") as stream:
        found = list_members(stream, shown, limits)
    files = [member for member in found if not member.is_dir()]
    path, often = (
        Counter(member.filename for member in files).most_common(1)[0] if files else ("", 0)
    )
    if often > 1:
        raise BadInput(f"{shown}: holds {short(path)} {often} times; keep one of them")
    return {member.filename: member for member in files}


def list_members(stream: IO[bytes], shown: str, limits: Limits = LIMITS) -> list[zipfile.ZipInfo]:
    """Return all members of an open archive; raises `BadInput` if its directory is too large."""
    if _list_size(stream) > limits.members * _LIST_BYTES_PER_FILE:
        raise BadInput(f"{shown}: {limits.over('members', None, 'what the archive lists')}")
    stream.seek(0)
    with zipfile.ZipFile(stream) as opened:
        found = opened.infolist()
    if len(found) > limits.members:
        raise BadInput(f"{shown}: {limits.over('members', len(found), 'the archive')}")
    return found


def _list_size(stream: IO[bytes]) -> int:
    """Return the size of an archive's directory in bytes, 0 where no end record is found."""
    size = stream.seek(0, os.SEEK_END)
    start = stream.seek(max(0, size - _END_SIZE - _LONGEST_COMMENT))
    tail = stream.read()
    place = tail.rfind(_END_RECORD)
    if place < 0 or len(tail) < place + _END_SIZE:
        return 0
    # A zip64 record before this one may have a larger size; the directory ends where it begins.
    (listed,) = struct.unpack_from("<L", tail, place + 12)
    large = tail.rfind(_ZIP64_END_RECORD, 0, place)
    if large >= 0 and len(tail) >= large + 48:
        (in_large,) = struct.unpack_from("<Q", tail, large + 40)
        listed = max(listed if listed != 0xFFFFFFFF else 0, in_large)
    return int(min(listed, start + place))


def check_total_size(shown: str, members: Mapping[str, zipfile.ZipInfo], limits: Limits) -> None:
    """Raise `BadInput` where the files of an archive are larger than the limit of unpacking."""
    if sum(member.file_size for member in members.values()) > limits.unpacked:
        raise BadInput(f"{shown}: {limits.over('unpacked', None, 'what is unpacked from it')}")


def member_source(
    archive: Path, member: zipfile.ZipInfo, name: str, limits: Limits = LIMITS
) -> InputFile:
    """Return one file inside an archive as a source."""
    return InputFile(
        name, member.file_size, lambda: _open_member(archive, member, name), limits, bounded=True
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
