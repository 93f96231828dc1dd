"""Snapshot of what users see: writes outputs to a folder, and compares two such folders.

    python -m tests.support.snapshot write FOLDER [--collection NAME=FOLDER ...]
    python -m tests.support.snapshot compare BEFORE AFTER [--renamed FILE]

It uses only what stays when modules move: the command line, the public functions of the package,
the addresses of pages, and files. A collection is a folder with queries.jsonl, *.trec.gz and
qrels.txt or qrels/*.tsv, and with corpus.jsonl where its texts are known.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import click

from tests.support.differing import difference, read_renamed
from tests.support.making import Workplace, working_in

RENAMED = Path(__file__).parent / "renamed.txt"
SAMPLE, TENDED = "sample.db", "tended.db"
GATE = "sample_data/gate.toml"
GOLDEN_HASH = "6a773fc9"  # of the sample: with another one nothing else is worth a look
COLLECTIONS = ("Cranfield", "CODEC")  # the usual ones; others can be given, too

Make = Callable[[Workplace], str]

LOADED = [
    "load chunks sample_data/chunks.jsonl",
    "load chunks sample_data/chunks-v2.jsonl --chunking v2",
    "load documents sample_data/documents",
    "load queries sample_data/queries.jsonl",
    "load run sample_data/runs/bm25.trec --chunking '' --date 2026-01-12",
    "load run sample_data/runs/lsa.trec --chunking '' --date 2026-01-19",
    "load run sample_data/runs/hybrid.trec --chunking '' --date 2026-01-26",
    "load run sample_data/runs/hybrid-v2.trec --date 2026-02-02 --chunking v2",
    "load golden sample_data/judgments.jsonl",
    "load answers sample_data/answers.jsonl",
    "load signals sample_data/signals.csv",
]
WORKED_ON = [
    "freeze first --note 'what the release was measured by'",
    "load candidates sample_data/asked.csv --from log --facet channel",
    "candidates --most 5",
    "queries promote 7 --id q-106",
    "drop candidates 5",
    "split",
    "leakage leaked.txt --mark",
    "leakage --marked",
    "carry --from '' --to v2 --dry-run --list",
    "carry --from '' --to v2",
    "change run bm25 --system search",
    "change run hybrid --system search",
    "rename grader 'Marit Dahl' 'Marit D.'",
    "change setting budget 8",
    "change setting golden-rule 'upper median'",
    "change setting measures-by-task single='RR Success@1'",
    "queries retire q-003",
    "freeze second",
]

# --- what is recorded: commands on the sample, and on the sample after it was worked on ----------

COMMANDS: Mapping[str, Sequence[str]] = {
    "measures and settings": ["measures", "settings", "settings meanings"],
    "score": [
        "score",
        "score bm25 --rel 2 --budget 3",
        "score --preset trec_eval --format md",
        "score --reranked 20",
        "score --measures 'RBP infAP Bpref ERR@10 SetF'",
    ],
    "score by bucket": ["score --by intent", "score --by task --format md --measures R@budget"],
    "score per query": ["score bm25 hybrid --per-query --measures 'nDCG@10 R@budget AP RR'"],
    "score for programs": [
        "score --format json",
        "score --by task --format json --measures AP",
        "score --format csv",
        "score --per-query --format csv --measures R@budget",
    ],
    "score by keyword": ["score --keywords", "score --keywords --per-query --top 5 --substring"],
    "recall": ["recall", "recall hybrid --format json", "recall --measures R@10 --format csv"],
    "answers": ["answers", "answers --by task", "answers --per-query --format csv"],
    "compare": ["compare bm25 hybrid", "compare hybrid bm25 --measures R@budget --format md"],
    "compare by bucket": ["compare bm25 hybrid --by intent", "compare bm25 lsa --by task"],
    "compare for programs": [
        "compare bm25 hybrid --format json",
        "compare bm25 hybrid --by task --format csv --measures 'R@budget RR'",
    ],
    "compare per query": [
        "compare bm25 hybrid --per-query --measures RR",
        "compare bm25 lsa --strips",
    ],
    "compare under each grader": ["compare bm25 hybrid --graders"],
    "compare several": ["compare bm25 lsa hybrid", "compare hybrid hybrid-v2 --measures 'RR R@5'"],
    "gate": ["gate sample_data/gate.toml", "gate sample_data/gate.toml --run lsa --format md"],
    "gate for programs": [
        f"gate sample_data/gate.toml --format {kind}" for kind in ("json", "junit")
    ],
    "next": ["next bm25 hybrid", "next lsa hybrid --measure R@budget --count 5 --format json"],
    "trend": [
        "trend",
        "trend hybrid --measures nDCG@10 --points",
        "trend --by task --format md",
        "trend --signals",
        "trend hybrid --signals --format csv",
    ],
    "agreement": [
        "agreement --confusion --drift",
        "agreement --by task",
        "agreement --format json",
    ],
    "disagreements": ["disagreements", "disagreements --in task single --format json"],
    "health": ["health", "health --format json"],
    "leakage": ["leakage", "leakage sample_data/queries.jsonl --threshold 0.9 --format csv"],
    "report": [
        "report hybrid -o - --date 2026-03-01",
        "report bm25 hybrid -o - --date 2026-03-01 --by task",
    ],
    "lists": ["runs", "queries", "queries refund", "people", "versions", "versions --format json"],
    "refusals": [
        "score nothing",
        "score --measures nDCG@ten",
        "compare bm25 bm25",
        "compare bm25 hybrid --by colour",
        "gate leaked.txt",
        "load run leaked.txt",
        "load queries sample_data/runs/bm25.trec",
        "export x.jsonl --golden never",
        "diff never",
        "trend --bucket single",
        "score --chunking v3",
        "freeze ''",
    ],
}
COMMANDS_WORKED_ON: Mapping[str, Sequence[str]] = {
    "candidates": ["candidates", "candidates --state dropped", "candidates --format jsonl"],
    "history": [
        "history q-001",
        "history q-106 --format jsonl",
        "history q-029 --chunk 'shipping-eu#2'",
    ],
    "diff and versions": ["versions", "diff first", "diff first second --format json"],
    "score weighted and selected": [
        "score --weighted channel",
        "score --split dev --measures 'R@budget Judged@10'",
        "score --leaked without --measures AP",
        "score --golden first",
        "score --chunking v2",
    ],
    "compare weighted and selected": [
        "compare bm25 hybrid --split dev",
        "compare bm25 hybrid --golden first --measures R@budget",
        "compare hybrid hybrid-v2",
    ],
    "trend parts": [
        "trend search",
        "trend --between bm25 hybrid --grades 2026-02-18 --measures 'nDCG@10 R@budget'",
        "trend --between bm25 hybrid --grades first --format json",
    ],
    "audit": ["audit --most 200", "audit --kind freeze --format jsonl"],
}
EXPORTS: Mapping[str, Sequence[str]] = {
    "export JSONL": ["golden.jsonl"],
    "export qrels": ["golden.qrels"],
    "export CSV": ["golden.csv"],
    "export BEIR": ["golden-beir --format beir", "part-beir.zip --format beir --chunking v2"],
    "export Quepid": ["case.json --format quepid", "book.json --format quepid-book"],
    "export OpenSearch, RAGAS and ranx": [
        *(f"{kind}.json --format {kind}" for kind in ("opensearch", "ranx")),
        "ragas.jsonl --format ragas",
    ],
    "export log": ["events.jsonl --format events"],
    "export complete": ["complete.jsonl --complete"],
    "export run": [
        "bm25.trec --run bm25",
        "hybrid.json --run hybrid --format ranx",
        "hybrid.jsonl --run hybrid --format ragas",
    ],
}
EXPORTS_WORKED_ON: Mapping[str, Sequence[str]] = {
    "export part and version": [
        "dev.jsonl --split dev",
        "v2.qrels --chunking v2",
        "first.jsonl --format version --golden first",
    ],
}
# Addresses of pages, as links and bookmarks have them: a page without and with its parameters.
PAGES: Mapping[str, Sequence[str]] = {
    "page Label": ["/", "/?query=q-001", "/?intent=refund", "/?facet=task&bucket=single"],
    "page Scores": [
        "/scores",
        "/scores?view=by+task",
        "/scores?view=trend&runs=true&values=true&window=30+runs",
        "/scores?view=recall+over+k",
        "/scores?view=ties",
        "/scores?view=trust+in+recall",
        "/scores?view=keywords&missed=true",
        "/scores?facet=intent&measure=R@budget&measure=Judged@10",
        "/scores?chunking=v2",
    ],
    "page Compare": [
        "/compare",
        "/compare?a=bm25&b=hybrid",
        "/compare?a=bm25&b=hybrid&show=Bars+and+scatter",
        "/compare?a=bm25&b=hybrid&show=What+moved+most",
        "/compare?a=bm25&b=hybrid&show=What+moved+most&moved=documents",
        "/compare?a=bm25&b=hybrid&show=Perfect+reranker",
        "/compare?a=bm25&b=hybrid&show=Keywords",
        "/compare?a=bm25&b=hybrid&query=q-029&ranks=20",
        "/compare?a=hybrid&b=hybrid-v2",
    ],
    "page Slices": [
        "/slices",
        "/slices?a=bm25&facet=intent&numbers=true&keywords=true&least=5",
        "/slices?a=bm25&b=hybrid&facet=intent&numbers=true&measure=R@budget",
        "/slices?a=bm25&b=hybrid&facet=intent&other=difficulty",
    ],
    "page Queries": [
        "/queries",
        "/queries?a=bm25&b=hybrid",
        "/queries?a=hybrid&view=Why+they+fail",
        "/queries?a=hybrid&view=Retrieval+and+answer",
        "/queries?a=hybrid&query=q-029",
        "/queries?a=bm25&b=hybrid&query=q-067&part=DCG+table",
        "/queries?a=hybrid&query=q-067&part=Pool&top=top+20",
    ],
    "page Review": [
        "/review",
        "/review?review=Progress&facet=task",
        "/review?review=Health",
        "/review?review=Agreement",
        "/review?review=Disagreements",
        "/review?review=Can't+tell",
        "/review?review=Remarks+on+queries",
        "/review?review=Notes",
    ],
    "page Data": [
        "/data",
        "/data?section=Download",
        "/data?section=People",
        "/data?section=Runs",
        "/data?section=Queries",
        "/data?section=Queries&edit=q-001",
        "/data?section=Queries&new=true",
        "/data?section=Candidates",
        "/data?section=Carry+over",
        "/data?section=Versions",
        "/data?section=Settings",
        "/data?section=Audit",
    ],
}
OLD_ADDRESSES: Mapping[str, Sequence[str]] = {
    "old addresses of Label and Data": [
        "/?split=dev&leaked=without",
        "/?from=(unnamed)&to=v2",
        "/?intent=none",
        "/data?section=Candidates&take=1",
        "/data?section=Candidates&state=set+aside",
        "/data?section=Queries&which=retired",
        "/data?section=Versions&version=first",
        "/data?section=nothing",
        "/review?review=Carried+over",
        "/review?review=Disagreements&facet=task&bucket=single",
    ],
    "old addresses of Scores": [
        "/scores?split=dev&preset=trec_eval&measure=R@budget",
        "/scores?golden=first&facet=task&bucket=single",
        "/scores?weighted=channel",
        "/scores?chunking=*",
        "/scores?pin=lsa&hide=bm25&sort=R@budget",
        "/scores?run=lsa&run=hybrid&systems=true&find=s",
        "/scores?view=trend&system=search&parts=true&from=bm25&to=hybrid&drawn=R@5&facet=task",
        "/scores?view=holes",
        "/scores?measure=nDCG@ten",
        "/scores?golden=never",
    ],
    "old addresses of Compare and Slices": [
        "/compare?a=bm25&b=hybrid&measure=R@budget&by=R@budget&sort=best+for+B",
        "/compare?a=bm25&b=hybrid&also=lsa&facet=intent&bucket=refund&sort=query+text",
        "/compare?a=bm25&b=hybrid&golden=first&leaked=only",
        "/compare?a=bm25&b=hybrid&weighted=channel&split=test",
        "/compare?a=bm25&b=gone",
        "/slices?a=hybrid&facet=task&golden=first&preset=trec_eval",
        "/slices?a=bm25&b=hybrid&facet=difficulty&weighted=channel&split=dev",
        "/slices?a=bm25&facet=colour",
    ],
    "old addresses of Queries": [
        "/queries?run=hybrid",
        "/queries?run=hybrid&a=bm25",
        "/queries?a=hybrid&holes=30&sort=most+holes+first&measure=R@budget",
        "/queries?a=bm25&b=hybrid&loss=0.2&sort=largest+gain+first&by=R@budget",
        "/queries?a=hybrid&bar=R@budget&below=0.4&class=failing",
        "/queries?a=hybrid&facet=task&bucket=single&other=intent&crossing=refund",
        "/queries?a=hybrid&outcome=found+but+wrong&contains=the&task=single&split=dev",
        "/queries?a=hybrid&class=retrieved+too+low&golden=first",
        "/queries?a=hybrid&query=gone",
    ],
}
# Of a further collection, whose first two runs are A and B.
COLLECTION_COMMANDS = [
    "score",
    "score --format json",
    "score --preset trec_eval --measures 'nDCG@10 R@budget AP infAP RBP'",
    "score --per-query --format csv --measures 'R@budget nDCG@10'",
    "compare {a} {b}",
    "compare {a} {b} --format json",
    "compare {a} {b} --per-query --measures R@budget",
    "recall",
    "next {a} {b}",
    "trend",
    "health",
    "leakage",
    "versions",
    "check",
    "export - --format qrels",
    "report {a} {b} -o - --date 2026-03-01",
]
COLLECTION_PAGES = [
    *("/", "/scores", "/scores?view=trend", "/scores?view=recall+over+k", "/compare"),
    *("/compare?show=What+moved+most", "/compare?sort=best+for+B&measure=R@budget", "/slices"),
    *("/queries", "/queries?view=Why+they+fail", "/review?review=Progress", "/data"),
]


def outputs(collections: Mapping[str, Path]) -> dict[str, Make | None]:
    """Return how each output is made, by its name; None for those of a collection not given."""
    made: dict[str, Make | None] = {
        "golden hash and seals": hash_and_seals,
        "program's help": lambda place: place.helps(place.fetch(SAMPLE)),
    }
    made |= {name: _commands(SAMPLE, lines) for name, lines in COMMANDS.items()}
    made |= {name: _exports(SAMPLE, lines) for name, lines in EXPORTS.items()}
    made |= {name: _pages(SAMPLE, each, GATE) for name, each in PAGES.items()}
    made["work on the set"] = work_on
    made |= {name: _commands(TENDED, lines) for name, lines in COMMANDS_WORKED_ON.items()}
    made |= {name: _exports(TENDED, lines) for name, lines in EXPORTS_WORKED_ON.items()}
    made |= {name: _pages(TENDED, each) for name, each in OLD_ADDRESSES.items()}
    made["old exports loaded again"] = Workplace.load_old
    made["old golden set opened"] = Workplace.open_old
    made["served addresses"] = lambda place: place.serve(place.fetch(SAMPLE))
    made["Python functions"] = lambda place: place.call(place.fetch(SAMPLE))
    made["Python names and measures"] = Workplace.names
    for name in dict.fromkeys([*COLLECTIONS, *collections]):
        folder = collections.get(name)
        made[f"{name} commands"] = folder and partial(_of_collection, name, folder)
        made[f"{name} pages"] = folder and _pages(f"{name}.db", COLLECTION_PAGES)
    made["style sheets of pages"] = Workplace.styles  # last: of all pages that were opened
    return made


def _commands(golden_set: str, lines: Sequence[str]) -> Make:
    return lambda place: place.run_all(lines, place.fetch(golden_set))


def _exports(golden_set: str, lines: Sequence[str]) -> Make:
    return lambda place: place.export(lines, place.fetch(golden_set))


def _pages(golden_set: str, addresses: Sequence[str], gate: str = "") -> Make:
    return lambda place: place.open_pages(addresses, place.fetch(golden_set), gate)


def hash_and_seals(place: Workplace) -> str:
    """Make the sample and a copy to work on; end the program where its golden hash is another."""
    loads = place.run_all(LOADED, SAMPLE)
    said = place.run_all(["versions", "check", "export golden.seal.jsonl"], SAMPLE)
    found = re.search(r"golden:? ([0-9a-f]{8})", said)
    if found is None or found[1] != GOLDEN_HASH:
        raise click.ClickException(
            f"the sample's golden hash is {found and found[1]}, not {GOLDEN_HASH}:\n{loads}"
        )
    place.keep(SAMPLE)
    place.keep(SAMPLE, TENDED)
    seal = Path("golden.seal.jsonl.seal.txt").read_text(encoding="utf-8")
    against = place.run("check --against golden.seal.jsonl.seal.txt", SAMPLE)
    return f"{loads}{said}{place.clean(seal)}{against}"


def _of_collection(name: str, folder: Path, place: Workplace) -> str:
    runs = place.load_collection(name, folder)
    lines = [line.format(a=runs[0], b=runs[1]) for line in COLLECTION_COMMANDS]
    return place.run_all(lines, place.fetch(f"{name}.db"))


def work_on(place: Workplace) -> str:
    """Tend a copy of the sample, as a team does over time."""
    place.fetch(TENDED)
    said = place.run_all(WORKED_ON, TENDED)
    place.keep(TENDED)
    return said


@click.group()
def main() -> None:
    """Record what users see, and compare it with what they saw before."""


@main.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--collection", "given", multiple=True, metavar="NAME=FOLDER")
def write(folder: Path, given: Sequence[str]) -> None:
    """Write every output to a file in FOLDER."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    named = (each.partition("=") for each in given)
    collections = {name: Path(place).resolve() for name, _, place in named}
    every = outputs(collections)
    began, count = time.process_time(), 0
    with tempfile.TemporaryDirectory() as work, working_in(Path(work)) as place:
        for name, make in every.items():
            path = folder / f"{name}.txt"
            if make is None:
                path.unlink(missing_ok=True)
                click.echo(f"skipped: {name} (not given)")
                continue
            path.write_text(make(place), encoding="utf-8", newline="\n")
            count += 1
    spent = time.process_time() - began
    click.echo(f"{count} of {len(every)} outputs written in {spent:.0f} s of processor time")


@main.command()
@click.argument("before", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("after", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--renamed", type=click.Path(exists=True, path_type=Path), default=RENAMED)
def compare(before: Path, after: Path, renamed: Path) -> None:
    """Compare the outputs of two folders; ends with 1 where any differs."""
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.txt")})
    table = read_renamed(renamed)
    differing = 0
    for name in names:
        lines = difference(before / name, after / name, table)
        differing += bool(lines)
        click.echo("".join(f"{line}\n" for line in lines), nl=False)
    click.echo(f"{len(names) - differing} of {len(names)} outputs equal")
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
