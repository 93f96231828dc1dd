"""Write trec_eval_pool.json: what pytrec_eval says where some of the pool is ungraded (-1).

Run by hand from the project's top, and only to change the data:
``python tests/goldens/make_pool.py``.
"""

from __future__ import annotations

import json
import random
from importlib.metadata import version
from pathlib import Path

import pytrec_eval

SEED = 2006
TARGET = Path(__file__).with_name("trec_eval_pool.json")
NAMES = {
    "infAP(rel=1)": "infAP",
    "Bpref(rel=1)": "bpref",
    "AP(rel=1)": "map",
    "P(rel=1)@5": "P_5",
    "nDCG(dcg='log2')@10": "ndcg_cut_10",
    **{f"IPrec(rel=1)@{recall}": f"iprec_at_recall_{recall}0" for recall in ("0.0", "0.1", "0.5")},
}
MEASURES = {"infAP", "bpref", "map", "P.5", "ndcg_cut.10", "iprec_at_recall.0.0,0.1,0.5"}


def main() -> None:
    """Write the file."""
    draw = random.Random(SEED)
    chunks = [f"c{number}" for number in range(40)]
    qrels = {
        f"q{number}": {
            **{chunk: draw.choice([-1, -1, 0, 0, 1, 2, 3]) for chunk in draw.sample(chunks, 24)},
            "known": draw.choice([1, 2]),
        }
        for number in range(8)
    }
    runs = {
        name: {
            query: {chunk: round(draw.random(), 3) for chunk in draw.sample([*chunks, "known"], 25)}
            for query in qrels
        }
        for name in ("first", "second")
    }
    values = [
        {
            "run": name,
            "measure": ours,
            "values": {query: row[theirs] for query, row in rows.items()},
        }
        for name, run in runs.items()
        for rows in [pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)]
        for ours, theirs in NAMES.items()
    ]
    header = {
        "tool": "pytrec_eval-terrier",
        "version": version("pytrec_eval-terrier"),
        "command": "python tests/goldens/make_pool.py",
    }
    content = {"header": header, "qrels": qrels, "runs": runs, "values": values}
    TARGET.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
