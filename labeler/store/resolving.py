"""Which grade counts of each pair, and who stands behind it, of a whole log at once; runs no SQL.

Arrays where the ``golden`` view has rows: that is how a set with millions of grades opens in
seconds. Both say the same, which `tests/store/test_golden_grades.py` holds over any log.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labeler.model import GRADES, MAJORITY, ROUNDED_MEAN, UPPER_MEDIAN

Integers: TypeAlias = npt.NDArray[np.int64]
Names: TypeAlias = tuple[str, ...]

ADJUDICATE, GRADE, IMPORT, CANNOT_TELL, WITHDRAW, OTHER, CARRY, UNCARRY = range(8)
"""Kinds, as COLUMNS numbers them; the last takes back what was carried over."""
# Three numbers a judgment, not six: reading a log takes as long as there are numbers in it.
COLUMNS = """
j.id, (j.query << 32) | j.chunk,
coalesce(j.grader, 0) * 64 + coalesce(j.grade, -1) * 8 + 8 + CASE j.kind
    WHEN 'adjudicate' THEN 0 WHEN 'grade' THEN 1 WHEN 'import' THEN 2 WHEN 'cannot_tell' THEN 3
    WHEN 'withdraw' THEN 4 + 3 * (j.carried_from IS NOT NULL) WHEN 'carry' THEN 6 ELSE 5 END
"""
LANE = np.array([0, 1, 2, 1, 1, 3, 4, 4])  # what hides what was said before, by kind


def paired(query: Integers, chunk: Integers) -> Integers:
    """Return the pairs (n,) of queries and chunks as one number each, in the same order."""
    return query << 32 | chunk


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """Some of a log's judgments, a column an array (n,) of numbers; 0 stands for no grader.

    ``pair`` is a query and a chunk, see `paired`.
    """

    judgment: Integers
    pair: Integers
    kind: Integers
    grade: Integers
    grader: Integers

    @staticmethod
    def of(rows: Iterable[tuple[int, ...]]) -> Log:
        """Read rows of `COLUMNS`, the oldest first."""
        table = np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, 3)
        judgment, pair, said = np.ascontiguousarray(table.T)
        return Log(judgment, pair, said & 7, (said >> 3 & 7) - 1, said >> 6)

    def __getitem__(self, which: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Log:
        return Log(*(getattr(self, column)[which] for column in self.__slots__))

    def starts(self) -> Integers:
        """Return where each pair begins, in a log that is sorted by pair."""
        return np.flatnonzero(np.diff(self.pair, prepend=self.pair[:1] - 1))

    def current(self, undone: Integers) -> Log:
        """Return what everybody says of each pair now, sorted by query and chunk, then by age.

        The log is without its undos; ``undone`` are the judgments they took back. As the view of
        current judgments has it, but for proposed grades: they decide nothing.
        """
        is_out = self.kind == OTHER
        if len(undone):
            is_out |= np.isin(self.judgment, undone)
        standing = self[~is_out] if is_out.any() else self
        standing = standing[np.argsort(standing.pair, kind="stable")]
        counts = (standing.kind <= IMPORT) | (standing.kind == CARRY)
        several = np.flatnonzero(standing._are_several())
        counts[several] &= standing[several]._is_newest()
        return standing if counts.all() else standing[counts]

    def _are_several(self) -> npt.NDArray[np.bool_]:
        """Say of each judgment whether there are others of its pair, in a log sorted by pair."""
        found = np.zeros(len(self.pair), dtype=np.bool_)
        found[1:] = self.pair[1:] == self.pair[:-1]
        found[:-1] |= found[1:]
        return found

    def _is_newest(self) -> npt.NDArray[np.bool_]:
        """Say of each judgment whether nobody's later one hides it, in a log sorted by pair."""
        starts = self.starts()
        pair = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(self.pair)))
        speakers = int(self.grader.max(initial=0)) + 1
        said = (pair * speakers + self.grader) * (LANE.max() + 1) + LANE[self.kind]
        by_speaker = np.argsort(said, kind="stable")
        is_newest = np.ones(len(said), dtype=np.bool_)
        is_newest[by_speaker[:-1]] = np.diff(said[by_speaker]) != 0
        return is_newest


