"""Grades on other scales: what a refusal proposes works when it is pasted, in every way in."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

import labeler as python
from labeler.cli import main
from labeler.errors import BadInput
from labeler.store import Store

Labeler = Callable[..., Result]
SCALES: dict[str, tuple[Sequence[object], Sequence[int]]] = {
    "one to five": ((1, 2, 3, 4, 5), (1, 2, 2, 3, 3)),
    "to one": ((0, 0.25, 0.5, 1.0), (0, 1, 2, 3)),
    "sums": ((0.1 + 0.2, 0.7), (2, 3)),
    "from minus one": ((-1, 0, 1, 2), (0, 0, 1, 2)),
    "minus and fractions": ((-2, 0.5, 1), (0, 2, 3)),
    "even": ((0, 2, 4), (0, 2, 3)),
    "four": ((0, 1, 2, 3, 4), (0, 1, 2, 3, 3)),
    "words": (("not relevant", "Partially relevant", "relevant"), (0, 1, 2)),
    "two words": (("irrelevant", "relevant"), (0, 1)),
    "letters": (("I", "C", "S", "E"), (0, 1, 2, 3)),
    "percent": (tuple(f"{number}%" for number in range(0, 101, 4)), ()),
    "a hundred": (tuple(range(101)), ()),
    "words and numbers": (("no", 7, "perfect"), (0, 3, 3)),
}
TRUTH = {"truth": ((True, False, True), (1, 0, 1))}


@pytest.fixture
def labeler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labeler:
    """Run a command in a folder with a query and a run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    Path("q.tsv").write_text("query_id\tquery\nk1\twhen?\n")
    Path("r.trec").write_text("k1 Q0 d0 1 2 r\nk1 Q0 d1 2 1 r\n")

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, words, prog_name="labeler")

    return invoke


def write(values: Sequence[object], name: str) -> str:
    """Write a file of grades, one chunk each, in the form its name says."""
    rows = [(f"d{at}", value) for at, value in enumerate(values)]
    if name.endswith(".csv"):
        lines = ["query_id,doc_id,label", *(f"k1,{chunk},{value}" for chunk, value in rows)]
    elif name.endswith(".jsonl"):
        each = [{"query_id": "k1", "chunk_id": chunk, "label": value} for chunk, value in rows]
        lines = [*map(json.dumps, each)]
    else:
        lines = [f"k1 0 {chunk} {value}" for chunk, value in rows]
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text("\n".join(lines) + "\n")
    return name


def pasted(refusal: str) -> list[str]:
    """Return the options that a refusal proposes, read as a shell reads them."""
    words = re.findall(r"--grade-(?:map|cuts) (?:'[^']*'|[^\s;]+)", refusal)
    found = [word for text in words[:1] for word in shlex.split(text.rstrip(",;"))]
    return [*found, *(["--negative-as-zero"] if "--negative-as-zero" in refusal else [])]


FILES = [
    (scale, name)
    for scale, (values, _) in {**SCALES, **TRUTH}.items()
    for name in ("g.csv", "g.jsonl", "g.qrels")
    if not (name == "g.qrels" and any(" " in str(value) for value in values))
]


@pytest.mark.parametrize(("scale", "name"), FILES)
def test_what_a_refusal_of_load_golden_proposes_works(labeler: Labeler, scale: str, name: str):
    values, expected = {**SCALES, **TRUTH}[scale]
    assert labeler("load", "queries", "q.tsv").exit_code == 0
    refused = labeler("load", "golden", write(values, name))
    assert refused.exit_code == 1
    options = pasted(refused.output)
    done = labeler("load", "golden", name, *options)
    assert done.exit_code == 0, (refused.output, done.output)
    with Store("golden.db") as store:
        found = {each.chunk_id: each.grade for each in store.golden_set.read()[1]}
    assert [found[f"d{at}"] for at in range(len(values))] == [*expected] or not expected
    assert {*found.values()} == {0, 1, 2, 3} or expected


