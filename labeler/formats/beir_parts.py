"""Paths of BEIR and MTEB sets: which files of a folder or an archive are corpus, queries and qrels.

BEIR has ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``. On the Hugging Face hub each
is a folder of Parquet files in parts, such as ``corpus/corpus-00000-of-00002.parquet``, with qrels
in ``qrels``, ``data`` or ``default``. JSON lines may stand in the same places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple, TypeAlias, cast

from labeler.errors import BadInput, NotFound

PartKind: TypeAlias = Literal["corpus", "queries", "qrels"]

FOLDERS = ("corpus", "queries", "qrels", "data", "default")
_KINDS = ("corpus", "queries", "qrels")
_NAMES = {"corpus": "corpus.jsonl", "queries": "queries.jsonl"}
_ENDING = re.compile(r"\.(jsonl|parquet|tsv)(\.gz)?$")
_SHARD = re.compile(r"-\d+-of-\d+(-[0-9a-f]+)?$")
_NUMBERED = re.compile(r"\d+|part-.*")
_SPLITS = frozenset({"train", "dev", "development", "validation", "valid", "val", "test", "trial"})
_MOST_NAMED = 3


class BeirPart(NamedTuple):
    """What a file is part of; files of one ``form`` stand side by side.

    ``split`` is "" where its name says none, and None where the file cannot be read.
    """

    kind: PartKind
    form: str
    split: str | None


def part_of(path: str) -> BeirPart | None:
    """Return what a file of a BEIR or MTEB set is by its path in the set, None for another file.

    >>> part_of("corpus/corpus-00000-of-00002.parquet")
    BeirPart(kind='corpus', form='corpus/', split='')
    >>> part_of("data/test-00000-of-00001.parquet"), part_of("data/notes.txt")
    (BeirPart(kind='qrels', form='data/', split='test'), None)
    """
    *folders, name = path.split("/")
    ending = _ENDING.search(name)
    if folders == ["qrels"] and ending is None:
        return BeirPart("qrels", "qrels/", None)
    if ending is None or len(folders) > 2 or (folders and folders[0] not in FOLDERS):
        return None
    stem = name[: ending.start()]
    group = _SHARD.sub("", stem)
    is_table = ending[1] == "tsv"
    if not folders:
        if group not in _KINDS or (is_table and group != "qrels"):
            return None
        kind, form = group, name if stem == group else f"{group}-*{ending[0]}"
        return BeirPart(cast(PartKind, kind), form, "")
    split = "" if _NUMBERED.fullmatch(group) else group
    split = split or (folders[1] if len(folders) == 2 else "")
    kind = folders[0]
    if kind in ("data", "default"):
        if is_table or folders[1:] in ([each] for each in _KINDS):
            return None
        kind = split if split in _KINDS else "qrels"
        if kind == split and stem == group:
            return None  # a folder of a whole set that is called data
    if is_table and kind != "qrels":
        return None
    return BeirPart(cast(PartKind, kind), f"{folders[0]}/", "" if split in _KINDS else split)


def paths_in_folder(folder: Path) -> dict[str, Path]:
    """Return the files of a folder that are parts of a set by their path inside it."""
    places = [folder.glob(pattern) for name in FOLDERS for pattern in (f"{name}/*", f"{name}/*/*")]
    files = [*folder.iterdir(), *(path for found in places for path in found)]
    found = {path.relative_to(folder).as_posix(): path for path in sorted(files) if path.is_file()}
    return {part: path for part, path in found.items() if part_of(part) is not None}


def parts_among(paths: Iterable[str], shown: str) -> dict[str, str]:
    """Return the parts of a BEIR set among paths, at their root or one level down.

    Raises `BadInput` where there is more than one set, since nothing says which is meant.
    """
    by_root: dict[str, dict[str, str]] = {}
    for path in paths:
        steps = PurePosixPath(path).parts
        for depth in (0, 1):
            root, part = "/".join(steps[:depth]), "/".join(steps[depth:])
            if part_of(part) is not None:
                by_root.setdefault(root, {})[part] = path
    found: dict[str, dict[str, str]] = {}
    taken: set[str] = set()  # a folder called data may be a root, or hold the qrels of one
    for root, parts in sorted(by_root.items(), key=lambda each: _likeness(*each)):
        if taken.isdisjoint(parts.values()):
            found[root] = parts
            taken |= {*parts.values()}
    sets = [root for root in by_root if "corpus.jsonl" not in missing_parts(found.get(root, {}))]
    if len(sets) > 1:
        named = ", ".join(root or "its root" for root in sets[:_MOST_NAMED])
        raise BadInput(f"{shown}: holds {len(sets)} BEIR sets ({named}); keep one of them")
    return found[sets[0]] if sets else max(found.values(), key=len, default={})


def _likeness(root: str, parts: Mapping[str, str]) -> tuple[int, int, str]:
    """Return a key that sorts the root of a whole set first."""
    return len(missing_parts(parts)), -len(parts), root


def missing_parts(parts: Iterable[str]) -> list[str]:
    """Return which of corpus and queries is not among the parts, by their name in BEIR."""
    kinds = {part.kind for part in map(part_of, parts) if part is not None}
    return [name for kind, name in _NAMES.items() if kind not in kinds]


def choose_texts(shown: str, parts: Sequence[str], kind: PartKind, split: str) -> list[str]:
    """Return the files of corpus or queries, in order.

    Files of several splits are those of ``split`` alone. Raises `BadInput` where the same is there
    in two forms, and `NotFound` where the split has none.
    """
    by_split: dict[str, list[str]] = {}
    for path in sorted(parts):
        found = part_of(path)
        if found is not None and found.kind == kind and found.split is not None:
            by_split.setdefault(found.split, []).append(path)
    if len(by_split) > 1 and by_split.keys() <= _SPLITS:
        if split not in by_split:
            there = ", ".join(sorted(by_split))
            raise NotFound(f"{shown}: there are no {kind} of {split!r}; the splits are: {there}")
        by_split = {split: by_split[split]}
    return _checked(shown, [path for paths in by_split.values() for path in paths])


def choose_qrels(shown: str, parts: Sequence[str], split: str) -> list[str]:
    """Return the files of the qrels of a split, none where there are no qrels at all."""
    by_split: dict[str, list[str]] = {}
    for path in sorted(parts):
        found = part_of(path)
        if found is not None and found.kind == "qrels" and found.split is not None:
            by_split.setdefault(found.split, []).append(path)
    there = split if split in by_split else ""
    if there not in by_split and any(part.startswith("qrels") for part in parts) | bool(by_split):
        named = ", ".join(sorted(by_split)) or "none"
        raise NotFound(f"{shown}: there is no qrels/{split}.tsv; the splits are: {named}")
    return _checked(shown, by_split.get(there, []))


def _checked(shown: str, paths: list[str]) -> list[str]:
    """Return paths, or raise `BadInput` where two of them are the same in another form."""
    seen: dict[str, str] = {}
    forms: dict[str, str] = {}
    for path in paths:
        found = part_of(path)
        form = path if found is None else found.form
        stem = _ENDING.sub("", path)
        other = seen.setdefault(stem, path)
        if other == path:
            other = next((each for key, each in forms.items() if key != form), path)
        if other == path and path.endswith((".tsv", ".tsv.gz")) and len(paths) > 1:
            other = next(each for each in paths if each != path)
        if other != path:
            raise BadInput(f"{shown}: holds both {other} and {path}; keep one of them")
        forms[form] = path
    return paths


def named_parts(paths: Mapping[str, str] | Iterable[str]) -> str:
    """Return in words what a set has, such as ``corpus.jsonl, queries.jsonl and qrels``."""
    kinds = [part for part in map(part_of, paths) if part is not None]
    texts = [kind for kind in ("corpus", "queries") if any(part.kind == kind for part in kinds)]
    plain = [f"{kind}.jsonl" if _is_plain(kind, paths) else kind for kind in texts]
    qrels = " and qrels" if any(part.kind == "qrels" for part in kinds) else ", no qrels"
    return f"{', '.join(plain)}{qrels}"


def _is_plain(kind: str, paths: Iterable[str]) -> bool:
    return any(path.removesuffix(".gz") == f"{kind}.jsonl" for path in paths)
