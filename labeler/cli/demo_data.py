"""The golden set of ``labeler demo``, built from the sample data."""

from __future__ import annotations

import itertools
from pathlib import Path

from labeler import formats
from labeler.cli.atomic_output import is_new, new_golden_set
from labeler.errors import BadInput
from labeler.model import DEFAULT_CHUNKING, Settings
from labeler.paths import folder
from labeler.store import Store
from labeler.store.backup import file_check

DEMO_NAME = "Pellamy help centre"
DEMO_RUNS = {
    "bm25": ("2026-01-12", DEFAULT_CHUNKING),
    "lsa": ("2026-01-19", DEFAULT_CHUNKING),
    "hybrid": ("2026-01-26", DEFAULT_CHUNKING),
    "hybrid-v2": ("2026-02-02", "v2"),
}
"""When each run was made, and on which chunking."""


def build_demo(path: Path, *, replace: bool = False, rechunked: bool = False) -> None:
    """Make a golden set of the sample data at ``path``, completely or not at all.

    ``rechunked`` adds the chunking v2 and a run on it.
    """
    sample = folder("sample_data")
    with new_golden_set(path, replace=replace) as store:
        load_demo_chunks(store, sample, rechunked=rechunked)
        store.queries.load(formats.read_queries(sample / "queries.jsonl", name="queries.jsonl"))
        for name, (date, chunking) in DEMO_RUNS.items():
            if chunking != DEFAULT_CHUNKING and not rechunked:
                continue
            run = formats.read_run(sample / "runs" / f"{name}.trec", name=f"{name}.trec")
            store.runs.load(run, name=name, system=name, created_at=date, chunking=chunking)
        store.golden_loads.add(
            formats.read_golden(sample / "judgments.jsonl", name="judgments.jsonl")
        )
        store.answers.load(formats.read_answers(sample / "answers.jsonl", name="answers.jsonl"))
        store.signals.load(formats.read_signals(sample / "signals.csv", name="signals.csv"))
        guideline = (sample / "guideline.txt").read_text(encoding="utf-8").strip()
        store.settings.save(Settings(guideline=guideline, name=DEMO_NAME))


def load_demo_chunks(store: Store, sample: Path, *, rechunked: bool) -> None:
    """Load one chunking or both, and the documents they were cut from."""
    store.chunks.load(formats.read_chunks(sample / "chunks.jsonl", name="chunks.jsonl"))
    if rechunked:
        again = formats.read_chunks(sample / "chunks-v2.jsonl", name="chunks-v2.jsonl")
        store.chunks.load(again, chunking="v2")
    documents = formats.read_documents(sample / "documents", name="documents")
    cut = store.documents.cut()
    store.documents.load(formats.match_document_names(documents, sample / "documents", cut))


def set_old_demo_aside(path: Path) -> Path | None:
    """Rename a demo whose schema is not this version's, and return its new path."""
    if is_new(path) or file_check.is_current(path):
        return None
    aside = next(
        name
        for number in itertools.count(1)
        if not (name := path.with_name(f"{path.stem}.old{number}{path.suffix}")).exists()
    )
    path.rename(aside)
    return aside


def check_is_demo(path: Path) -> None:
    """Raise `BadInput` unless the file may be replaced by a fresh demo."""
    sample = formats.read_queries(folder("sample_data") / "queries.jsonl")
    known = {query.query_id: query.text for query in sample.records}
    with Store(path) as store:
        own = [q for q in store.queries.all() if known.get(q.query_id) != q.text]
    if own:
        raise BadInput(
            f"{path}: holds queries of your own, such as {own[0].query_id!r}; --fresh would "
            "destroy them, name another file with --db"
        )
    if Path(f"{path}-wal").exists():
        raise BadInput(f"{path}: is in use; stop its server first")
