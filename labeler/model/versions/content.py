"""What was frozen, read back, and whether it still is what its hash says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from labeler.errors import BadInput
from labeler.model import GoldenGrade, GoldenState, Query, Settings, Version
from labeler.model.versions.canonical import (
    GradedBy,
    canonical_conventions,
    query_digest,
    whole_hash,
)

CONVENTIONS = ("rel", "budget", "budget_by_task", "pool_depth", "golden_rule")
LATER = ("carried",)  # than the first versions: kept where it is not what held until then


@dataclass(frozen=True)
class Content:
    """A golden set by itself: its queries in their order, its golden grades, the conventions.

    ``settings`` are the defaults but for the conventions. ``version`` is None where it is live.
    """

    settings: Settings
    queries: Sequence[Query]
    grades: Sequence[GoldenGrade]
    revision: int
    version: Version | None = None

    @property
    def title(self) -> str:
        """What people call it."""
        return "live" if self.version is None else self.version.name

    @property
    def whole(self) -> tuple[Sequence[Query], Sequence[GoldenGrade]]:
        """Its queries and its golden grades."""
        return self.queries, self.grades

    def part(self, query_ids: Collection[str]) -> Content:
        """Return some of its queries with their golden grades, by the same conventions.

        It is no version any more, and has a hash of its own.
        """
        queries = [query for query in self.queries if query.query_id in query_ids]
        grades = [grade for grade in self.grades if grade.query_id in query_ids]
        return Content(self.settings, queries, grades, self.revision)

    @cached_property
    def by_query(self) -> Mapping[str, list[GoldenGrade]]:
        """The golden grades of every query."""
        found: dict[str, list[GoldenGrade]] = {query.query_id: [] for query in self.queries}
        for grade in self.grades:
            found[grade.query_id].append(grade)
        return found

    @cached_property
    def state(self) -> GoldenState:
        """What it is by its content."""
        conventions = canonical_conventions(self.settings)
        digests = {
            query.query_id: query_digest(query, map(_graded, self.by_query[query.query_id]))
            for query in self.queries
        }
        name = None if self.version is None else self.version.name
        whole = whole_hash(conventions, digests)
        return GoldenState(whole, conventions, digests, self.revision, name)

    def checked(self, where: str, remedy: str) -> Content:
        """Return it if it is what its version says it is; raises `BadInput` where it is not."""
        if self.version is not None and self.version.hash != self.state.hash:
            raise BadInput(
                f"{where}: the version {self.version.name!r} says its hash is "
                f"{self.version.hash[:16]}, and that of its content is {self.state.hash[:16]}: "
                f"something in it was changed; {remedy}"
            )
        return self


def settings_with(conventions: Mapping[str, Any], settings: Settings | None = None) -> Settings:
    """Return settings with these conventions in place of their own; raises `BadInput`."""
    unknown = sorted(set(conventions) - {*CONVENTIONS, *LATER})
    missing = sorted(set(CONVENTIONS) - set(conventions))
    if unknown or missing:
        raise BadInput(
            f"the conventions of a version are {', '.join(CONVENTIONS)}; "
            + "; ".join(
                f"{what}: {', '.join(names)}"
                for what, names in (("unknown", unknown), ("missing", missing))
                if names
            )
        )
    first = {name: getattr(Settings(), name) for name in LATER}
    try:
        return replace(settings or Settings(), **{**first, **conventions})
    except (TypeError, AttributeError) as error:
        raise BadInput(f"the conventions of the version cannot be read: {error}") from error


def conventions_in(settings: Settings) -> dict[str, Any]:
    """Return the settings that a version keeps."""
    kept = [name for name in LATER if getattr(settings, name) != getattr(Settings(), name)]
    return {name: getattr(settings, name) for name in (*CONVENTIONS, *kept)}


def _graded(grade: GoldenGrade) -> GradedBy:
    carried = tuple(each.event_id for each in grade.carried_from)
    return grade.chunk_id, grade.grade, grade.graders, grade.evidence, carried
