"""Every page of the app with its tabs, views and opened parts, as addresses."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

# The parameters of each page; in them {a} and {b} are runs, {query} a query, {facet} and {bucket}
# which queries, {person} a grader and {chunk} a chunk.
PLACES: Sequence[tuple[str, dict[str, str]]] = (
    ("/scores", {}),
    ("/scores", {"facet": "{facet}"}),
    ("/scores", {"facet": "{facet}", "bucket": "{bucket}", "measure": "nDCG@10"}),
    *(
        ("/scores", {"view": view})
        for view in (
            *("recall over k", "by task", "trend", "trust in recall", "ties", "keywords"),
            "how computed",
        )
    ),
    ("/compare", {"a": "{a}", "b": "{b}"}),
    ("/compare", {"a": "{a}", "b": "{b}", "numbers": "all"}),
    *(
        ("/compare", {"a": "{a}", "b": "{b}", "show": show})
        for show in ("Bars and scatter", "What moved most", "Perfect reranker", "Keywords")
    ),
    ("/compare", {"a": "{a}", "b": "{b}", "query": "{query}"}),
    ("/slices", {"a": "{a}", "b": "{b}", "facet": "{facet}"}),
    ("/slices", {"a": "{a}"}),
    ("/slices", {"a": "{a}", "facet": "{facet}", "other": "difficulty"}),
    ("/slices", {"a": "{a}", "b": "{b}", "facet": "{facet}", "numbers": "true"}),
    ("/queries", {"a": "{a}"}),
    ("/queries", {"a": "{a}", "b": "{b}", "numbers": "true"}),
    ("/queries", {"a": "{a}", "view": "Why they fail"}),
    ("/queries", {"a": "{a}", "query": "{query}"}),
    ("/queries", {"a": "{a}", "b": "{b}", "query": "{query}"}),
    ("/queries", {"a": "{a}", "query": "{query}", "part": "DCG table"}),
    ("/queries", {"a": "{a}", "query": "{query}", "part": "Pool"}),
    *(
        ("/review", {"review": section})
        for section in ("Work", "Agreement", "Disagreements", "Health")
    ),
    *(
        ("/review", {"review": "Comments", "show": show})
        for show in ("Can't tell", "Remarks on queries", "Notes")
    ),
    *(
        ("/data", {"section": section})
        for section in ("Load", "Download", "People", "Runs", "Queries", "Settings")
    ),
    ("/data", {"section": "People", "person": "{person}"}),
    ("/data", {"section": "Runs", "run": "{a}"}),
    ("/data", {"section": "Queries", "edit": "{query}"}),
    ("/data", {"section": "Queries", "new": "true"}),
    ("/data", {"section": "Queries", "show": "Candidates"}),
    *(
        ("/data", {"section": "Advanced", "show": show})
        for show in ("Versions", "Transfer", "Audit")
    ),
)


def addresses(**names: str) -> list[str]:
    """Return the addresses of all places, for the names of what there is; without what is not."""
    found = []
    for path, asked in PLACES:
        given = {
            key: names.get(value[1:-1], "") if value[:1] == "{" else value
            for key, value in asked.items()
        }
        query = urlencode({key: value for key, value in given.items() if value})
        found.append(f"{path}?{query}" if query else path)
    return list(dict.fromkeys(found))
