"""A golden set's way out into files and back in."""

from __future__ import annotations

import json
from pathlib import Path

from labeler.formats import read_golden
from labeler.model import Judgment, Loaded, Remark
from labeler.services import import_export
from labeler.store import Store


def test_the_log_carries_remarks_on_queries_and_brings_them_back(filled: Store, tmp_path: Path):
    filled.remarks.add(Remark("r1", "q1", "Ann", "unclear", "which refund?"))
    filled.remarks.add(Remark("r2", "q2", "Bob", "unanswered"))
    filled.remarks.add(Remark("r3", "q2", "Bob", "withdraw"))
    filled.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=2))
    log = tmp_path / "events.jsonl"
    log.write_bytes(import_export.export(filled, "events"))
    with Store(tmp_path / "copy.db", create=True) as copy:
        copy.queries.load(Loaded("q", filled.queries.all(), [1, 2]))
        report = copy.golden_loads.add(read_golden(log))
        assert "kind unclear" in str(report)
        assert copy.remarks.log() == filled.remarks.log()
        assert [remark.event_id for remark in copy.remarks.current()] == ["r1"]
        *events, seal = log.read_bytes().splitlines()
        assert import_export.export(copy, "events").splitlines()[:-1] == events
        assert seal == json.dumps({"seal": str(filled.tamper_check.newest_seal())}).encode()
        assert not copy.golden_loads.add(read_golden(log)).changed
