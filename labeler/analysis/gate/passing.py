"""The runs that passed a gate: what is kept of them, read and written as JSON; opens no file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from labeler.analysis.gate.records import Place
from labeler.analysis.gate.sides import KeptValues
from labeler.errors import BadInput
from labeler.model import legible

FORMAT = 1
"""Counts up where older files could no longer be read as they are."""


@dataclass(frozen=True, slots=True)
class PassedRun:
    """A run as it was when it passed: its values, the golden set and the conventions they are by.

    ``fingerprint`` is of its lists, so that another run of the same name is not taken for it.
    """

    name: str
    fingerprint: str
    passed_at: str
    golden: str
    conventions: Mapping[str, Any]
    values: KeptValues


@dataclass(frozen=True, slots=True)
class Passing:
    """The last run that passed, and by check the best, each by fingerprint."""

    last: str
    best: Mapping[Place, str] = field(default_factory=dict)
    runs: Mapping[str, PassedRun] = field(default_factory=dict)

    def as_text(self) -> str:
        """Return the file, the same for the same runs, and a line for each value."""
        kept = {
            "labeler": "runs that passed a gate",
            "format": FORMAT,
            "last": self.last,
            "best": [
                {"facet": facet, "bucket": bucket, "measure": measure, "run": fingerprint}
                for (facet, bucket, measure), fingerprint in self.best.items()
            ],
            "runs": [_as_dict(run) for _, run in sorted(self.runs.items())],
        }
        return json.dumps(kept, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _as_dict(run: PassedRun) -> dict[str, Any]:
    return {
        "name": run.name,
        "fingerprint": run.fingerprint,
        "passed_at": run.passed_at,
        "golden": run.golden,
        "conventions": dict(run.conventions),
        "values": {name: dict(values) for name, values in run.values.items()},
    }


def read_passing(data: bytes, name: str) -> Passing:
    """Read what was kept; raises `BadInput` for anything but such a file."""
    try:
        given = json.loads(data.decode("utf-8-sig"))
        runs = {each["fingerprint"]: _run_of(each) for each in given["runs"]}
        best = {
            (each["facet"], each["bucket"], each["measure"]): each["run"] for each in given["best"]
        }
        last, form = given["last"], given["format"]
        is_whole = {last, *best.values()} <= set(runs)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(
            f"{name}: is not a file of runs that passed a gate ({legible(repr(error))[:100]}); "
            "take it out of the way, then begin it anew with --begin"
        ) from None
    if form != FORMAT:
        raise BadInput(f"{name}: has format {form!r}, and this labeler reads {FORMAT}")
    if not is_whole:
        raise BadInput(
            f"{name}: names a run that is not in it; take it out of the way, then begin it anew "
            "with --begin"
        )
    return Passing(last, best, runs)


def _run_of(given: Mapping[str, Any]) -> PassedRun:
    name, fingerprint, passed_at, golden = texts = [
        given[key] for key in ("name", "fingerprint", "passed_at", "golden")
    ]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a name, a fingerprint, a time and a golden version are texts")
    values = {
        str(name): {str(query): _finite(value) for query, value in column.items()}
        for name, column in given["values"].items()
    }
    return PassedRun(name, fingerprint, passed_at, golden, dict(given["conventions"]), values)


def _finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r} is no value of a measure")
    return float(value)
