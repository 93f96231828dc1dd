"""What a ranked list may hold where somebody hands one over: ids that are text, finite scores.

Lists that a file's reader made are not looked at again. Nothing is changed, and nothing is ranked.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from operator import countOf
from typing import Any, TypeAlias

import numpy as np

from labeler.errors import BadInput
from labeler.model import Ranking, check_id

GivenList: TypeAlias = Mapping[str, float] | Sequence[str] | Ranking


def is_number(value: Any) -> bool:
    """Say whether a value is a finite number that is neither true nor false."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    with suppress(OverflowError):  # a whole number that no float can hold
        return math.isfinite(value)
    return False


def check_kind(run: str, query_id: str, ranked: object) -> None:
    """Raise `BadInput` for what is no kind of list."""
    if isinstance(ranked, (dict, Mapping, Ranking)):  # dict first, since that is quickly found out
        return
    if isinstance(ranked, str | bytes | bytearray) or not isinstance(ranked, Sequence):
        where = _place(run, query_id)
        raise BadInput(f"{where}: expected {{chunk: score}} or a list of chunks, best first")


def is_plain(ranked: Mapping[Any, Any]) -> bool:
    """Say whether a list has nothing but ids and floats, which need not be finite."""
    return are_all(str, ranked) and "" not in ranked and are_all(float, ranked.values())


def check_list(run: str, query_id: str, ranked: GivenList) -> None:
    """Raise `BadInput` for what a list must not hold; that floats are finite is not looked at."""
    if isinstance(ranked, (dict, Mapping)):
        if not is_plain(ranked):
            check_chunk_ids(_place(run, query_id), ranked)
            check_scores(run, query_id, ranked)
    elif not isinstance(ranked, Ranking):
        check_chunk_ids(_place(run, query_id), ranked)
        if len(set(ranked)) < len(ranked):
            twice = next(chunk for chunk in ranked if list(ranked).count(chunk) > 1)
            raise BadInput(f"{_place(run, query_id)}: chunk {twice!r} stands there twice")


def check_whole_list(run: str, query_id: str, ranked: GivenList) -> None:
    """Raise `BadInput` for what a list must not hold, or where a score is not finite."""
    check_list(run, query_id, ranked)
    if isinstance(ranked, Mapping) and not math.isfinite(sum(ranked.values())):
        check_scores(run, query_id, ranked)  # the sum may be infinite where no score is


def are_all(kind: type, values: Collection[Any]) -> bool:
    """Say whether all values are of one kind, and of no kind derived from it."""
    return countOf(map(type, values), kind) == len(values)


def check_chunk_ids(where: str, chunk_ids: Collection[Any]) -> None:
    """Raise `BadInput` for what is no id; looking at the kinds first is four times as fast."""
    if are_all(str, chunk_ids) and "" not in chunk_ids:
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
                f"{_place(run, query_id)}: the score of chunk {chunk_id!r} is not a finite number: "
                f"{score!r}"
            )


def _place(run: str, query_id: str) -> str:
    return f"run {run!r}, query {query_id!r}"
