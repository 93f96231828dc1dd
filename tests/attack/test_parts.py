"""What a killed process leaves: never taken for one's own, and removed by who comes next."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

from labeler.cli.atomic_output import new_golden_set
from labeler.store import Store
from labeler.store.backup import atomic_files


def test_what_a_killed_first_load_left_is_never_taken_for_one_s_own(path: Path, tmp_path: Path):
    """In a container every process has the same number, so that numbers name nobody's part."""
    new = tmp_path / "new.db"
    shutil.copy(path, tmp_path / f".new.db.{os.getpid()}.part")
    with new_golden_set(new) as store:
        assert store.golden_set.contents().queries == 0
    with Store(new) as store:
        assert store.golden_set.contents().judgments == 0


def test_a_killed_first_load_is_cleaned_up_after(path: Path, tmp_path: Path, python):
    new = tmp_path / "new.db"
    killed = python(
        """
import sys
from pathlib import Path
from labeler.cli.atomic_output import new_golden_set
with new_golden_set(Path(sys.argv[1])) as store:
    store.people.add("Ann")
    print("half", flush=True)
    sys.stdin.readline()
""",
        new,
    )
    killed.stdout.readline()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert len(atomic_files.abandoned_parts(new)) == 1
    with new_golden_set(new):
        pass
    assert sorted(each.name for each in tmp_path.iterdir()) == ["golden.db", "new.db"]