@dataclass(frozen=True, slots=True, eq=False)
class Imports:
    """Every import of a log, the oldest first, and whom its file named as its graders."""

    judgment: Integers
    names: Sequence[Names]

    @staticmethod
    def of(rows: Iterable[tuple[int, str]]) -> Imports:
        """Read rows of a judgment and its column of graders."""
        read: dict[str, Names] = {}
        judgments, names = array("q"), []
        for judgment, graders in rows:
            if graders not in read:
                read[graders] = tuple(json.loads(graders))
            judgments.append(judgment)
            names.append(read[graders])
        return Imports(np.array(judgments), names)


@dataclass(frozen=True, slots=True, eq=False)
class Bases:
    """What carried grades rest on (n,): each names a ``carry`` and a judgment, and its pair.

    0 stands for a judgment that is not in the log. It is ``stale`` where its text has changed, and
    ``golden`` is what its pair's golden grade has to be. A carried grade whose own text has changed
    is not among them.
    """

    carry: Integers
    judgment: Integers
    query: Integers
    chunk: Integers
    stale: npt.NDArray[np.bool_]
    golden: Integers

    @staticmethod
    def of(rows: Iterable[tuple[int, ...]]) -> Bases:
        """Read rows of these columns."""
        table = np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, 6)
        carry, judgment, query, chunk, stale, golden = np.ascontiguousarray(table.T)
        return Bases(carry, judgment, query, chunk, stale.astype(np.bool_), golden)


