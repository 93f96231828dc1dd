"""Tables of `reference/json.md`, from the schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from docs.json_samples import EXPORTS, OUTPUTS
from docs.json_schemas import SCHEMAS, Schema


def read_schema(name: str) -> Schema:
    """Return a schema by its name."""
    schema: Schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return schema


def link(name: str) -> str:
    """Return a link to the file of a schema."""
    return f"[{name}.json](../schemas/{name}.json)"


def in_cell(text: str) -> str:
    """Return a text for a cell of a Markdown table."""
    return text.replace("|", "\\|")


def outputs_table() -> str:
    """Return a row for each command: an example, what it prints, and its schema."""
    rows = ["| Command | Prints | Schema |", "|---|---|---|"]
    for name, commands in OUTPUTS.items():
        form = "list" if read_schema(name)["type"] == "array" else "object"
        rows.append(f"| `labeler {commands[0]} --json` | {form} | {link(name)} |")
    return "\n".join(rows)


def exports_table() -> str:
    """Return a row for each format of `export` that is JSON."""
    rows = ["| Command | Schema |", "|---|---|"]
    for name, command in EXPORTS.items():
        words = command.split(" ", 2)[2].replace("export - ", "export FILE ")
        rows.append(f"| `labeler {words}` | {link(name)} |")
    return "\n".join(rows)


def fields_of(schema: Schema, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Give path, type and meaning of each field, those of nested objects after their object."""
    for form in (schema, *schema.get("anyOf", ())):
        for name, inner in form.get("properties", {}).items():
            kind = inner.get("type", "any")
            shown = " or ".join(kind) if isinstance(kind, list) else kind
            yield f"{path}{name}", shown, inner.get("description", "")
            if name not in ("conventions", "notes", "verdict"):
                yield from fields_of(inner, f"{path}{name}.")
                yield from fields_of(inner.get("items", {}), f"{path}{name}.")


def fields_table(schema: Schema, *, known: dict[str, str] | None = None) -> str:
    """Return the fields of a schema, without those that ``known`` describes in the same words."""
    found = {field[0]: field for field in fields_of(schema.get("items", schema))}
    rows = [
        f"| `{path}` | {kind} | {in_cell(meaning)} |"
        for path, kind, meaning in found.values()
        if (known or {}).get(path) != meaning
    ]
    return "\n".join(["| Field | Type | Meaning |", "|---|---|---|", *rows])


def shared_fields() -> dict[str, str]:
    """Return the meaning of the fields that three outputs or more have, in the same words."""
    every: dict[tuple[str, str], int] = {}
    for name in OUTPUTS:
        schema = read_schema(name)
        for path, _, meaning in fields_of(schema.get("items", schema)):
            every[path, meaning] = every.get((path, meaning), 0) + 1
    return {path: meaning for (path, meaning), times in every.items() if times > 2}


def shared_table() -> str:
    """Return the fields that several outputs have."""
    known = shared_fields()
    kinds: dict[str, Any] = {}
    for name in OUTPUTS:
        schema = read_schema(name)
        for path, kind, _ in fields_of(schema.get("items", schema)):
            kinds.setdefault(path, kind)
    rows = [f"| `{path}` | {kinds[path]} | {in_cell(said)} |" for path, said in known.items()]
    return "\n".join(["| Field | Type | Meaning |", "|---|---|---|", *rows])


def sections() -> str:
    """Return a section for each output, with the fields that it alone has."""
    known = shared_fields()
    parts = []
    for name in OUTPUTS:
        table = fields_table(read_schema(name), known=known)
        if table.count("\n") > 1:
            parts.append(f"### {name}\n\n{table}\n")
    return "\n".join(parts)
