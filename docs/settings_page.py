"""The table of `reference/settings.md`: every setting, from the code."""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import fields
from pathlib import Path

from labeler.cli.settings import DEFAULTS, form_of, written
from labeler.evaluation.measure_guidance import MEASURES_BY_TASK
from labeler.model import STRATEGIES, TRANSFER_CHOICES, Settings

LOOKS = {
    "strategy": "one of: " + ", ".join(STRATEGIES),
    "transferred": " or ".join(TRANSFER_CHOICES),
    "rel": "1, 2 or 3",
}
BY_TASK = shlex.join(f"{task}={names}" for task, names in MEASURES_BY_TASK.items())


def settings_table() -> str:
    """Return a row for each setting: its name, what it decides, its values and its default."""
    rows = ["| Setting | What it decides | Values | Default |", "|---|---|---|---|"]
    decides = tomllib.loads(Path(__file__).with_name("settings.toml").read_text(encoding="utf-8"))
    named = {each.name for each in fields(Settings)}
    if named != set(decides):
        raise LookupError(f"say in docs/settings.toml what these decide: {named ^ set(decides)}")
    for name, text in decides.items():
        looks = LOOKS.get(name) or form_of(name).looks
        default = BY_TASK if name == "measures_by_task" else written(DEFAULTS, name)
        rows.append(f"| `{name.replace('_', '-')}` | {text} | {looks} | `{default}` |")
    return "\n".join(rows)