class Behind(NamedTuple):
    """Who stands behind each golden grade: ``names[which[i]]``."""

    names: Sequence[Names]
    which: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """The golden grades (n,), sorted by query and chunk: the grade and the judgment that gives it.

    ``start`` and ``end`` are where the pair's current judgments stand in the log it is from.
    """

    pair: Integers
    grade: Integers
    judgment: Integers
    kind: Integers
    start: Integers
    end: Integers

    @staticmethod
    def of(current: Log, rule: str) -> Decided:
        """Return what a current log says by a rule of `labeler.model.RULES`.

        Without what was carried over: see `with_carried`.
        """
        start = current.starts()
        end = np.append(start[1:], len(current.pair))
        at, grade = start.copy(), current.grade[start]  # by any rule, one judgment says what it is
        several = end - start > 1
        if several.any():
            among = np.flatnonzero(np.repeat(several, end - start))
            deciding, grade[several] = _decided(current[among], rule)
            at[several] = np.where(deciding >= 0, among[deciding], -1)
        found = (current.pair[at], grade, current.judgment[at], current.kind[at], start, end)
        return Decided(*found)[at >= 0]

    @property
    def query(self) -> Integers:
        """The query of each."""
        return self.pair >> 32

    @property
    def chunk(self) -> Integers:
        """The chunk of each."""
        return self.pair & 0xFFFF_FFFF

    def __getitem__(self, which: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Decided:
        return Decided(*(column[which] for column in self._columns()))

    def with_carried(self, given: Log, carried: Log, bases: Bases) -> Decided:
        """Add the carried grades that count below what is ``given``, from which this was decided.

        One counts where nobody has graded its pair, as long as each of its ``bases`` stands.
        """
        now = np.isin(bases.judgment, given.judgment) & ~bases.stale
        now &= self._grades_of(bases) == bases.golden
        fallen = bases.carry[(bases.judgment != 0) & ~now]
        counts = ~np.isin(carried.pair, given.pair) & np.isin(carried.judgment, bases.carry)
        own = carried[counts & ~np.isin(carried.judgment, fallen)]
        nobody = np.zeros_like(own.judgment)
        more = (own.pair, own.grade, own.judgment, own.kind, nobody, nobody)
        both = [np.concatenate(pair) for pair in zip(self._columns(), more, strict=True)]
        return Decided(*both)[np.argsort(both[0])]

    def _grades_of(self, bases: Bases) -> Integers:
        """Return the golden grades of the pairs that carried grades rest on; -1 for none."""
        wanted = paired(bases.query, bases.chunk)
        at = np.searchsorted(self.pair, wanted)
        there = np.append(self.pair, -1)[at] == wanted
        return np.where(there, np.append(self.grade, -1)[at], -1)

    def _columns(self) -> list[Integers]:
        return [getattr(self, column) for column in self.__slots__]

    def behind(self, current: Log, graders: Mapping[int, str], imports: Imports) -> Behind:
        """Return who stands behind each golden grade, by name.

        Behind an import stand those whom its file named, and behind a carried grade nobody; behind
        others whoever has graded the pair, of the ``graders`` by number.
        """
        names: list[Names] = [()] * (max(graders, default=0) + 1)
        for grader, name in graders.items():
            names[grader] = (name,)
        which = np.zeros_like(self.start)
        one = self.end - self.start == 1
        which[one] = current.grader[self.start[one]]
        several = np.flatnonzero(self.end - self.start > 1)
        spans = zip(self.start[several].tolist(), self.end[several].tolist(), strict=True)
        speakers = current.grader.tolist() if len(several) else []
        known: dict[tuple[int, ...], int] = {}
        for at, (start, end) in zip(several.tolist(), spans, strict=True):
            of_pair = tuple(speakers[start:end])  # an import among them has no grader
            if of_pair not in known:
                known[of_pair] = len(names)
                names.append(tuple(sorted(graders[each] for each in {*of_pair} - {0})))
            which[at] = known[of_pair]
        is_import = self.kind == IMPORT
        which[is_import] = len(names) + np.searchsorted(imports.judgment, self.judgment[is_import])
        return Behind([*names, *imports.names], which)


def _decided(current: Log, rule: str) -> tuple[Integers, Integers]:
    """Return where the judgment is that decides each pair, -1 for none, and the golden grade."""
    start = current.starts()
    newest = [_newest(current.kind == kind, start) for kind in (ADJUDICATE, IMPORT)]
    given = [(current.kind == GRADE) & (current.grade == grade) for grade in GRADES]
    agreed = _agreed(np.array([_count(each, start) for each in given]), rule)
    # The newest that gave the grade, or the nearest lower one where a mean is nobody's.
    giver = np.full(len(start), -1)
    for grade, last in enumerate(_newest(each, start) for each in given):
        giver = np.where((last >= 0) & (grade <= agreed), last, giver)
    people = _count(current.kind == GRADE, start)
    at = np.where(newest[0] >= 0, newest[0], np.where(people == 0, newest[1], giver))
    return at, np.where((newest[0] >= 0) | (people == 0), current.grade[at], agreed)


def _newest(is_such: npt.NDArray[np.bool_], start: Integers) -> Integers:
    """Return where the last such judgment of each pair is, -1 where there is none."""
    place = np.where(is_such, np.arange(len(is_such)), -1)
    return np.maximum.reduceat(place, start) if len(start) else start


def _count(is_such: npt.NDArray[np.bool_], start: Integers) -> Integers:
    return np.add.reduceat(is_such.astype(np.int64), start) if len(start) else start


def _agreed(given: Integers, rule: str) -> Integers:
    """Return what people's grades become; -1 where nothing. ``given[grade]`` says how many gave it.

    As `labeler.model.agreed_grade` does.
    """
    people = given.sum(axis=0)
    if rule == MAJORITY:
        most = given.max(axis=0)
        is_tie = (given == most).sum(axis=0) > 1
        agreed = np.where(is_tie, -1, given.argmax(axis=0))
    elif rule == ROUNDED_MEAN:
        total = np.arange(len(GRADES)) @ given
        agreed = (2 * total + people - 1) // np.maximum(2 * people, 1)
    else:
        middle = (people + 1 + (rule == UPPER_MEDIAN)) // 2
        agreed = (given.cumsum(axis=0)[:-1] < middle).sum(axis=0)
    return np.where(people == 0, -1, agreed)
