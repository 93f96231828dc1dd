"""The pytest fixture ``labeler_gate``, which fails a test unless a run passes a gate file.

pytest loads this file wherever labeler is installed, so it imports nothing else of labeler until
a test asks for the fixture.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from labeler.analysis.gate import GateOutcome


class LabelerGate:
    """Judges runs by gate files; paths that are not absolute are below ``root``."""

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
        """Fail the test unless a run passes the gate; return what came of each limit.

        It fails as well where the run could not be judged, and says so. ``run`` and ``baseline``
        stand in for those the file names; ``golden`` is a frozen version, ``db`` the golden set's
        file, without it ``LABELER_DB`` or ``golden.db``. A run that passed is kept as the last
        passing one only with ``keep``, since a test should change nothing.
        """
        __tracebackhide__ = True
        from labeler.analysis.gate import PASSED
        from labeler.cli.gate import GateRequest, as_text, judge_file
        from labeler.errors import LabelerError
        from labeler.model import escape_controls
        from labeler.store.addresses import is_address, parse_location

        named = db or os.environ.get("LABELER_DB") or "golden.db"
        database = parse_location(str(named)) if is_address(named) else self.root / named
        wrong = ""
        asked = GateRequest(run, baseline, golden=golden)
        try:
            outcome, kept = judge_file(database, self.root / file, asked)
        except LabelerError as error:
            wrong = f"{os.fspath(file)}: could not be judged: {escape_controls(str(error))}"
        if wrong:  # outside, so that pytest does not show both
            pytest.fail(wrong, pytrace=False)
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
