"""Golden grades of a whole log, computed with numpy: which grade counts, and who gave it.

Arrays replace the rows of the ``golden`` view, so that a set with millions of grades opens in
seconds. `tests/store/test_golden_grades.py` checks that both give the same result.
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
GraderNames: TypeAlias = tuple[str, ...]

ADJUDICATE, GRADE, IMPORT, CANNOT_TELL, WITHDRAW, OTHER, TRANSFER, WITHDRAW_TRANSFER = range(8)
"""Kinds, as JUDGMENT_COLUMNS numbers them; the last withdraws a transferred grade."""
# Three numbers for each judgment, not six: the time to read a log grows with the numbers in it.
JUDGMENT_COLUMNS = """
j.id, (j.query << 32) | j.chunk,
coalesce(j.grader, 0) * 64 + coalesce(j.grade, -1) * 8 + 8 + CASE j.kind
    WHEN 'adjudicate' THEN 0 WHEN 'grade' THEN 1 WHEN 'import' THEN 2 WHEN 'cannot_tell' THEN 3
    WHEN 'withdraw' THEN 4 + 3 * (j.carried_from IS NOT NULL) WHEN 'carry' THEN 6 ELSE 5 END
"""
LANES = np.array([0, 1, 2, 1, 1, 3, 4, 4])  # by kind; a judgment hides older ones of its lane


def pair_numbers(query: Integers, chunk: Integers) -> Integers:
    """Return each pair (n,) of a query and a chunk as one number that sorts the same way."""
    return query << 32 | chunk


@dataclass(frozen=True, slots=True, eq=False)
class JudgmentArrays:
    """Judgments of a log, one array (n,) a column; grader 0 means no grader.

    ``pair`` is a query and a chunk, see `pair_numbers`.
    """

    judgment: Integers
    pair: Integers
    kind: Integers
    grade: Integers
    grader: Integers

    @staticmethod
    def of(rows: Iterable[tuple[int, ...]]) -> JudgmentArrays:
        """Read rows of `JUDGMENT_COLUMNS`, the oldest first."""
        table = np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, 3)
        judgment, pair, said = np.ascontiguousarray(table.T)
        return JudgmentArrays(judgment, pair, said & 7, (said >> 3 & 7) - 1, said >> 6)

    def __getitem__(self, which: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> JudgmentArrays:
        return JudgmentArrays(*(getattr(self, column)[which] for column in self.__slots__))

    def starts(self) -> Integers:
        """Return the index of each pair's first judgment, in a log sorted by pair."""
        return np.flatnonzero(np.diff(self.pair, prepend=self.pair[:1] - 1))

    def current(self, undone: Integers) -> JudgmentArrays:
        """Return everybody's current judgments, sorted by query and chunk, then by age.

        The log must not contain undo events; ``undone`` are the judgments that these undid. The
        result is that of the view ``current_judgments`` without suggestions, which decide nothing.
        """
        is_out = self.kind == OTHER
        if len(undone):
            is_out |= np.isin(self.judgment, undone)
        standing = self[~is_out] if is_out.any() else self
        standing = standing[np.argsort(standing.pair, kind="stable")]
        counts = (standing.kind <= IMPORT) | (standing.kind == TRANSFER)
        several = np.flatnonzero(standing._are_several())
        counts[several] &= standing[several]._is_newest()
        return standing if counts.all() else standing[counts]

    def _are_several(self) -> npt.NDArray[np.bool_]:
        """Return whether the pair of each judgment has others, in a log sorted by pair."""
        found = np.zeros(len(self.pair), dtype=np.bool_)
        found[1:] = self.pair[1:] == self.pair[:-1]
        found[:-1] |= found[1:]
        return found

    def _is_newest(self) -> npt.NDArray[np.bool_]:
        """Return whether each judgment is the newest of its grader and lane, by pair."""
        starts = self.starts()
        pair = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(self.pair)))
        speakers = int(self.grader.max(initial=0)) + 1
        said = (pair * speakers + self.grader) * (LANES.max() + 1) + LANES[self.kind]
        by_speaker = np.argsort(said, kind="stable")
        is_newest = np.ones(len(said), dtype=np.bool_)
        is_newest[by_speaker[:-1]] = np.diff(said[by_speaker]) != 0
        return is_newest


@dataclass(frozen=True, slots=True, eq=False)
class ImportedGraders:
    """All imports of a log, the oldest first, with the graders that their files name."""

    judgment: Integers
    names: Sequence[GraderNames]

    @staticmethod
    def of(rows: Iterable[tuple[int, str]]) -> ImportedGraders:
        """Read rows of a judgment's number and its column of graders."""
        read: dict[str, GraderNames] = {}
        judgments, names = array("q"), []
        for judgment, graders in rows:
            if graders not in read:
                read[graders] = tuple(json.loads(graders))
            judgments.append(judgment)
            names.append(read[graders])
        return ImportedGraders(np.array(judgments), names)


@dataclass(frozen=True, slots=True, eq=False)
class TransferArrays:
    """The judgments that transferred grades rest on (n,): each row has a ``carry`` and one base.

    ``judgment`` is 0 if it is not in the log, ``stale`` says that its text has changed, and
    ``golden`` is the golden grade that its pair must have. Transferred grades whose own text has
    changed are left out.
    """

    carry: Integers
    judgment: Integers
    query: Integers
    chunk: Integers
    stale: npt.NDArray[np.bool_]
    golden: Integers

    @staticmethod
    def of(rows: Iterable[tuple[int, ...]]) -> TransferArrays:
        """Read rows of these columns."""
        table = np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, 6)
        carry, judgment, query, chunk, stale, golden = np.ascontiguousarray(table.T)
        return TransferArrays(carry, judgment, query, chunk, stale.astype(np.bool_), golden)


