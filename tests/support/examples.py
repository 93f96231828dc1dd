"""How many examples a property is tried on, where that is not the number of its profile."""

from __future__ import annotations

from typing import Any

from hypothesis import settings


def examples(many: int, **more: Any) -> settings:
    """Try ``many`` examples in `make test-all`, at most those of its profile in `make test`."""
    few = settings.get_profile("few").max_examples
    is_short = settings.get_current_profile_name() == "few"
    return settings(max_examples=min(few, many) if is_short else many, **more)