@pytest.mark.parametrize("scale", SCALES)
def test_what_a_refusal_of_load_files_proposes_works(labeler: Labeler, scale: str):
    values, expected = SCALES[scale]
    refused = labeler("load", "files", "q.tsv", write(values, "g.csv"))
    assert refused.exit_code == 1
    done = labeler("load", "golden", "g.csv", *pasted(refused.output))
    assert done.exit_code == 0, (refused.output, done.output)
    with Store("golden.db") as store:
        assert (
            sorted(each.grade for each in store.golden_set.read()[1]) == [*expected] or not expected
        )


@pytest.mark.parametrize("scale", SCALES)
def test_what_a_refusal_of_load_beir_proposes_works(labeler: Labeler, scale: str):
    values, expected = SCALES[scale]
    rows = [f"k1\td{at}\t{value}\n" for at, value in enumerate(values)]
    Path("beir/qrels").mkdir(parents=True)
    Path("beir/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    Path("beir/queries.jsonl").write_text('{"_id": "k1", "text": "when?"}\n')
    texts = [json.dumps({"_id": f"d{at}", "text": "At nine."}) for at in range(len(values))]
    Path("beir/corpus.jsonl").write_text("\n".join(texts))
    refused = labeler("load", "beir", "beir")
    assert refused.exit_code == 1
    done = labeler("load", "beir", "beir", *pasted(refused.output))
    assert done.exit_code == 0, (refused.output, done.output)
    with Store("golden.db") as store:
        assert (
            sorted(each.grade for each in store.golden_set.read()[1]) == [*expected] or not expected
        )


@pytest.mark.parametrize(("scale", "name"), FILES)
def test_what_a_refusal_of_evaluate_proposes_works(labeler: Labeler, scale: str, name: str):
    values, _ = {**SCALES, **TRUTH}[scale]
    refused = labeler("evaluate", write(values, name), "r.trec", "--measures", "nDCG@2")
    assert refused.exit_code == 1
    done = labeler("evaluate", name, "r.trec", "--measures", "nDCG@2", *pasted(refused.output))
    assert done.exit_code == 0, (refused.output, done.output)


def read_proposal(refusal: str) -> dict[str, Any]:
    """Return the arguments that a refusal in Python proposes."""
    found = re.search(r"grade_map=(\{[^}]*\}|labeler\.GradeCuts\([^)]*\))", refusal)
    given = {"grade_map": eval(found[1], {"labeler": python})} if found else {}
    return {**given, **({"negative_as_zero": True} if "negative_as_zero=True" in refusal else {})}


@pytest.mark.parametrize("form", ["dict", "frame", "file"])
@pytest.mark.parametrize("scale", {**SCALES, **TRUTH})
def test_what_a_refusal_in_python_proposes_works(labeler: Labeler, scale: str, form: str):
    values, expected = {**SCALES, **TRUTH}[scale]
    chunks = [f"d{at}" for at in range(len(values))]
    rows = [("k1", chunk, value) for chunk, value in zip(chunks, values, strict=True)]
    given: Any = {"k1": dict(zip(chunks, values, strict=True))}
    if form == "frame":
        given = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
    elif form == "file":
        given = write(values, "g.jsonl")
    run = {"A": {"k1": chunks}}
    with pytest.raises(BadInput) as refused:
        python.evaluate(given, run, "Judged@10")
    options = read_proposal(str(refused.value))
    assert options, refused.value
    found = python.evaluate(given, run, "nDCG@200", **options)
    if expected:
        known = {"k1": dict(zip(chunks, expected, strict=True))}
        assert found.value.tolist() == python.evaluate(known, run, "nDCG@200").value.tolist()


def test_words_nobody_knows_are_named_and_a_map_reads_them(labeler: Labeler):
    write(("gut", "schlecht", "gut"), "g.csv")
    refused = labeler("evaluate", "g.csv", "r.trec")
    assert (
        "g.csv:2: grade must be 0, 1, 2 or 3, not 'gut'; the grades here are words: gut, schlecht; "
        "--grade-map 'WORD=GRADE,...' says what each of them means"
    ) in refused.output
    read = labeler("evaluate", "g.csv", "r.trec", "--grade-map", "GUT=3,schlecht=0")
    assert read.exit_code == 0, read.output
