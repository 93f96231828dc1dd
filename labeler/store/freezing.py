"""Keeps golden sets as they were frozen: a name, a hash and bytes that never change again.

Does not know what the bytes say; gives what is frozen back by number, for the engine.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from labeler.errors import BadInput, NotFound
from labeler.model import (
    Collection,
    GoldenGrade,
    GoldenState,
    Query,
    Settings,
    Version,
    check_name,
    legible,
)
from labeler.store.collecting import NEWEST, Collecting

COLUMNS = "name, hash, frozen_at, frozen_by, note, revision, queries, grades"
LIVE = "live"
LEAST_DIGITS = 8  # of a hash that stands for a version
MOST_NAMED = 20


class Freezing(Collecting):
    """The versions of a golden set."""

    def live_content(self) -> tuple[Settings, list[Query], list[GoldenGrade], int]:
        """Return settings, queries, golden grades and revision as they are at one moment."""
        with self._reading():
            return (self.settings(), *self._golden_set(), int(self._value(NEWEST)))

    def versions(self) -> list[Version]:
        """Return the frozen versions, the oldest first."""
        return [Version(*row) for row in self._rows(f"SELECT {COLUMNS} FROM versions ORDER BY id")]

    def version(self, asked: str) -> Version:
        """Return the version with this name, or whose hash begins so: with eight digits or more.

        Raises `NotFound` where there is none, and `BadInput` where several hashes begin so.
        """
        there = self.versions()
        named = [each for each in there if each.name == asked]
        digits = asked.lower() if len(asked) >= LEAST_DIGITS else asked
        hashed = [each for each in there if len(digits) >= LEAST_DIGITS] if not named else []
        found = named or [each for each in hashed if each.hash.startswith(digits)]
        if len({each.hash for each in found}) > 1:
            names = ", ".join(repr(each.name) for each in found)
            raise BadInput(f"the hashes of {names} begin with {asked!r}; name one of them")
        if found:
            return found[0]
        names = ", ".join(legible(each.name) for each in there[-MOST_NAMED:])
        raise NotFound(
            f"no golden version is called {asked!r} and no hash begins so; there are: "
            f"{names or 'none'}; 'labeler freeze NAME' makes one"
        )

    def version_content(self, version: Version) -> bytes:
        """Return the bytes that were frozen."""
        [(content,)] = self._rows("SELECT content FROM versions WHERE name = ?", [version.name])
        return unpacked(version, content)

    def add_version(self, version: Version, content: bytes) -> bool:
        """Keep a version for good; False where this very one is there under its name already.

        Raises `BadInput` where the name is taken by another, or could not be told from what is
        live.
        """
        with self._transaction():
            return self._put_version(version, content)

    def _put_version(self, version: Version, content: bytes) -> bool:
        check_version_name(version.name)
        for there in self.versions():
            if there.name == version.name:
                if there.hash == version.hash:
                    return False
                raise BadInput(
                    f"there is a version named {version.name!r} already, frozen {there.at[:10]} "
                    f"with hash {there.hash[:8]}; it never changes: choose another name"
                )
        row = [getattr(version, name) for name in version.__slots__]
        self._db.execute(
            f"INSERT INTO versions ({COLUMNS}, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [*row, zlib.compress(content)],
        )
        self._note("freeze", version.name, {"golden": version.hash, "note": version.note})
        return True

    def collection_of(
        self,
        state: GoldenState,
        queries: Sequence[Query],
        grades: Iterable[GoldenGrade],
    ) -> Collection:
        """Return what measures of the runs are computed from, by these golden grades.

        Queries and buckets are the version's too, whatever became of them since; the runs are
        those there are now, and so are pools and which queries leaked. No grade is marked stale.
        """
        with self._reading():
            place = {query.query_id: at for at, query in enumerate(queries)}
            chunk_ids, pool = self._chunk_ids(), self._pool(place)
            number = {chunk_id: at for at, chunk_id in enumerate(chunk_ids) if chunk_id}
            rows, given = [], list(grades)
            for grade in given:
                if grade.chunk_id not in number:  # of a version that was frozen elsewhere
                    number[grade.chunk_id] = len(chunk_ids)
                    chunk_ids.append(grade.chunk_id)
                pair = (place[grade.query_id], number[grade.chunk_id])
                rows.append((*pair, grade.grade, bool(grade.carried_from)))
            table = np.array(sorted(rows), dtype=np.int32).reshape(-1, 4).T
            return Collection(
                query_ids=tuple(place),
                facets=facets_of(queries),
                chunk_ids=chunk_ids,
                runs=tuple(self._stored_runs(place)),
                golden_query=table[0],
                golden_chunk=table[1],
                golden_grade=table[2].astype(np.int8),
                stale=np.zeros(len(rows), dtype=np.bool_),
                carried=table[3].astype(np.bool_) if table[3].any() else None,
                revision=state.revision,
                data_revision=self.data_revision(),
                golden=state,
                leaked=self._leaked_ids(),
                sides=self._sides(chunk_ids),
                marks=self._marks_of(given, number),
                texts=self._texts_later(),
                pool_query=pool[0],
                pool_chunk=pool[1],
            )


def facets_of(queries: Sequence[Query]) -> dict[str, tuple[str | None, ...]]:
    """Return the bucket of every query, facet by facet; task and split are among them."""
    given: list[Mapping[str, str]] = [
        {
            **query.buckets,
            **({} if query.task is None else {"task": query.task}),
            **({} if query.split is None else {"split": query.split}),
        }
        for query in queries
    ]
    names = sorted({facet for buckets in given for facet in buckets}, key=str.encode)
    return {facet: tuple(buckets.get(facet) for buckets in given) for facet in names}


def check_version_name(name: str) -> str:
    """Return ``name`` if a version can have it, else raise `BadInput`."""
    if not name.strip() or name.strip() != name or name.splitlines() != [name]:
        raise BadInput(f"a version needs a name on one line, not {name!r}")
    if name == LIVE:
        raise BadInput(f"{LIVE!r} stands for the golden set as it is now; choose another name")
    return check_name(name, "version")


def versions_in(db: sqlite3.Connection) -> list[tuple[Version, bytes]]:
    """Return the frozen versions of a file that is only looked at, each with what is kept of it."""
    rows = db.execute(f"SELECT {COLUMNS}, content FROM versions ORDER BY id")
    return [(Version(*row), content) for *row, content in rows]


def unpacked(version: Version, kept: bytes) -> bytes:
    """Return the bytes that were frozen of what is kept of them; raises `BadInput` for others."""
    try:
        return zlib.decompress(kept)
    except zlib.error as error:
        raise BadInput(
            f"the frozen version {version.name!r} is damaged: {error}; a backup, or a file it "
            "was exported to, may have it whole"
        ) from error
