"""What is made when it is first asked for, since most who could ask never do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar, overload

T = TypeVar("T")


@dataclass(eq=False)
class Later(Sequence[T], Generic[T]):
    """A sequence of ``size`` things that ``make`` makes, all at once.

    >>> Later(2, lambda: "ab")[1]
    'b'
    """

    size: int
    make: Callable[[], Sequence[T]]

    @cached_property
    def _made(self) -> Sequence[T]:
        return self.make()

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[T]:
        return iter(self._made)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        return self._made[at]
