"""Golden grades of a whole log at once, with numpy: which grade counts, and who gave it.

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
"""Kinds, as COLUMNS numbers them; the last takes back what was transferred."""
# Three numbers a judgment, not six: reading a log takes as long as there are numbers in it.
JUDGMENT_COLUMNS = """
j.id, (j.query << 32) | j.chunk,
coalesce(j.grader, 0) * 64 + coalesce(j.grade, -1) * 8 + 8 + CASE j.kind
    WHEN 'adjudicate' THEN 0 WHEN 'grade' THEN 1 WHEN 'import' THEN 2 WHEN 'cannot_tell' THEN 3
    WHEN 'withdraw' THEN 4 + 3 * (j.carried_from IS NOT NULL) WHEN 'carry' THEN 6 ELSE 5 END
"""
LANES = np.array([0, 1, 2, 1, 1, 3, 4, 4])  # what hides what was said before, by kind


def pair_numbers(query: Integers, chunk: Integers) -> Integers:
    """Return the pairs (n,) of queries and chunks as one number each, in the same order."""
    return query << 32 | chunk


@dataclass(frozen=True, slots=True, eq=False)
class JudgmentArrays:
    """Some of a log's judgments, a column an array (n,) of numbers; 0 stands for no grader.

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
        """Return where each pair begins, in a log that is sorted by pair."""
        return np.flatnonzero(np.diff(self.pair, prepend=self.pair[:1] - 1))

    def current(self, undone: Integers) -> JudgmentArrays:
        """Return what everybody says of each pair now, sorted by query and chunk, then by age.

        The log is without its undos; ``undone`` are the judgments they took back. As the view of
        current judgments has it, but for proposed grades: they decide nothing.
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
        said = (pair * speakers + self.grader) * (LANES.max() + 1) + LANES[self.kind]
        by_speaker = np.argsort(said, kind="stable")
        is_newest = np.ones(len(said), dtype=np.bool_)
        is_newest[by_speaker[:-1]] = np.diff(said[by_speaker]) != 0
        return is_newest


@dataclass(frozen=True, slots=True, eq=False)
class ImportedGraders:
    """Every import of a log, the oldest first, and whom its file named as its graders."""

    judgment: Integers
    names: Sequence[GraderNames]

    @staticmethod
    def of(rows: Iterable[tuple[int, str]]) -> ImportedGraders:
        """Read rows of a judgment and its column of graders."""
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
    """What transferred grades rest on (n,): each names a ``carry`` and a judgment, and its pair.

    0 stands for a judgment that is not in the log. It is ``stale`` where its text has changed, and
    ``golden`` is what its pair's golden grade has to be. A transferred grade whose own text has
    changed is not among them.
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
    """Who stands behind each golden grade: ``names[which[i]]``."""

    names: Sequence[GraderNames]
    which: Integers


@dataclass(frozen=True, slots=True, eq=False)
class GoldenArrays:
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
    def of(current: JudgmentArrays, rule: str) -> GoldenArrays:
        """Return what a current log says by a rule of `labeler.model.GOLDEN_RULES`.

        Without what was transferred: see `with_transferred`.
        """
        start = current.starts()
        end = np.append(start[1:], len(current.pair))
        at, grade = start.copy(), current.grade[start]  # by any rule, one judgment says what it is
        several = end - start > 1
        if several.any():
            among = np.flatnonzero(np.repeat(several, end - start))
            deciding, grade[several] = _decide_pairs(current[among], rule)
            at[several] = np.where(deciding >= 0, among[deciding], -1)
        found = (current.pair[at], grade, current.judgment[at], current.kind[at], start, end)
        return GoldenArrays(*found)[at >= 0]

    @property
    def query(self) -> Integers:
        """The query of each."""
        return self.pair >> 32

    @property
    def chunk(self) -> Integers:
        """The chunk of each."""
        return self.pair & 0xFFFF_FFFF

    def __getitem__(self, which: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> GoldenArrays:
        return GoldenArrays(*(column[which] for column in self._columns()))

    def with_transferred(
        self, given: JudgmentArrays, transferred: JudgmentArrays, bases: TransferArrays
    ) -> GoldenArrays:
        """Add the transferred grades that count below what is ``given``, from which this was
        decided.

        One counts where nobody has graded its pair, as long as each of its ``bases`` stands.
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
        """Return the golden grades of the pairs that transferred grades rest on; -1 for none."""
        wanted = pair_numbers(bases.query, bases.chunk)
        at = np.searchsorted(self.pair, wanted)
        there = np.append(self.pair, -1)[at] == wanted
        return np.where(there, np.append(self.grade, -1)[at], -1)

    def _columns(self) -> list[Integers]:
        return [getattr(self, column) for column in self.__slots__]

    def behind(
        self, current: JudgmentArrays, graders: Mapping[int, str], imports: ImportedGraders
    ) -> Attribution:
        """Return who stands behind each golden grade, by name.

        Behind an import stand those whom its file named, and behind a transferred grade nobody;
        behind others whoever has graded the pair, of the ``graders`` by number.
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
    """Return where the judgment is that decides each pair, -1 for none, and the golden grade."""
    start = current.starts()
    newest = [_newest_places(current.kind == kind, start) for kind in (ADJUDICATE, IMPORT)]
    given = [(current.kind == GRADE) & (current.grade == grade) for grade in GRADES]
    agreed = _agreed_grades(np.array([_count_by_pair(each, start) for each in given]), rule)
    # The newest that gave the grade, or the nearest lower one where a mean is nobody's.
    giver = np.full(len(start), -1)
    for grade, last in enumerate(_newest_places(each, start) for each in given):
        giver = np.where((last >= 0) & (grade <= agreed), last, giver)
    people = _count_by_pair(current.kind == GRADE, start)
    at = np.where(newest[0] >= 0, newest[0], np.where(people == 0, newest[1], giver))
    return at, np.where((newest[0] >= 0) | (people == 0), current.grade[at], agreed)


def _newest_places(is_such: npt.NDArray[np.bool_], start: Integers) -> Integers:
    """Return where the last such judgment of each pair is, -1 where there is none."""
    place = np.where(is_such, np.arange(len(is_such)), -1)
    return np.maximum.reduceat(place, start) if len(start) else start


def _count_by_pair(is_such: npt.NDArray[np.bool_], start: Integers) -> Integers:
    return np.add.reduceat(is_such.astype(np.int64), start) if len(start) else start


def _agreed_grades(given: Integers, rule: str) -> Integers:
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
