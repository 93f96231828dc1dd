"""BEIR folders, plain or zipped; knows where their parts lie."""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from labeler.errors import BadInput, NotFound
from labeler.formats.archives import check_together, member_source, members_of
from labeler.formats.chunks import chunks_from
from labeler.formats.golden import golden_from
from labeler.formats.grades import GradeRule
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.pairs import empty_golden
from labeler.formats.queries import queries_from
from labeler.formats.reading import (
    Progress,
    Source,
    StrPath,
    Throttle,
    file_source,
    look,
)
from labeler.model import LoadedBeir

_PART = re.compile(r"(corpus|queries)\.jsonl(\.gz)?|qrels/[^/]+")
_CORPORA = ("corpus.jsonl", "corpus.jsonl.gz")
_MOST_NAMED = 3
_SPLIT = re.compile(r"qrels/(?P<split>[^/]+)\.tsv(\.gz)?")


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

    Needed are ``corpus.jsonl`` and ``queries.jsonl`` (or ``.gz``) and ``qrels/<split>.tsv``;
    a folder without any qrels gives an empty golden set. Queries without grades are kept.
    Raises `BadInput` with file and line, `NotFound` for what is missing.
    """
    rule = GradeRule(negative_as_zero, grade_map or {}, negative_as_ungraded)
    shown = os.fspath(folder) if name is None else name
    parts = _parts(Path(folder), shown, limits)
    corpus, queries = _needed(shown, parts)
    qrels = _qrels(shown, parts, split)
    share = _shares([corpus, queries, *([qrels] if qrels else [])], progress)
    return LoadedBeir(
        chunks=chunks_from(corpus, share(corpus)),
        queries=queries_from(queries, facets, share(queries)),
        golden=golden_from(qrels, rule, share(qrels)) if qrels else empty_golden(shown),
    )


def _parts(folder: Path, shown: str, limits: Limits) -> dict[str, Source]:
    """Return the parts of a folder or archive by their path inside it."""
    found = look(folder, shown)
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


def folder_parts(folder: Path, shown: str, limits: Limits = LIMITS) -> dict[str, Source]:
    """Return the parts of a BEIR set in a folder by their path inside it."""
    files = [*folder.iterdir(), *(folder / "qrels").glob("*")]
    found = {path.relative_to(folder).as_posix(): path for path in files if path.is_file()}
    return {
        part: file_source(path, f"{shown}/{part}", limits)
        for part, path in found.items()
        if _PART.fullmatch(part)
    }


def _zipped_parts(archive: Path, shown: str, limits: Limits) -> dict[str, Source]:
    members = members_of(archive, shown, limits)
    parts = parts_among(members, shown)
    check_together(shown, {path: members[path] for path in parts.values()}, limits)
    return {
        part: member_source(archive, members[path], f"{shown}/{path}", limits)
        for part, path in parts.items()
    }


def parts_among(paths: Iterable[str], shown: str) -> dict[str, str]:
    """Return the parts of a BEIR set among paths, at their root or one level down.

    Raises `BadInput` where there is more than one set, since nothing says which is meant.
    """
    by_root: dict[str, dict[str, str]] = {}
    for path in paths:
        steps = PurePosixPath(path).parts
        for depth in (0, 1):
            root, part = "/".join(steps[:depth]), "/".join(steps[depth:])
            if _PART.fullmatch(part):
                by_root.setdefault(root, {})[part] = path
    sets = [root for root, parts in by_root.items() if {*parts} & {*_CORPORA}]
    if len(sets) > 1:
        named = ", ".join(root or "its root" for root in sets[:_MOST_NAMED])
        raise BadInput(f"{shown}: holds {len(sets)} BEIR sets ({named}); keep one of them")
    return by_root[sets[0]] if sets else max(by_root.values(), key=len, default={})


def _needed(shown: str, parts: Mapping[str, Source]) -> tuple[Source, Source]:
    """Return corpus and queries, or raise `NotFound` with all that is missing."""
    names = ("corpus.jsonl", "queries.jsonl")
    for name in names:
        if name in parts and f"{name}.gz" in parts:
            raise BadInput(f"{shown}: holds both {name} and {name}.gz; keep one of them")
    corpus, queries = (parts.get(name) or parts.get(f"{name}.gz") for name in names)
    if corpus and queries:
        return corpus, queries
    missing = [name for name, found in zip(names, (corpus, queries), strict=True) if not found]
    raise NotFound(
        f"{shown}: there is no {' and no '.join(missing)}; "
        "a BEIR set has corpus.jsonl, queries.jsonl and qrels/test.tsv"
    )


def _qrels(shown: str, parts: Mapping[str, Source], split: str) -> Source | None:
    splits = {
        match["split"]: source
        for part, source in parts.items()
        if (match := _SPLIT.fullmatch(part))
    }
    if split not in splits and any(part.startswith("qrels/") for part in parts):
        there = ", ".join(sorted(splits)) or "none"
        raise NotFound(f"{shown}: there is no qrels/{split}.tsv; the splits are: {there}")
    return splits.get(split)


def _shares(
    sources: Sequence[Source], progress: Progress | None
) -> Callable[[Source], Progress | None]:
    """Return what gives each source its share of one progress, by size."""
    report = Throttle(progress)
    total = sum(source.size for source in sources) or 1
    starts = {
        source.name: sum(before.size for before in sources[:place])
        for place, source in enumerate(sources)
    }

    def share(source: Source) -> Progress | None:
        start = starts[source.name]
        return lambda fraction: report((start + source.size * fraction) / total)

    return share
