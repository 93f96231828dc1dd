"""Validation of ranked lists given as dicts or sequences: ids are texts, scores are finite.

Lists from a file reader are not checked again. Most of the code is for speed: a million entries
are checked without a Python loop over them.
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
    """Say whether a value is a finite number; booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    with suppress(OverflowError):  # an int too large for a float
        return math.isfinite(value)
    return False


def check_list_kind(run: str, query_id: str, ranked: object) -> None:
    """Raise `BadInput` for a value that is not a ranked list."""
    if isinstance(ranked, (dict, Mapping, Ranking)):  # dict first: the fastest check
        return
    if isinstance(ranked, str | bytes | bytearray) or not isinstance(ranked, Sequence):
        where = _where(run, query_id)
        raise BadInput(f"{where}: expected {{chunk: score}} or a list of chunks, best first")


def plain_scores(lists: Sequence[object], *, in_cache: bool) -> Floats | None:
    """Return the scores of all lists in one array; None unless all are dicts of ids and numbers.

    At least one number must be a float; floats need not be finite. ``in_cache`` says that the
    ids are already in the processor's cache.
    """
    if not all_of_type(dict, lists):
        return None
    dicts = cast("Sequence[dict[Any, Any]]", lists)
    if not in_cache and max(map(len, dicts), default=0) < _LONG_LIST:
        _warm_cache(dicts)
    given: list[Any] = []
    for each in dicts:
        given += each.values()
    scores = as_floats(given)
    return scores if keys_are_ids(dicts) else None


def _warm_cache(dicts: Iterable[dict[Any, Any]]) -> None:
    """Bring dicts with their keys and values from memory into the processor's cache.

    Copying a dict reads all of them at once, so that later steps do not wait for each one. This is
    faster if many of the keys are looked up soon, but not for a few out of a thousand.
    """
    deque(map(dict.copy, dicts), maxlen=0)


def keys_are_ids(dicts: Sequence[dict[Any, Any]]) -> bool:
    """Say whether all keys of dicts are texts, and none of them empty.

    Python stores a dict more compactly if all its keys are texts, so its size is checked first. If
    the size does not settle it, each key is checked.
    """
    longest = max(map(len, dicts), default=0)
    sizes = _sizes_of_text_dicts(longest.bit_length()) if longest <= _LONGEST_LIST else frozenset()
    if sizes.issuperset(map(dict.__sizeof__, dicts)):
        return not any(map(dict.__contains__, dicts, repeat("")))
    return _hold_ids(dicts)


@cache
def _sizes_of_text_dicts(bits: int) -> frozenset[int]:
    """Return the sizes of dicts of texts with fewer than 2**bits entries.

    Empty if dicts with other keys may have the same sizes.
    """
    counts = [2**each * 2 // 3 for each in range(3, bits + 3)]
    texts = {dict.__sizeof__(dict.fromkeys(map(str, range(count)))) for count in counts}
    others = {dict.__sizeof__(dict.fromkeys(range(count))) for count in counts}
    return frozenset(texts if texts.isdisjoint(others) else ())


def check_list(run: str, query_id: str, ranked: GivenList) -> None:
    """Raise `BadInput` for a malformed list; floats may still be infinite or NaN."""
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
    """Raise `BadInput` for a malformed list, or for a score that is not finite."""
    check_list(run, query_id, ranked)
    if isinstance(ranked, Mapping) and not math.isfinite(sum(ranked.values())):
        check_scores(run, query_id, ranked)  # a sum of finite scores may be infinite


def all_of_type(kind: type, values: Collection[Any]) -> bool:
    """Say whether all values have exactly this type, and no subtype."""
    return countOf(map(type, values), kind) == len(values)


def all_ids(values: Iterable[Any]) -> bool:
    """Say whether all values are texts, and none of them empty."""
    return _hold_ids([values])


def _hold_ids(lists: Iterable[Iterable[Any]]) -> bool:
    """Say whether all values of lists, or keys of dicts, are texts, and none of them empty."""
    try:
        return not any(map("".startswith, map(tuple, lists)))  # true only for an empty text
    except TypeError:  # a value is not a text
        return False


def as_floats(given: list[Any]) -> Floats | None:
    """Return values as an array if all are numbers and some are floats; None for any others.

    The sum of such values is a float. It is a float with booleans among them too, so every 0 and 1
    is checked for being one.

    >>> as_floats([0.5, 2.0]), as_floats([0.5, True]), as_floats([0.5, None])
    (array([0.5, 2. ]), None, None)
    """
    with suppress(Exception):  # other values raise when they are summed
        if type(sum(given)) is float:
            floats = pack_floats(given)
            zeros_and_ones = ((floats == 0) | (floats == 1)).nonzero()[0].tolist()
            return floats if all_of_type(float, [given[at] for at in zeros_and_ones]) else None
    return None


def pack_floats(numbers: Sequence[Any]) -> Floats:
    """Return numbers as an array, in a third of numpy's time; raise `struct.error` for others."""
    return np.frombuffer(struct.pack(f"{len(numbers)}d", *numbers))


def check_chunk_ids(where: str, chunk_ids: Collection[Any]) -> None:
    """Raise `BadInput` for a value that is not an id."""
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
    """Raise `BadInput` for a score that is not a finite number."""
    for chunk_id, score in scores.items():
        if not is_number(score):
            raise BadInput(
                f"{_where(run, query_id)}: the score of chunk {chunk_id!r} is not a finite number: "
                f"{score!r}"
            )


def _where(run: str, query_id: str) -> str:
    return f"run {run!r}, query {query_id!r}"
