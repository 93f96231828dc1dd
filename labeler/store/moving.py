"""Moves a golden set from a file to a database or back, whole: every row, number and seal of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from labeler.errors import BadInput
from labeler.store.chained import Chain
from labeler.store.collecting import Collecting
from labeler.store.columns import quoted
from labeler.store.schema import migrations
from labeler.store.schema.shape import columns_after, in_order, shape_after


class Moving(Collecting):
    """A golden set that can become another one, as long as there is nothing in it."""

    def become(self, other: Moving) -> str:
        """Take over everything of another golden set, and return the hash that both have.

        As it is at one moment, while others write to that one. Raises `BadInput` where what came
        is not what was there; nothing is changed then.
        """
        with other._reading(), self._transaction():
            self._db.execute("DELETE FROM settings")
            for table, columns in _tables():
                with closing(other._each(_asked(table, columns))) as rows:
                    self._engine.fill(self._db, table, columns, rows)
            self._engine.go_on_from(self._db, other._engine.numbers_given(other._db))
            self._engine.settle(self._db)
            hashes = {each._golden_state().hash for each in (self, other)}
            seals = {Chain(each._db.conn).present_seal() for each in (self, other)}
            if len(hashes) > 1 or len(seals) > 1:
                raise BadInput(
                    f"{other.path}: what came of it is not the same golden set; 'labeler check' "
                    "says what is wrong there. Nothing was changed"
                )
            return hashes.pop()


def _tables() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give every table with its columns, each after those it refers to."""
    columns = columns_after(migrations)
    made = [each for each in shape_after(migrations) if each.name in columns]
    for each in in_order(made):
        yield each.name, columns[each.name]


def _asked(table: str, columns: tuple[str, ...]) -> str:
    first = "id" if "id" in columns else ", ".join(map(quoted, columns[:3]))
    return f"SELECT {', '.join(map(quoted, columns))} FROM {table} ORDER BY {first}"
