"""The parts of the store: none inherits, and none has a method that only tests call."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.architecture.sources import FILES, ROOT, classes_of, name_of

STORE = ROOT / "labeler/store"
FOR_OTHERS = {"EvidenceReader.golden"}  # docs/reference/formats.md names it


def parts_of_a_store() -> dict[str, str]:
    """Return the classes of the parts, each with the attribute of a store that it is."""
    [store] = [each for each in classes_of(STORE / "__init__.py") if each.name == "Store"]
    made = [each for each in store.body if isinstance(each, ast.Assign)]
    return {each.value.args[0].id: each.targets[0].id for each in made}


def classes_of_the_store() -> dict[str, ast.ClassDef]:
    """Return the classes in the modules of the store, by name."""
    return {each.name: each for path in STORE.glob("*.py") for each in classes_of(path)}


def names_read_of() -> dict[str, set[str]]:
    """Return the attributes that the code reads of everything, by what that is called there."""
    found = defaultdict(set)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute):
                of = node.value.func if isinstance(node.value, ast.Call) else node.value
                name = of.attr if isinstance(of, ast.Attribute) else getattr(of, "id", "")
                found[f"{name_of(path)}:self" if name == "self" else name].add(node.attr)
    return found


def test_no_part_inherits_from_another() -> None:
    classes = classes_of_the_store()
    found = {part: [base.id for base in classes[part].bases] for part in parts_of_a_store()}
    assert {part: bases for part, bases in found.items() if bases} == {}


def test_no_method_of_a_part_is_called_by_tests_alone() -> None:
    classes, read = classes_of_the_store(), names_read_of()
    files = {each.name: name_of(path) for path in STORE.glob("*.py") for each in classes_of(path)}
    unused = []
    for part, attribute in parts_of_a_store().items():
        called = read[attribute] | read[f"_{attribute}"] | read[part] | read[f"{files[part]}:self"]
        unused += [
            f"{part}.{method.name}"
            for method in classes[part].body
            if isinstance(method, ast.FunctionDef)
            and not method.name.startswith("__")
            and method.name not in called
        ]
    assert set(unused) == FOR_OTHERS
