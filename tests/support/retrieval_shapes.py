"""Files of tools that hold questions with their results: two questions, three chunks, small each.

Each is made after the published description of its tool. What a file brings is said here once, for
the tests that load it and for the table in the documentation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "formats" / "retrieval_shapes"
REFUND, PARCEL = "How long does a refund take?", "Where is my parcel?"
TEXTS = {
    "c1": "A refund takes three days.",
    "c2": "Parcels arrive within five days.",
    "c3": "Write to us by e-mail.",
}
Lists = Mapping[str, Sequence[str]]
LISTS: Lists = {REFUND: ["c1", "c2"], PARCEL: ["c2", "c3"]}
TURNED: Lists = {REFUND: ["c2", "c1"], PARCEL: ["c3", "c2"]}
Grades = Mapping[tuple[str, str], int]
FIRST: Grades = {(REFUND, "c1"): 1, (PARCEL, "c2"): 1}
THREE_AND_ONE: Grades = {
    (REFUND, "c1"): 3,
    (REFUND, "c2"): 1,
    (PARCEL, "c2"): 3,
    (PARCEL, "c3"): 1,
}


def graded(first: int, second: int) -> Grades:
    """Return the same two grades for the first and the second chunk of each list."""
    return {
        (asked, chunk): grade
        for asked, ids in LISTS.items()
        for chunk, grade in zip(ids, (first, second), strict=True)
    }


@dataclass(frozen=True)
class Shape:
    """What a file brings. Ids are those of the file, or else made of the texts.

    ``texts`` says whether it has the chunks' texts, ``asked`` whether it has the questions'.
    """

    runs: Mapping[str, Lists] | None = None  # None: one run, called as the file
    grades: Grades = field(default_factory=dict)
    options: tuple[str, ...] = ()
    chunk_ids: Mapping[str, str] | None = None  # ids in the file, by those here; None: no ids
    texts: bool = True
    asked: bool = True


SAME = {each: each for each in TEXTS}
NUMBERS = {"c1": "1", "c2": "2", "c3": "3"}
IN_VESPA = {each: f"id:help:doc::{each}" for each in TEXTS}

SHAPES: dict[str, Shape] = {
    "langfuse.jsonl": Shape(chunk_ids=SAME),
    "langfuse.csv": Shape(chunk_ids=SAME),
    "langfuse_page.json": Shape(chunk_ids=SAME),
    "langsmith.jsonl": Shape(chunk_ids=SAME),
    "langsmith.csv": Shape(chunk_ids=SAME),
    "langsmith_examples.jsonl": Shape(runs={}, grades=FIRST),
    "langchain_retrieval_qa.jsonl": Shape(chunk_ids=SAME),
    "langchain_retrieval_chain.jsonl": Shape(chunk_ids=SAME),
    "langchain_scores.jsonl": Shape(chunk_ids=SAME),
    "langchain_dumps.jsonl": Shape(chunk_ids=SAME),
    "llamaindex_response.jsonl": Shape(chunk_ids=SAME),
    "llamaindex_nodes.jsonl": Shape(chunk_ids=SAME),
    "llamaindex_media.json": Shape(chunk_ids=SAME),
    "llamaindex_evaluator.csv": Shape(chunk_ids=SAME, grades=FIRST),
    "llamaindex_finetune.json": Shape(runs={}, chunk_ids=SAME, grades=FIRST),
    "haystack.jsonl": Shape(chunk_ids=SAME),
    "haystack_two.jsonl": Shape(chunk_ids=SAME, runs={"bm25": LISTS, "ranker": TURNED}),
    "ragas.jsonl": Shape(chunk_ids=SAME, grades=FIRST),
    "ragas_texts.jsonl": Shape(grades=FIRST),
    "ragas.csv": Shape(grades=FIRST),
    "ragas_0_1.json": Shape(),
    "ragas_testset_0_1.csv": Shape(runs={}, grades=FIRST),
    "ragas_testset.jsonl": Shape(runs={}, grades=FIRST),
    "deepeval_goldens.json": Shape(grades=FIRST),
    "deepeval.csv": Shape(grades=FIRST),
    "deepeval_test_run.json": Shape(grades=FIRST),
    "elasticsearch.jsonl": Shape(chunk_ids=SAME),
    "elasticsearch_beside.jsonl": Shape(chunk_ids=SAME),
    "elasticsearch_result.jsonl": Shape(chunk_ids=SAME),
    "elasticsearch_msearch.json": Shape(chunk_ids=SAME),
    "elasticsearch_rank_eval.json": Shape(
        runs={}, chunk_ids=SAME, texts=False, grades=graded(3, 0)
    ),
    "tutorial_eval_set.json": Shape(runs={}, chunk_ids=SAME, texts=False, grades=FIRST),
    "tutorial_test_queries.json": Shape(
        runs={},
        chunk_ids=SAME,
        grades={(REFUND, "c1"): 3, (REFUND, "c2"): 1, (PARCEL, "c2"): 3},
    ),
    "tutorial_test_questions.jsonl": Shape(runs={}),
    "trulens.jsonl": Shape(),
    "trulens_ground_truth.json": Shape(runs={}, grades=FIRST),
    "weave.jsonl": Shape(chunk_ids=SAME),
    "opik.jsonl": Shape(chunk_ids=SAME),
    "helicone.jsonl": Shape(chunk_ids=SAME),
    "pinecone.jsonl": Shape(chunk_ids=SAME),
    "pinecone_search.jsonl": Shape(chunk_ids=SAME),
    "vectara.jsonl": Shape(),
    "cohere.jsonl": Shape(runs={"rerank-v3.5 input": LISTS, "rerank-v3.5 output": TURNED}),
    "vespa.jsonl": Shape(chunk_ids=IN_VESPA),
    "weaviate.jsonl": Shape(chunk_ids=SAME),
    "weaviate_objects.jsonl": Shape(chunk_ids=SAME),
    "qdrant.jsonl": Shape(chunk_ids=NUMBERS),
    "qdrant_points.jsonl": Shape(chunk_ids=NUMBERS),
    "chroma.jsonl": Shape(chunk_ids=SAME),
    "solr.jsonl": Shape(chunk_ids=SAME),
    "mteb_predictions.json": Shape(
        runs={"acme/small-embedder": {"q1": ["c1", "c2"], "q2": ["c2", "c3"]}},
        chunk_ids=SAME,
        texts=False,
        asked=False,
    ),
    "sentence_transformers.jsonl": Shape(chunk_ids=SAME, texts=False),
    "ms_marco.jsonl": Shape(runs={}, grades=graded(1, 0)),
    "ms_marco_columns.jsonl": Shape(runs={}, grades=graded(1, 0)),
    "ms_marco_top1000.tsv": Shape(chunk_ids=SAME, options=("--map", "ms-marco-top1000")),
    "rre.json": Shape(runs={}, chunk_ids=SAME, texts=False, grades=THREE_AND_ONE),
    "label_studio.json": Shape(runs={}, chunk_ids=SAME, grades=THREE_AND_ONE),
    "label_studio_ranker.json": Shape(
        runs={},
        chunk_ids=SAME,
        grades=graded(2, 0),
        options=("--grade-map", "relevant=2,not_relevant=0"),
    ),
    "openinference_otlp.jsonl": Shape(chunk_ids=SAME),
    "openinference_otlp.json": Shape(chunk_ids=SAME),
    "openinference_reranker.jsonl": Shape(
        runs={"openinference_reranker": LISTS, "CohereRerank output": TURNED}, chunk_ids=SAME
    ),
    "opentelemetry_genai.jsonl": Shape(chunk_ids=SAME, texts=False),
    "phoenix_spans.jsonl": Shape(chunk_ids=SAME),
    "phoenix_spans.csv": Shape(chunk_ids=SAME),
    "phoenix_documents.csv": Shape(),
    "argilla.json": Shape(runs={}, chunk_ids=SAME, grades=graded(2, 1)),
}
