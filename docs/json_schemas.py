"""JSON Schemas of all JSON that labeler writes, from samples of it and `json_fields.toml`.

Which fields there are is read from what the commands print on the sample data; what a field means
and whether it may be null is in `json_fields.toml`. `python -m docs.json_schemas` writes them.
"""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from docs.json_samples import samples

Schema = dict[str, Any]
HERE = Path(__file__).parent
SCHEMAS = HERE / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
GATE_FILE = "gate-file.json"  # the one that people write, and so does its schema
FIRST_OF_LINE = ("complete", "frozen", "seal")  # a field that only a first or last line has
TYPES: dict[str, Schema] = {
    "text": {"type": "string"},
    "number": {"type": "number"},
    "whole": {"type": "integer"},
    "count": {"type": "integer", "minimum": 0},
    "grade": {"type": "integer", "minimum": 0, "maximum": 3},
    "flag": {"type": "boolean"},
    "list": {"type": "array"},
    "object": {"type": "object"},
    "map": {"type": "object"},
    "any": {},
}


class Fields:
    """What the fields of one schema are, by path or name."""

    def __init__(self, schema: str) -> None:
        """Read the descriptions that concern a schema."""
        every = tomllib.loads((HERE / "json_fields.toml").read_text(encoding="utf-8"))
        self.schema = schema
        self.own, self.every = every.get(schema, {}), every["fields"]

    def of(self, path: str) -> tuple[str, str]:
        """Return a field's type and meaning; raises `LookupError` for one that is not described."""
        name = path.rpartition(".")[2]
        within = ".".join(path.split(".")[-2:])
        tables = ((self.own, path), (self.every, within), (self.own, name), (self.every, name))
        found = next((table[key] for table, key in tables if key in table), None)
        if found is None:
            raise LookupError(f"docs/json_fields.toml: [{self.schema}] does not describe {path!r}")
        kind, _, meaning = found.partition(": ")
        return kind, meaning

    def may_be_left_out(self, path: str) -> bool:
        """Return whether a field is not in every object of its kind."""
        return self.of(path)[0].endswith("*")

    def rare(self) -> list[str]:
        """Return the fields of this schema that its samples need not have."""
        return [name for name, said in self.own.items() if "*: " in said]


def object_schema(values: Sequence[dict[str, Any]], fields: Fields, path: str) -> Schema:
    """Return the schema of these objects: fields that all of them have are required."""
    names = list(dict.fromkeys(name for value in values for name in value))
    rare = [] if path else fields.rare()
    every = [*names, *(name for name in rare if name not in names)]
    properties = {
        name: field_schema([each[name] for each in values if name in each], fields, f"{path}{name}")
        for name in every
    }
    required = [
        name
        for name in names
        if all(name in value for value in values) and not fields.may_be_left_out(f"{path}{name}")
    ]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def field_schema(values: Sequence[Any], fields: Fields, path: str) -> Schema:
    """Return the schema of a field with these values."""
    kind, meaning = fields.of(path)
    kind = kind.removesuffix("*")
    schema = {"description": meaning, **TYPES[kind.removesuffix("?")]}
    if kind.startswith("object"):
        schema |= object_schema([each for each in values if each], fields, f"{path}.")
    elif kind.startswith("list"):
        inner = [each for value in values for each in value or ()]
        if inner and all(isinstance(each, dict) for each in inner):
            schema["items"] = object_schema(inner, fields, f"{path}.")
        elif inner and all(isinstance(each, str) for each in inner):
            schema["items"] = {"type": "string"}
    if kind.endswith("?"):
        schema["type"] = [schema["type"], "null"]
    return schema


def line_schemas(lines: Iterable[dict[str, Any]], fields: Fields) -> list[Schema]:
    """Return a schema for each kind of line that a file has."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        first = next((name for name in FIRST_OF_LINE if name in line), "")
        kinds.setdefault(first or str(line.get("of", "")), []).append(line)
    return [object_schema(each, fields, "") for each in kinds.values()]


def schema_of(name: str, found: Sequence[Any]) -> Schema:
    """Return the schema of an output, or of a line of a file, of which these are samples."""
    fields = Fields(name)
    if name == "export-ranx":  # queries with the grades of their chunks
        grades = {"type": "object", "additionalProperties": TYPES["grade"]}
        body: Schema = {"type": "object", "additionalProperties": grades}
    elif isinstance(found[0], list):
        rows = [row for document in found for row in document]
        body = {"type": "array", "items": object_schema(rows, fields, "")}
    else:
        lines = line_schemas(found, fields)
        body = lines[0] if len(lines) == 1 else {"anyOf": lines}
    return {"$schema": DIALECT, "title": f"labeler: {name}", **body}


def text_of(schema: Schema) -> str:
    """Return a schema as the text of its file."""
    return json.dumps(schema, ensure_ascii=False, indent=1) + "\n"


def files(found: dict[str, list[Any]]) -> dict[str, str]:
    """Return the text of each schema by the name of its file."""
    return {f"{name}.json": text_of(schema_of(name, each)) for name, each in found.items()}


def main() -> None:
    """Write all schemas that come from samples."""
    with tempfile.TemporaryDirectory() as folder:
        written = files(samples(Path(folder)))
    for old in SCHEMAS.glob("*.json"):
        if old.name not in {*written, GATE_FILE}:
            old.unlink()
    SCHEMAS.mkdir(exist_ok=True)
    for name, text in written.items():
        (SCHEMAS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
