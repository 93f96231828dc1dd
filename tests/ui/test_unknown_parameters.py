"""Parameters of an address that no page reads are named, and none that one reads is."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator

from labeler.paths import PACKAGE
from labeler.ui import url_state

# Functions of `url_state` by the place of the parameter's name among their arguments.
READERS = {
    **dict.fromkeys(("get", "get_each", "check_among", "check_some_of", "page_in_url"), 0),
    **dict.fromkeys(("write_text", "switch", "choose_number", "choose_page"), 1),
    **dict.fromkeys(("choose", "choose_or_not", "choose_tab"), 2),
    **dict.fromkeys(("choose_several", "choose_some", "choose_part"), 2),
}
NAMES = re.compile("[a-z][a-z_-]*")


def parameters_read() -> Iterator[tuple[str, str]]:
    """Give each name of a parameter that a module under ``ui/`` or ``app/`` reads, and where."""
    for path in [*PACKAGE.glob("ui/**/*.py"), PACKAGE / "app" / "navigation.py"]:
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                at = READERS.get(node.func.attr)
                owner = getattr(node.func.value, "id", "")
                if at is not None and owner == "url_state":
                    yield from ((name, module) for name in named(node, at, module))


def named(call: ast.Call, at: int, module: str) -> Iterator[str]:
    """Give the name in a call of `url_state`, if it is written there or a constant."""
    arguments = [part for each in call.args for part in unpacked(each)]
    for each in arguments[at : at + 1]:
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value
        elif isinstance(each, ast.Name) and each.id.isupper():
            yield str(getattr(importlib.import_module(module.removesuffix(".__init__")), each.id))


def unpacked(argument: ast.expr) -> list[ast.expr]:
    """Return the arguments in one that is written with a star."""
    if isinstance(argument, ast.Starred) and isinstance(argument.value, ast.Tuple | ast.List):
        return list(argument.value.elts)
    return [argument]


def test_every_parameter_that_a_page_reads_is_known():
    read = dict(parameters_read())
    defaults = {
        each.default
        for reader in READERS
        for each in inspect.signature(getattr(url_state, reader)).parameters.values()
        if each.name == "name" and each.default is not each.empty
    }
    found = {*read, *defaults, *url_state.KEPT_PARAMETERS, *url_state.OLD_PARAMETERS.values()}
    assert len(found) > 70, "this test looks for them in the wrong place"
    assert {name: read.get(name) for name in found - url_state.KNOWN_PARAMETERS} == {}
    assert url_state.KNOWN_PARAMETERS - found == set()
    assert all(NAMES.fullmatch(name) for name in found)
