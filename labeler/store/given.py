"""Reads who gave what: every grade that stands, whoever's; decides nothing between them."""

from __future__ import annotations

from labeler.model import GivenGrade
from labeler.store.connection import Connection

# A grade that came with a file names no wording: it is taken for the present one.
GIVEN = """
SELECT
    q.query_id, c.chunk_id, coalesce(j.text_hash, c.text_hash), g.name, j.grade, j.blind,
    j.created_at, j.kind = 'adjudicate'
FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
JOIN graders AS g ON g.id = j.grader
WHERE j.kind IN ('grade', 'adjudicate') AND q.retired_at IS NULL
ORDER BY q.id, c.id, j.id
"""


GRADED = """
SELECT name FROM graders
WHERE EXISTS (SELECT 1 FROM judgments AS j WHERE j.grader = graders.id AND j.kind = 'grade')
ORDER BY name
"""


class Given(Connection):
    """What each person says of each chunk now."""

    def names_of_graders(self) -> list[str]:
        """Return everybody who has ever given a grade, by name."""
        return [name for (name,) in self._rows(GRADED)]

    def given_grades(self) -> list[GivenGrade]:
        """Return every grade and adjudication that stands, query by query, the newest last.

        Without retired queries and without what came with a file and is no one person's.
        """
        return [
            GivenGrade(query, chunk, wording, grader, grade, bool(blind), at, bool(overrules))
            for query, chunk, wording, grader, grade, blind, at, overrules in self._rows(GIVEN)
        ]
