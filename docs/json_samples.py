"""Samples of all JSON that labeler writes, from its commands on the sample data."""

from __future__ import annotations

import json
import shlex
from contextlib import chdir
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from labeler.cli import main
from labeler.cli.demo_data import build_demo

SAMPLE_DATA = Path(__file__).parents[1] / "sample_data"
DB, TRACES = "golden.db", "traces.db"

PREPARED = (
    f"--db {DB} export golden.qrels --format qrels",
    f"--db {DB} freeze january --note 'before the new graders'",
    f"--db {DB} load golden changed.jsonl --update",
    f"--db {DB} load queries reworded.jsonl --update",
    f"--db {DB} load candidates sample_data/asked.csv --from log",
    f"--db {DB} invite Nadia --role lead",
    f"--db {DB} leakage train.jsonl --mark",
    f"--db {DB} split",
    f"--db {DB} queries retire q-003",
    f"--db {DB} gate passing.toml --begin",
    f"--db {TRACES} load trace.jsonl",
    f"--db {TRACES} load golden from-trace.csv",
)
OUTPUTS = {
    "evaluate": (
        "evaluate golden.qrels sample_data/runs/bm25.trec sample_data/runs/lsa.trec",
        "evaluate golden.qrels sample_data/runs/bm25.trec --per-query --measures RR",
    ),
    "score": (
        "score",
        "score --by difficulty",
        "score --per-query --measures R@5",
        "score --chunking v2",
    ),
    "keywords": ("score --keywords", "score --keywords --by difficulty"),
    "compare": (
        "compare bm25 hybrid",
        "compare bm25 lsa hybrid --by difficulty",
        "compare bm25 hybrid --per-query --measures nDCG@10",
        "compare hybrid hybrid-v2",
    ),
    "trend": ("trend", "trend --by difficulty"),
    "trend-points": ("trend --points",),
    "trend-between": ("trend --between bm25 hybrid",),
    "trend-signals": ("trend --signals",),
    "recall": ("recall",),
    "answers": ("answers", "answers --by difficulty"),
    "answers-per-query": ("answers --per-query",),
    "next": ("next lsa hybrid",),
    "measures": ("measures",),
    "gate": ("gate sample_data/gate.toml", "gate unjudged.toml"),
    "leakage": ("leakage train.jsonl",),
    "leakage-marked": ("leakage --marked",),
    "queries": ("queries list",),
    "candidates": ("candidates",),
    "runs": ("runs",),
    "versions": ("versions",),
    "diff": ("diff january",),
    "transfer": ("transfer --from default --to v2 --dry-run --list",),
    "health": ("health",),
    "history": ("history q-002",),
    "judgments": ("history q-001 --chunk returns-eu#0",),
    "people": ("people",),
    "agreement": ("agreement --drift --confusion", "agreement --by difficulty"),
    "disagreements": ("disagreements",),
    "loads": ("undo-load",),
    "check": ("check",),
    "audit": ("audit",),
    "settings": ("settings",),
}
EXPORTS = {
    "export-golden": f"--db {DB} export - --format jsonl",
    "export-events": f"--db {DB} export - --format events",
    "export-complete": f"--db {DB} export - --complete",
    "export-version": f"--db {DB} export - --format version --golden january",
    "export-run": f"--db {DB} export - --run bm25 --format ragas",
    "export-ragas": f"--db {DB} export - --format ragas",
    "export-quepid-book": f"--db {DB} export - --format quepid-book",
    "export-opensearch": f"--db {DB} export - --format opensearch",
    "export-ranx": f"--db {DB} export - --format ranx",
    "export-phoenix": f"--db {TRACES} export - --format phoenix",
    "export-langfuse": f"--db {TRACES} export - --format langfuse",
}

GATES = {
    "unjudged.toml": 'run = "bm25"\nfewest_queries = 1000\n[overall]\n"RR" = 0.5\n',
    "passing.toml": 'run = "bm25"\nlast_passing = "passed.json"\n'
    '[overall]\n"RR" = {at_least = 0.1, drop = 0.1}\n[each.difficulty]\n"RR" = 0.1\n',
}


def run(words: str) -> str:
    """Return what a command prints on standard output; a gate may fail."""
    result = CliRunner().invoke(main, shlex.split(words), prog_name="labeler")
    if result.exit_code and "gate" not in words:
        raise RuntimeError(f"labeler {words}: {result.output}")
    return result.stdout


def span(span_id: str, question: str, text: str) -> dict[str, Any]:
    """Return a span of a retriever, as a trace has it."""
    document = {"document.id": "c1", "document.content": text, "document.score": 0.5}
    return {
        "name": "search",
        "context": {"span_id": span_id, "trace_id": "5b8efff798038103d269b633813fc60c"},
        "attributes": {
            "openinference.span.kind": "RETRIEVER",
            "input.value": question,
            "retrieval.documents": [document],
        },
    }


def prepare(folder: Path) -> None:
    """Make a golden set of the sample data in a folder, with something in each of its tables."""
    (folder / "sample_data").symlink_to(SAMPLE_DATA)
    build_demo(folder / DB, rechunked=True)
    with (SAMPLE_DATA / "queries.jsonl").open(encoding="utf-8") as lines:
        query = json.loads(lines.readline())
    written = {
        "changed.jsonl": {"query_id": "q-001", "chunk_id": "returns-eu#0", "grade": 1},
        "reworded.jsonl": {"query_id": "q-002", "query": "who pays for a return parcel?"},
        "train.jsonl": {"prompt": query["query"], "completion": query["reference"]},
        "trace.jsonl": span("aa", "refund", "A refund takes three days."),
    }
    for name, record in written.items():
        (folder / name).write_text(f"{json.dumps(record)}\n", encoding="utf-8")
    (folder / "from-trace.csv").write_text("query_id,chunk_id,grade\nrefund,c1,3\n")
    for name, gate in GATES.items():
        (folder / name).write_text(gate)
    for words in PREPARED:
        run(words)


def documents(text: str) -> list[Any]:
    """Return the JSON documents of a text: one, or one on each line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def samples(folder: Path) -> dict[str, list[Any]]:
    """Return the JSON documents of each output and export, made in an empty folder."""
    with chdir(folder):
        prepare(folder)
        outputs = {
            name: [json.loads(run(f"--db {DB} {words} --format json")) for words in commands]
            for name, commands in OUTPUTS.items()
        }
        exports = {name: documents(run(words)) for name, words in EXPORTS.items()}
        passed = json.loads(Path("passed.json").read_text(encoding="utf-8"))
        return outputs | exports | {"passed-runs": [passed]}
