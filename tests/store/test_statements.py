"""Every named statement of the store is understood by both engines."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import labeler.store
from labeler.store import Store
from tests.support.databases import IN_BOTH

VERB = re.compile(r"\s*(--[^\n]*\n\s*)*(SELECT|WITH|INSERT|UPDATE|DELETE)\b")
PARAMETER = re.compile(r"'(?:[^']|'')*'|(?<![:\w]):([a-z_]+)")
ONE_ENGINE = {"sqlite", "integrity", "upgrade", "engine", "adapter", "pool"}
"""Modules whose statements are for one engine."""


def statements() -> dict[str, str]:
    """Return the statements that modules name, without those that are completed before they run."""
    found = {}
    for module in pkgutil.walk_packages(labeler.store.__path__, "labeler.store."):
        short = module.name.rpartition(".")[2]
        if short in ONE_ENGINE or ".backup" in module.name:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.isupper() and isinstance(value, str) and VERB.match(value) and "{" not in value:
                found[f"{short}.{name}"] = value
    return found


STATEMENTS = statements()


@IN_BOTH
@pytest.mark.parametrize("name", STATEMENTS)
def test_a_named_statement_is_understood(store: Store, name: str):
    sql = STATEMENTS[name]
    named = {found[1]: None for found in PARAMETER.finditer(sql) if found[1]}
    given = named or [None] * re.sub(r"'(?:[^']|'')*'", "", sql).count("?")
    assert store.connection.handle.execute(f"EXPLAIN {sql}", given).fetchall()
