"""Frozen versions and complete files of a golden set: freezing, reading back, checking their hash.

A version whose content does not have the hash it names is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from labeler import formats
from labeler.errors import BadInput
from labeler.formats import LIMITS, Limits
from labeler.model import Collection, GoldenVersion, LoadReport, Settings
from labeler.model.snapshot import (
    GoldenSnapshot,
    settings_from_conventions,
    snapshot_conventions,
)
from labeler.store import Store, moment, unpack_version

RESTORE_FROM = "a backup, or a file the version was exported to, may have it whole"
COPY_AGAIN = "get the file again from its source; nothing was changed"


def live_content(store: Store) -> GoldenSnapshot:
    """Return the golden set as it is now."""
    settings, queries, grades, revision = store.golden_set.live_content()
    return GoldenSnapshot(settings, queries, grades, revision)


def freeze(store: Store, name: str, note: str | None = None) -> GoldenVersion:
    """Store the present golden set permanently as a named version, and return it.

    Raises `BadInput` where another version has the name.
    """
    content = live_content(store)
    state = content.state
    by = store.audit.who()
    version = GoldenVersion(
        *(name, state.hash, moment(), by, note or None, content.revision),
        *(len(content.queries), len(content.grades)),
    )
    store.versions.add(version, version_file(replace(content, version=version)))
    return store.versions.get(name)


def version_file(content: GoldenSnapshot) -> bytes:
    """Return a frozen version as a file that proves its hash when it is loaded."""
    version = content.version
    if version is None:
        raise ValueError("only what is frozen has a file")
    conventions = snapshot_conventions(content.settings)
    return formats.write_version(version, conventions, content.queries, content.grades)


def frozen_content(store: Store, asked: str) -> GoldenSnapshot:
    """Return a version by its name, or by the first digits of its hash.

    Raises `NotFound` where there is none, and `BadInput` where its content has another hash.
    """
    version = store.versions.get(asked)
    return _stored_content(
        version, store.versions.content(version), store.settings.read(), str(store.path)
    )


def faults_in(path: Path | str, kept: Iterable[tuple[GoldenVersion, bytes]]) -> list[str]:
    """Return what is wrong with each version in a file whose content has another hash."""
    faults = []
    for version, content in kept:
        try:
            _stored_content(version, unpack_version(version, content), Settings(), str(path))
        except BadInput as error:
            faults.append(str(error))
    return faults


def _stored_content(
    version: GoldenVersion, content: bytes, settings: Settings, where: str
) -> GoldenSnapshot:
    read = formats.parse_version(f"version {version.name!r}", content)
    settings = settings_from_conventions(read.conventions, settings)
    found = GoldenSnapshot(settings, read.queries, read.grades, version.revision, version)
    return found.checked(where, RESTORE_FROM)


def content_of(store: Store, asked: str | None) -> GoldenSnapshot:
    """Return a version by name or hash, or the live golden set for None."""
    return live_content(store) if asked is None else frozen_content(store, asked)


def collection_of(store: Store, asked: str | None) -> tuple[Collection, Settings]:
    """Return the data that measures are computed from, with the team's settings.

    With ``asked``, the golden grades, queries, buckets and conventions are those of this version,
    named as in `frozen_content`; the runs are always the present ones.
    """
    if asked is None:
        return store.collection.read(), store.settings.read()
    content = frozen_content(store, asked)
    return collection_with(store, content), content.settings


def collection_with(store: Store, content: GoldenSnapshot) -> Collection:
    """Return the present runs with the golden grades and queries of a frozen golden set."""
    return store.versions.collection_of(content.state, content.queries, content.grades)


def read_version(
    path: str | Path, *, name: str | None = None, limits: Limits = LIMITS
) -> Callable[[Store], LoadReport]:
    """Read a version that was frozen elsewhere and return a function that adds it to a store.

    It keeps its name, and the live golden set does not change. Raises `BadInput` where its content
    does not have the hash it names.
    """
    found = formats.read_version(path, name=name, limits=limits)
    version, where = found.version, name or str(path)
    content = _checked_content(found, where)

    def put(store: Store) -> LoadReport:
        is_new = store.versions.add(version, version_file(content))
        facts: dict[str, int | str] = {
            "golden": version.hash,
            "frozen": f"{version.at[:10]} by {version.by or 'nobody knows whom'}",
            "queries": version.queries,
            "golden grades": version.grades,
        }
        there = "" if is_new else " is already there with the same content"
        return LoadReport(f"version {version.name!r} from {where}{there}", facts, changed=is_new)

    return put


def complete_file(store: Store) -> bytes:
    """Return a golden set as one file, from which an empty file can be filled again.

    It lists what it leaves out: runs with their answers, signals, people, seals, the audit log.
    """
    queries, retired = store.queries.with_retired()
    whole = formats.CompleteSet(
        golden=store.collection.golden_state().hash,
        settings=store.settings.read(),
        queries=queries,
        retired=retired,
        chunks=store.chunks.all(),
        events=[*store.judgments.log(), *store.remarks.log()],
        ungraded=store.golden_loads.ungraded(),
        tended=store.full_copy.tended(),
        chunkings=store.chunkings.names()[1:],
        documents=store.documents.all(),
        golden_loads=store.golden_loads.all(),
        versions=[store.versions.content(version) for version in store.versions.all()],
    )
    return formats.write_complete(whole)


def read_complete(
    path: str | Path, *, name: str | None = None, limits: Limits = LIMITS
) -> Callable[[Store], LoadReport]:
    """Read a complete golden set and return a function that loads it whole into an empty file.

    That raises `BadInput`, and loads nothing, if the result does not have the hash in the file.
    """
    loaded = formats.read_complete(path, name=name, limits=limits)
    where = name or str(path)
    found = [_checked_content(each, where) for each in loaded.versions]

    def put(store: Store) -> LoadReport:
        versions = [
            (each.version, version_file(each)) for each in found if each.version is not None
        ]
        parts = (loaded.queries, loaded.retired, loaded.chunks, loaded.events, loaded.ungraded)
        cut = (loaded.chunkings, loaded.documents, loaded.golden_loads)
        store.full_copy.add_whole(
            loaded.golden, loaded.settings, *parts, versions, loaded.tended, *cut
        )
        facts: dict[str, int | str] = {
            "golden": loaded.golden,
            "queries": len(loaded.queries.records),
            "retired": len(loaded.retired),
            "chunks": len(loaded.chunks.records),
            "events": len(loaded.events.records),
            "versions": len(versions),
            "changes of queries": len(loaded.tended.changes),
            "proposed grades": len(loaded.tended.votes),
            **_chunking_facts(loaded.chunkings, len(loaded.documents.records)),
            "left out": ", ".join(formats.LEAVES_OUT),
        }
        return LoadReport(f"complete golden set from {where}", facts)

    return put


def _chunking_facts(chunkings: Sequence[str], documents: int) -> dict[str, int]:
    """Return the numbers of chunkings and documents; none that is 0."""
    found = {"chunkings": len(chunkings) and len(chunkings) + 1, "documents": documents}
    return {name: count for name, count in found.items() if count}


def _checked_content(found: formats.FrozenVersion, where: str) -> GoldenSnapshot:
    version, settings = found.version, settings_from_conventions(found.conventions)
    content = GoldenSnapshot(settings, found.queries, found.grades, version.revision, version)
    return content.checked(where, COPY_AGAIN)
