"""Files and functions are as long as their idea, and every name says one thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from tests.architecture.sources import (
    FILES,
    body_lines,
    classes_of,
    functions_of,
    name_of,
)

MOST_LINES = 600
MOST_BODY_LINES = 50
PUBLIC = {"labeler/__init__.py", "labeler/api/__init__.py", "labeler/measures/__init__.py"}
NOUNS_OF_THE_FIELD = {"chunking", "rechunking", "pooling", "grading"}
NOUNS_THAT_LOOK_ALIKE = {"chunkings"}  # beside chunks: two things, not two forms of one
ENDINGS = re.compile(r"(?:isons?|ations?|ions?|ings?|ers?|ors?|ed|es|s|e|y)$")


def names_imported_by(source: str) -> set[str]:
    """Return the names that a file imports from our packages."""
    return {
        alias.asname or alias.name
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("labeler.")
        for alias in node.names
    }


def names_used_by(source: str) -> set[str]:
    """Return the names that the code of a file reads."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def names_by_folder() -> dict[str, set[str]]:
    """Return the names of the modules and packages in each folder."""
    found = defaultdict(set)
    for path in FILES:
        parts = name_of(path).removesuffix(".py").split("/")
        for depth in range(1, len(parts)):
            if not parts[depth].startswith("__"):
                found["/".join(parts[:depth])].add(parts[depth])
    return found


def test_no_file_is_too_long_to_be_one_idea() -> None:
    lines = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {name: found for name, found in lines.items() if found > MOST_LINES} == {}


def test_no_function_is_too_long_to_be_read_at_once() -> None:
    found = {
        f"{name_of(path)}: {function.name}": lines
        for path in FILES
        for function in functions_of(path)
        if (lines := body_lines(function)) > MOST_BODY_LINES
    }
    assert found == {}


def test_no_public_class_name_occurs_twice() -> None:
    files = defaultdict(list)
    for path in FILES:
        for each in classes_of(path):
            if not each.name.startswith("_"):
                files[each.name].append(f"{name_of(path)}:{each.lineno}")
    assert {name: found for name, found in files.items() if len(found) > 1} == {}


def test_modules_are_named_by_nouns() -> None:
    found = {
        f"{folder}/{name}"
        for folder, names in names_by_folder().items()
        for name in names
        if name.endswith("ing") and name.rpartition("_")[2] not in NOUNS_OF_THE_FIELD
    }
    assert found == set()


def test_no_two_names_in_a_package_differ_only_in_form() -> None:
    alike = defaultdict(list)
    for folder, names in names_by_folder().items():
        for name in sorted(names - NOUNS_THAT_LOOK_ALIKE):
            alike[f"{folder}/{ENDINGS.sub('', name)}"].append(name)
    assert {stem: names for stem, names in alike.items() if len(names) > 1} == {}


def test_a_package_hands_on_only_what_others_use() -> None:
    texts = {path: path.read_text("utf-8") for path in FILES}
    unused = {}
    for face in FILES:
        if face.name != "__init__.py" or name_of(face) in PUBLIC:
            continue
        others = "".join(text for path, text in texts.items() if face.parent not in path.parents)
        words = set(re.findall(r"\w+", others)) | names_used_by(texts[face])
        left = {name for name in names_imported_by(texts[face]) if name not in words}
        if left:
            unused[name_of(face)] = sorted(left)
    assert unused == {}
