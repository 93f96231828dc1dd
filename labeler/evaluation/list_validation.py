"""Validation of ranked lists handed over as dicts or sequences: ids are texts, scores finite.

Lists that a file reader made are not checked again. Most of the code is about speed: a million
entries are checked without a Python loop over them.
"""

from __future__ import annotations

import math
import struct
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import repeat
from numbers import Real
from operator import countOf
from typing import Any, TypeAlias, cast

import numpy as np

from labeler.errors import BadInput
from labeler.measures import Floats
from labeler.model import Ranking, check_id

GivenList: TypeAlias = Mapping[str, float] | Sequence[str] | Ranking

_LONG_LIST, _LONGEST_LIST = 400, 1 << 17


def is_number(value: Any) -> bool:
    """Say whether a value is a finite number that is neither true nor false."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    with suppress(OverflowError):  # a whole number that no float can hold
        return math.isfinite(value)
    return False


def check_list_kind(run: str, query_id: str, ranked: object) -> None:
    """Raise `BadInput` for what is no kind of list."""
    if isinstance(ranked, (dict, Mapping, Ranking)):  # dict first, since that is quickly found out
        return
    if isinstance(ranked, str | bytes | bytearray) or not isinstance(ranked, Sequence):
        where = _where(run, query_id)
        raise BadInput(f"{where}: expected {{chunk: score}} or a list of chunks, best first")


def plain_scores(lists: Sequence[object], *, at_hand: bool) -> Floats | None:
    """Return the scores in lists, one after the other, where all are dicts of ids and floats.

    None where there is anything else in them but numbers. The floats need not be finite. Lists are
    ``at_hand`` where a processor need not fetch their ids from far away.
    """
    if not all_of_type(dict, lists):
        return None
    dicts = cast("Sequence[dict[Any, Any]]", lists)
    if not at_hand and max(map(len, dicts), default=0) < _LONG_LIST:
        _warm_cache(dicts)
    given: list[Any] = []
    for each in dicts:
        given += each.values()
    scores = as_floats(given)
    return scores if keys_are_ids(dicts) else None


def _warm_cache(dicts: Iterable[dict[Any, Any]]) -> None:
    """Bring dicts from memory to the processor, with their keys and values.

    To copy a dict touches all of them at once: what is then done one by one waits for none. It pays
    where many keys are soon looked up, and not for a few among a thousand.
    """
    deque(map(dict.copy, dicts), maxlen=0)


def keys_are_ids(dicts: Sequence[dict[Any, Any]]) -> bool:
    """Say whether all keys of dicts are texts, and none of them empty.

    Python keeps keys more tightly where all are texts, so that the size of a dict tells it: where
    it does not, each is looked at.
    """
    longest = max(map(len, dicts), default=0)
    sizes = _sizes_of_text_dicts(longest.bit_length()) if longest <= _LONGEST_LIST else frozenset()
    if sizes.issuperset(map(dict.__sizeof__, dicts)):
        return not any(map(dict.__contains__, dicts, repeat("")))
    return _hold_ids(dicts)


@cache
def _sizes_of_text_dicts(bits: int) -> frozenset[int]:
    """Return the sizes that dicts of texts with so many entries can have, and no other dict."""
    counts = [2**each * 2 // 3 for each in range(3, bits + 3)]
    texts = {dict.__sizeof__(dict.fromkeys(map(str, range(count)))) for count in counts}
    others = {dict.__sizeof__(dict.fromkeys(range(count))) for count in counts}
    return frozenset(texts if texts.isdisjoint(others) else ())


def check_list(run: str, query_id: str, ranked: GivenList) -> None:
    """Raise `BadInput` for what a list must not hold; that floats are finite is not looked at."""
    if isinstance(ranked, (dict, Mapping)):
        if not all_ids(ranked) or not all_of_type(float, ranked.values()):
            check_chunk_ids(_where(run, query_id), ranked)
            check_scores(run, query_id, ranked)
    elif not isinstance(ranked, Ranking):
        check_chunk_ids(_where(run, query_id), ranked)
        if len(set(ranked)) < len(ranked):
            twice = next(chunk for chunk in ranked if list(ranked).count(chunk) > 1)
            raise BadInput(f"{_where(run, query_id)}: chunk {twice!r} stands there twice")


def check_whole_list(run: str, query_id: str, ranked: GivenList) -> None:
    """Raise `BadInput` for what a list must not hold, or where a score is not finite."""
    check_list(run, query_id, ranked)
    if isinstance(ranked, Mapping) and not math.isfinite(sum(ranked.values())):
        check_scores(run, query_id, ranked)  # the sum may be infinite where no score is


def all_of_type(kind: type, values: Collection[Any]) -> bool:
    """Say whether all values are of one kind, and of no kind derived from it."""
    return countOf(map(type, values), kind) == len(values)


def all_ids(values: Iterable[Any]) -> bool:
    """Say whether all values are texts, and none of them empty."""
    return _hold_ids([values])


def _hold_ids(lists: Iterable[Iterable[Any]]) -> bool:
    """Say the same of all values in several lists, or of all keys of dicts."""
    try:
        return not any(map("".startswith, map(tuple, lists)))  # it starts with an empty text alone
    except TypeError:  # one is no text
        return False


def as_floats(given: list[Any]) -> Floats | None:
    """Return values as an array where all are numbers and some are floats; None for any others.

    Their sum is a float then. It is one, too, with what is true or false among them: that is looked
    for among ones and zeros.

    >>> as_floats([0.5, 2.0]), as_floats([0.5, True]), as_floats([0.5, None])
    (array([0.5, 2. ]), None, None)
    """
    with suppress(Exception):  # whatever else there is raises where it is added up
        if type(sum(given)) is float:
            found = pack_floats(given)
            doubtful = ((found == 0) | (found == 1)).nonzero()[0].tolist()
            return found if all_of_type(float, [given[at] for at in doubtful]) else None
    return None


def pack_floats(numbers: Sequence[Any]) -> Floats:
    """Return numbers as an array, in a third of numpy's time; raises for anything else."""
    return np.frombuffer(struct.pack(f"{len(numbers)}d", *numbers))


def check_chunk_ids(where: str, chunk_ids: Collection[Any]) -> None:
    """Raise `BadInput` for what is no id."""
    if all_ids(chunk_ids):
        return
    for chunk_id in chunk_ids:
        try:
            check_id(chunk_id, "chunk")
        except BadInput as error:
            raise BadInput(
                f"{where}: {error}; expected {{chunk: score}} or a list of chunks, best first"
                if isinstance(chunk_id, tuple | list | dict)
                else f"{where}: {error}"
            ) from error


def check_scores(run: str, query_id: str, scores: Mapping[str, Any]) -> None:
    """Raise `BadInput` for a score that is no finite number."""
    for chunk_id, score in scores.items():
        if not is_number(score):
            raise BadInput(
                f"{_where(run, query_id)}: the score of chunk {chunk_id!r} is not a finite number: "
                f"{score!r}"
            )


def _where(run: str, query_id: str) -> str:
    return f"run {run!r}, query {query_id!r}"
