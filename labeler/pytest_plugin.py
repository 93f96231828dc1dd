"""The pytest fixture ``labeler_gate``, which fails a test unless a run passes a gate file.

pytest loads this file wherever labeler is installed, so nothing else of labeler is imported until
a test uses the fixture.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from labeler.analysis.gate import GateOutcome


class LabelerGate:
    """A callable that judges runs by gate files; relative paths start at ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(
        self,
        file: str | os.PathLike[str] = "gate.toml",
        *,
        run: str | None = None,
        baseline: str | None = None,
        golden: str | None = None,
        db: str | os.PathLike[str] | None = None,
        keep: bool = False,
    ) -> GateOutcome:
        """Fail the test unless a run passes the gate; return the outcome with each limit.

        The test also fails, with the reason, if the run cannot be judged. ``run`` and ``baseline``
        replace those the file names; ``golden`` is a frozen version, ``db`` the golden set's file,
        by default ``LABELER_DB`` or ``golden.db``. A run that passed is stored as the last passing
        one only with ``keep``, since a test should change nothing.
        """
        __tracebackhide__ = True
        from labeler.analysis.gate import PASSED
        from labeler.cli.gate import GateRequest, judge_file
        from labeler.cli.gate_output import as_text
        from labeler.errors import LabelerError
        from labeler.model import escape_controls
        from labeler.store.addresses import is_address, parse_location

        location = db or os.environ.get("LABELER_DB") or "golden.db"
        database = parse_location(str(location)) if is_address(location) else self.root / location
        problem = ""
        request = GateRequest(run, baseline, golden=golden)
        try:
            outcome, kept = judge_file(database, self.root / file, request)
        except LabelerError as error:
            problem = f"{os.fspath(file)}: could not be judged: {escape_controls(str(error))}"
        if problem:  # outside the except block, so that pytest does not show both errors
            pytest.fail(problem, pytrace=False)
        if outcome.result != PASSED:
            pytest.fail(as_text(outcome), pytrace=False)
        if keep and kept is not None:
            kept.write()
        return outcome


@pytest.fixture(scope="session")
def labeler_gate(pytestconfig: pytest.Config) -> LabelerGate:
    """Judge a stored run by a gate file: ``labeler_gate("gate.toml", run="candidate")``.

    Paths are relative to pytest's root folder.
    """
    return LabelerGate(pytestconfig.rootpath)
