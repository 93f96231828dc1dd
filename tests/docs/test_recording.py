"""The documented calls of labeler.record, with stand-ins shaped like what the libraries return."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.documentation import section

BLOCKS = re.findall(
    r"^(\w[^\n]*):\n\n```py\n(.*?)```",
    section("Recording what a service retrieves"),
    flags=re.DOTALL | re.MULTILINE,
)
QUESTION = "How do I reset it?"
LANG_CHAIN = SimpleNamespace(
    id=None, page_content="Hold the button.", metadata={"source": "m.pdf"}, type="Document"
)
LLAMA_INDEX = SimpleNamespace(
    node=SimpleNamespace(
        id_="c7",
        node_id="c7",
        text="Hold the button.",
        metadata={},
        ref_doc_id="m.pdf",
        get_content=lambda: "Hold the button.",
    ),
    score=0.82,
)
HAYSTACK = SimpleNamespace(
    id="c7", content="Hold the button.", meta={"source": "m.pdf"}, score=0.82, embedding=None
)
OPEN_SEARCH = {
    "took": 2,
    "timed_out": False,
    "hits": {
        "total": {"value": 1, "relation": "eq"},
        "max_score": 8.2,
        "hits": [
            {
                "_index": "manuals",
                "_id": "c7",
                "_score": 8.2,
                "_source": {"text": "Hold the button.", "source": "m.pdf"},
            }
        ],
    },
}
GIVEN: dict[str, dict[str, Any]] = {
    "LangChain": {"retriever": SimpleNamespace(invoke=lambda asked: [LANG_CHAIN])},
    "LlamaIndex": {"retriever": SimpleNamespace(retrieve=lambda asked: [LLAMA_INDEX])},
    "Haystack": {
        "pipeline": SimpleNamespace(run=lambda data: {"retriever": {"documents": [HAYSTACK]}})
    },
    "OpenSearch or Elasticsearch": {
        "client": SimpleNamespace(search=lambda index, body: OPEN_SEARCH)
    },
    "Anything else": {},
}
WRITTEN: dict[str, dict[str, Any]] = {
    "LangChain": {"metadata": {"source": "m.pdf"}},
    "LlamaIndex": {"chunk_id": "c7", "score": 0.82, "document_id": "m.pdf"},
    "Haystack": {"chunk_id": "c7", "score": 0.82, "metadata": {"source": "m.pdf"}},
    "OpenSearch or Elasticsearch": {
        "chunk_id": "c7",
        "score": 8.2,
        "metadata": {"_index": "manuals", "source": "m.pdf"},
    },
    "Anything else": {"chunk_id": "c7", "score": 0.82},
}


def test_each_library_has_an_example_of_at_most_five_lines() -> None:
    assert [name.split(" as ")[0] for name, _ in BLOCKS] == [*GIVEN]
    assert max(len(block.splitlines()) for _, block in BLOCKS) <= 5


@pytest.mark.parametrize(("heading", "block"), BLOCKS)
def test_an_example_records_what_the_library_returns(
    heading: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_RECORD", raising=False)
    name = heading.split(" as ")[0]
    exec(compile(block, name, "exec"), {"question": QUESTION, **GIVEN[name]})
    [line] = Path("retrieval.jsonl").read_text(encoding="utf-8").splitlines()
    found = json.loads(line)
    assert found["query"] == QUESTION
    assert found["results"] == [{"text": "Hold the button.", **WRITTEN[name]}]