class Attribution(NamedTuple):
    """The people who gave each golden grade: ``names[which[i]]``."""

    names: Sequence[GraderNames]
    which: Integers


@dataclass(frozen=True, slots=True, eq=False)
class GoldenArrays:
    """Golden grades (n,), sorted by query and chunk, each with the judgment that gives it.

    ``start`` and ``end`` delimit the pair's current judgments in the log they were computed from.
    """

    pair: Integers
    grade: Integers
    judgment: Integers
    kind: Integers
    start: Integers
    end: Integers

    @staticmethod
    def of(current: JudgmentArrays, rule: str) -> GoldenArrays:
        """Return the golden grades of current judgments by a rule of `labeler.model.GOLDEN_RULES`.

        Transferred grades are added by `with_transferred`.
        """
        start = current.starts()
        end = np.append(start[1:], len(current.pair))
        at, grade = start.copy(), current.grade[start]  # by any rule, a single judgment decides
        several = end - start > 1
        if several.any():
            among = np.flatnonzero(np.repeat(several, end - start))
            deciding, grade[several] = _decide_pairs(current[among], rule)
            at[several] = np.where(deciding >= 0, among[deciding], -1)
        found = (current.pair[at], grade, current.judgment[at], current.kind[at], start, end)
        return GoldenArrays(*found)[at >= 0]

    @property
    def query(self) -> Integers:
        """The query of each grade."""
        return self.pair >> 32

    @property
    def chunk(self) -> Integers:
        """The chunk of each grade."""
        return self.pair & 0xFFFF_FFFF

    def __getitem__(self, which: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> GoldenArrays:
        return GoldenArrays(*(column[which] for column in self._columns()))

    def with_transferred(
        self, given: JudgmentArrays, transferred: JudgmentArrays, bases: TransferArrays
    ) -> GoldenArrays:
        """Add the transferred grades of pairs that nobody has graded.

        ``given`` are the judgments that these golden grades were computed from. A transferred grade
        counts as long as each of its ``bases`` is still current.
        """
        now = np.isin(bases.judgment, given.judgment) & ~bases.stale
        now &= self._grades_of(bases) == bases.golden
        fallen = bases.carry[(bases.judgment != 0) & ~now]
        counts = ~np.isin(transferred.pair, given.pair) & np.isin(transferred.judgment, bases.carry)
        own = transferred[counts & ~np.isin(transferred.judgment, fallen)]
        nobody = np.zeros_like(own.judgment)
        more = (own.pair, own.grade, own.judgment, own.kind, nobody, nobody)
        both = [np.concatenate(pair) for pair in zip(self._columns(), more, strict=True)]
        return GoldenArrays(*both)[np.argsort(both[0])]

    def _grades_of(self, bases: TransferArrays) -> Integers:
        """Return the golden grades of the pairs that transferred grades rest on, -1 for none."""
        wanted = pair_numbers(bases.query, bases.chunk)
        at = np.searchsorted(self.pair, wanted)
        there = np.append(self.pair, -1)[at] == wanted
        return np.where(there, np.append(self.grade, -1)[at], -1)

    def _columns(self) -> list[Integers]:
        return [getattr(self, column) for column in self.__slots__]

    def behind(
        self, current: JudgmentArrays, graders: Mapping[int, str], imports: ImportedGraders
    ) -> Attribution:
        """Return the names of the people who gave each golden grade.

        For an import these are the names in its file, for a transferred grade nobody, and otherwise
        all who graded the pair. ``graders`` has their names by number.
        """
        names: list[GraderNames] = [()] * (max(graders, default=0) + 1)
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
        return Attribution([*names, *imports.names], which)


def _decide_pairs(current: JudgmentArrays, rule: str) -> tuple[Integers, Integers]:
    """Return the index of the judgment that decides each pair, -1 for none, and its grade."""
    start = current.starts()
    newest = [_newest_places(current.kind == kind, start) for kind in (ADJUDICATE, IMPORT)]
    given = [(current.kind == GRADE) & (current.grade == grade) for grade in GRADES]
    agreed = _agreed_grades(np.array([_count_by_pair(each, start) for each in given]), rule)
    # The newest that gave the grade or, where nobody gave a mean, the nearest lower one.
    giver = np.full(len(start), -1)
    for grade, last in enumerate(_newest_places(each, start) for each in given):
        giver = np.where((last >= 0) & (grade <= agreed), last, giver)
    people = _count_by_pair(current.kind == GRADE, start)
    at = np.where(newest[0] >= 0, newest[0], np.where(people == 0, newest[1], giver))
    return at, np.where((newest[0] >= 0) | (people == 0), current.grade[at], agreed)


def _newest_places(is_such: npt.NDArray[np.bool_], start: Integers) -> Integers:
    """Return the index of the last such judgment of each pair, -1 for none."""
    place = np.where(is_such, np.arange(len(is_such)), -1)
    return np.maximum.reduceat(place, start) if len(start) else start


def _count_by_pair(is_such: npt.NDArray[np.bool_], start: Integers) -> Integers:
    return np.add.reduceat(is_such.astype(np.int64), start) if len(start) else start


def _agreed_grades(given: Integers, rule: str) -> Integers:
    """Return the grade that people's grades become by a rule, -1 where nobody graded.

    ``given[grade]`` counts who gave it. Follows `labeler.model.agreed_grade`.
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
