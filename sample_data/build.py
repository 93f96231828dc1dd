"""Makes the sample data anew: cuts the documents, lets three systems retrieve, writes the grades.

Run it with ``python sample_data/build.py [OUTPUT]``. It reads ``documents/``, ``queries.jsonl`` and
``answer_key.jsonl`` beside this file, and writes ``chunks.jsonl``, ``chunks-v2.jsonl``, ``runs/``,
``judgments.jsonl`` and ``signals.csv`` beside them or into OUTPUT. The same input gives the same
bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from systems import Lists, Record, bm25, hybrid, lsa

HERE = Path(__file__).resolve().parent

LONGEST_CHUNK = 170  # words; a paragraph is never cut, so one chunk is longer
PIECE = 350  # characters of a chunk of the second chunking, about
POOL_DEPTH = 10
COVERAGE = 0.6  # of the pool is graded; the rest is left for whoever tries the app
TWICE = 0.25  # of the graded pairs get a second opinion, besides those named in the key
GRADERS = ("Marit Dahl", "Joaquín Reyes")
FIRST_DAY = datetime(2026, 2, 16, tzinfo=UTC)

# Which system answered from which day on, and what came of it: per visit, and of how many visits.
SERVED = {"bm25": datetime(2026, 1, 12, tzinfo=UTC), "hybrid": datetime(2026, 1, 26, tzinfo=UTC)}
LAST_DAY = datetime(2026, 2, 15, tzinfo=UTC)
SIGNALS = {
    "ctr": {"bm25": 0.41, "hybrid": 0.47},
    "thumbs_up": {"bm25": 0.62, "hybrid": 0.66},
    "abstained": {"bm25": 0.09, "hybrid": 0.08},
}
VISITS = {"ctr": 900, "thumbs_up": 70, "abstained": 900}

Pair = tuple[str, str]  # query id, chunk id


# Documents -> chunks


def documents() -> list[Path]:
    """Return the documents in the order of their names."""
    return sorted((HERE / "documents").glob("*.md"))


def cut(path: Path) -> list[Record]:
    """Return the chunks of one document; positions count from 1."""
    text = path.read_text(encoding="utf-8")
    _, *sections = re.split(r"(?m)^## ", text)
    parts = [part for section in sections for part in split_section(section)]
    return [record(path, text, *part, position) for position, part in enumerate(parts, start=1)]


def record(path: Path, document: str, heading: str, text: str, position: int) -> Record:
    """Return the record of a chunk; ids count from 1 in each document, in each chunking anew."""
    name = re.search(r"(?m)^# (.+)$", document)
    kind = re.search(r"<!-- kind: (\S+) -->", document)
    if name is None or kind is None:
        raise SystemExit(f"{path}: a document needs '# Title' and '<!-- kind: ... -->' on top")
    return {
        "chunk_id": f"{path.stem}#{position}",
        "document_id": path.stem,
        "position": position,
        "title": f"{name[1]} › {heading}",
        "text": text,
        "metadata": {"kind": kind[1]},
    }


def split_section(section: str) -> list[tuple[str, str]]:
    """Split a section that is too long between paragraphs; later parts say (2), (3) and so on."""
    heading, _, body = section.partition("\n")
    parts: list[str] = []
    for paragraph in paragraphs(body.strip()):
        if parts and len(f"{parts[-1]} {paragraph}".split()) <= LONGEST_CHUNK:
            parts[-1] += "\n\n" + paragraph
        else:
            parts.append(paragraph)
    names = [heading] + [f"{heading} ({number})" for number in range(2, len(parts) + 1)]
    return list(zip(names, parts, strict=True))


def paragraphs(body: str) -> list[str]:
    """Split at empty lines, but never inside a fenced block."""
    blocks = re.split(r"(?ms)(^```.*?^```$)", body)
    return [
        piece.strip("\n")
        for number, block in enumerate(blocks)
        for piece in ([block] if number % 2 else re.split(r"\n{2,}", block))
        if piece.strip()
    ]


# Documents -> chunks of a second chunking


def cut_again(path: Path) -> list[Record]:
    """Return the chunks of one document in pieces of about PIECE characters, with their places."""
    text = path.read_text(encoding="utf-8")
    found = [(title, at) for title, *of in sections(text) for at in pieces(text, *of)]
    return [
        record(path, text, title, text[start:end], position) | {"start": start, "end": end}
        for position, (title, (start, end)) in enumerate(found, start=1)
    ]


def sections(text: str) -> list[tuple[str, int, int]]:
    """Return the sections of a document: heading, and where the text under it begins and ends."""
    heads = list(re.finditer(r"(?m)^## (.+)\n", text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return [(head[1], head.end(), end) for head, end in zip(heads, ends, strict=True)]


def pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a section into pieces of like length, at the ends of sentences and lines."""
    places = [start + at.end() for at in re.finditer(r"(?<=[.!?])\s+|\n+", text[start:end])]
    parts = math.ceil((end - start) / PIECE)
    goals = [start + (end - start) * part // parts for part in range(1, parts)]
    cuts = sorted({min(places, key=lambda at: abs(at - goal)) for goal in goals})
    found = zip([start, *cuts], [*cuts, end], strict=True)
    return [trimmed(text, *each) for each in found if text[slice(*each)].strip()]


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a place without the blanks at its ends."""
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


# Answer key -> judgments


def read_key(path: Path, chunks: Sequence[Record]) -> list[Record]:
    """Read the answer key and put chunk ids where it names a document and a heading."""
    ids = {place(chunk): chunk["chunk_id"] for chunk in chunks}
    if len(ids) < len(chunks):
        raise SystemExit("a heading stands twice in one document, so the key cannot name it")
    key = read_jsonl(path)
    for entry in key:
        said = [opinion["chunk"] for opinion in entry["opinions"]]
        marked = entry.setdefault("evidence", {})
        unknown = {*entry["grades"], *entry["found_by_hand"], *said, *marked} - set(ids)
        if unknown:
            raise SystemExit(f"{path}: {entry['query_id']}: no such chunk: {sorted(unknown)}")
        entry["grades"] = {ids[name]: grade for name, grade in entry["grades"].items()}
        entry["found_by_hand"] = [ids[name] for name in entry["found_by_hand"]]
        entry["opinions"] = {ids[opinion["chunk"]]: opinion for opinion in entry["opinions"]}
        entry["evidence"] = {ids[name]: quotes for name, quotes in marked.items()}
    return key


def place(chunk: Record) -> str:
    """Name a chunk as the key does: its document and its heading."""
    return f"{chunk['document_id']} > {chunk['title'].rpartition(' › ')[2]}"


def chance(*what: str) -> float:
    """Return a number from 0 to 1 that is always the same for the same words."""
    digest = hashlib.sha256("\t".join(what).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def pool_of(systems: Iterable[Lists], query_id: str) -> list[str]:
    """Return the chunks that any system has in its top 10, by id."""
    return sorted({chunk for lists in systems for chunk, _ in lists[query_id][:POOL_DEPTH]})


def choose_pairs(key: Sequence[Record], systems: Sequence[Lists]) -> list[Pair]:
    """Choose what has been graded so far: what the key demands, then by lot up to COVERAGE."""
    demanded: list[Pair] = []
    optional: list[Pair] = []
    size = 0
    for entry in key:
        pool = pool_of(systems, entry["query_id"])
        size += len(pool)
        for chunk_id in pool:
            pair = (entry["query_id"], chunk_id)
            if is_demanded(entry, chunk_id, pool):
                demanded.append(pair)
            elif entry["graded"] == "some":
                optional.append(pair)
    optional.sort(key=lambda pair: chance("graded", *pair))
    by_hand = [(entry["query_id"], chunk) for entry in key for chunk in entry["found_by_hand"]]
    return sorted({*demanded, *optional[: int(COVERAGE * size) - len(demanded)], *by_hand})


def is_demanded(entry: Record, chunk_id: str, pool: Sequence[str]) -> bool:
    """Say whether a chunk has to be graded: whole queries, opinions, and one good answer each."""
    if entry["graded"] != "some":
        return bool(entry["graded"] == "all")
    best = max(pool, key=lambda chunk: (entry["grades"].get(chunk, 0), chance("best", chunk)))
    return chunk_id in entry["opinions"] or (chunk_id == best and chunk_id in entry["grades"])


def judge(key: Sequence[Record], chunks: Sequence[Record], pairs: Sequence[Pair]) -> list[Record]:
    """Write the event log of both graders, oldest first."""
    texts = {chunk["chunk_id"]: chunk["text"] for chunk in chunks}
    words = {chunk_id: len(text.split()) for chunk_id, text in texts.items()}
    entries = {entry["query_id"]: entry for entry in key}
    events = []
    for name in GRADERS:
        mine = [pair for pair in pairs if name in who_graded(entries[pair[0]], pair)]
        mine.sort(key=lambda pair: (chance(name, pair[0]), chance(name, *pair)))
        times = sittings(name, [(pair, words[pair[1]]) for pair in mine])
        for pair, (elapsed, moment) in zip(mine, times, strict=True):
            entry = entries[pair[0]]
            grade, note = verdict(entry, pair[1], name)
            quotes = (
                entry["evidence"].get(pair[1]) if grade == entry["grades"].get(pair[1]) else None
            )
            given = event(pair, name, grade, note, elapsed, moment)
            events.append(given | (evidence(texts[pair[1]], quotes) if quotes else {}))
    return sorted(events, key=lambda event: (event["created_at"], event["event_id"]))


def who_graded(entry: Record, pair: Pair) -> set[str]:
    """Return one grader or both; whoever differs from the key never stands alone."""
    said = entry["opinions"].get(pair[1])
    if chance("twice", *pair) < TWICE:
        return set(GRADERS)
    if said is None:
        return {GRADERS[chance("who", *pair) < 0.45]}
    return {said["grader"]} if said["grade"] == entry["grades"].get(pair[1], 0) else set(GRADERS)


def verdict(entry: Record, chunk_id: str, name: str) -> tuple[int, str | None]:
    """Return grade and note: the key's grade, unless this grader sees it differently."""
    said = entry["opinions"].get(chunk_id)
    if said and said["grader"] == name:
        return said["grade"], said["note"]
    by_hand = chunk_id in entry["found_by_hand"]
    return entry["grades"].get(chunk_id, 0), "Found by hand in the documents." if by_hand else None


def sittings(name: str, work: Sequence[tuple[Pair, int]]) -> list[tuple[int, datetime]]:
    """Return how long each grade took in ms and when it was given: about 70 a day, no weekends."""
    times: list[tuple[int, datetime]] = []
    day = clock = FIRST_DAY
    left = 0
    for pair, words in work:
        if not left:
            while times and (day.date() == times[-1][1].date() or day.weekday() > 4):
                day += timedelta(days=1)
            left = 55 + int(30 * chance("many", name, str(day)))
            clock = day + timedelta(hours=8, seconds=int(9000 * chance("start", name, str(day))))
        spent = chance("elapsed", name, *pair)
        elapsed = int(1800 + 90 * min(words, 160) * (0.4 + spent) + 25_000 * spent**9)
        clock += timedelta(milliseconds=elapsed + int(900 * chance("gap", name, *pair)))
        times.append((elapsed, clock))
        left -= 1
    return times


def event(
    pair: Pair, grader: str, grade: int, note: str | None, elapsed: int, moment: datetime
) -> Record:
    """Return one line of the log."""
    address = "/".join(["https://pellamy.example/judgments", *pair, grader])
    return {
        "event_id": str(uuid.uuid5(uuid.NAMESPACE_URL, address)),
        "query_id": pair[0],
        "chunk_id": pair[1],
        "grader": grader,
        "kind": "grade",
        "grade": grade,
        "reason": None,
        "note": note,
        "blind": True,
        "source": "sample_data",
        "undoes": None,
        "elapsed_ms": elapsed,
        "created_at": f"{moment.isoformat(timespec='milliseconds')[:-6]}Z",
    }


def evidence(text: str, quotes: Sequence[str]) -> Record:
    """Say where in a text the words are that made a grade, and by its hash in which text."""
    if missing := [quote for quote in quotes if quote not in text]:
        raise SystemExit(f"the key quotes what the chunk does not say: {missing}")
    starts = [text.index(quote) for quote in quotes]
    return {
        "text_hash": hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
        "evidence": [[at, at + len(quote)] for at, quote in zip(starts, quotes, strict=True)],
    }


# Files in and out


# What visitors did


def signals() -> list[str]:
    """Return a line for each system, day and signal, under a header."""
    starts = [*SERVED.items()]
    ends = [day for _, day in starts[1:]] + [LAST_DAY + timedelta(days=1)]
    lines = ["date,system,name,value,n"]
    for (system, start), end in zip(starts, ends, strict=True):
        for day in range((end - start).days):
            date = f"{start + timedelta(days=day):%Y-%m-%d}"
            lines += [heard(date, system, name) for name in SIGNALS]
    return lines


def heard(date: str, system: str, name: str) -> str:
    """Return one day's value of a signal: its rate, and what looks like chance around it."""
    n = round(VISITS[name] * (0.85 + 0.3 * chance("visits", name, date)))
    around = 2 * (chance("signal", name, date) + chance("again", name, date)) - 2
    rate = SIGNALS[name][system]
    counted = round(n * rate + around * math.sqrt(n * rate * (1 - rate)))
    return f"{date},{system},{name},{counted / n:.4f},{n}"


def read_jsonl(path: Path) -> list[Record]:
    """Read one record a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_jsonl(path: Path, records: Iterable[Record]) -> None:
    """Write one record a line, in UTF-8 and with letters as they are."""
    write(path, (json.dumps(record, ensure_ascii=False) for record in records))


def write_run(path: Path, lists: Lists) -> None:
    """Write a run as TREC does: query, Q0, chunk, rank, score, system."""
    write(
        path,
        (
            f"{query_id} Q0 {chunk_id} {rank} {score:.6f} {path.stem}"
            for query_id, ranking in lists.items()
            for rank, (chunk_id, score) in enumerate(ranking, start=1)
        ),
    )


def write(path: Path, lines: Iterable[str]) -> None:
    """Write lines that end alike on every system."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


# What it came to


def ndcg(ranking: Sequence[tuple[str, float]], grades: dict[str, int]) -> float | None:
    """Return nDCG@10 with gain 2^grade - 1; None if nothing is relevant."""
    ideal = gain(sorted(grades.values(), reverse=True))
    return gain([grades.get(chunk_id, 0) for chunk_id, _ in ranking]) / ideal if ideal else None


def gain(grades: Sequence[int]) -> float:
    """Return DCG@10."""
    return sum((2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades[:10], 1))


def summarize(queries: Sequence[Record], runs: dict[str, Lists], events: Sequence[Record]) -> None:
    """Print nDCG@10 against what has been graded, overall and per task and intent."""
    golden: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for line in events:  # two graders: the lower grade counts
        known = golden[line["query_id"]].setdefault(line["chunk_id"], line["grade"])
        golden[line["query_id"]][line["chunk_id"]] = min(known, line["grade"])
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for query in queries:
        for name in ["all", f"task={query['task']}", f"intent={query['buckets']['intent']}"]:
            groups[name].append(query["query_id"])
    print(f"{'nDCG@10 (2^g-1)':<24}{'n':>4}" + "".join(f"{name:>9}" for name in runs))
    for name, members in sorted(groups.items()):
        cells, counted = [], 0
        for lists in runs.values():
            values = [ndcg(lists[query_id], golden[query_id]) for query_id in members]
            defined = [value for value in values if value is not None]
            counted = len(defined)
            cells.append(f"{sum(defined) / max(counted, 1):9.4f}")
        print(f"{name:<24}{counted:>4}" + "".join(cells))


def main(output: Path) -> None:
    """Build everything into ``output``."""
    chunks = [each for path in documents() for each in cut(path)]
    again = [each for path in documents() for each in cut_again(path)]
    queries = read_jsonl(HERE / "queries.jsonl")
    key = read_key(HERE / "answer_key.jsonl", chunks)
    runs = {"bm25": bm25(chunks, queries), "lsa": lsa(chunks, queries)}
    runs["hybrid"] = hybrid(chunks, queries, runs["bm25"], runs["lsa"])
    events = judge(key, chunks, choose_pairs(key, list(runs.values())))
    write_jsonl(output / "chunks.jsonl", chunks)
    write_jsonl(output / "chunks-v2.jsonl", again)
    of_again = {"hybrid-v2": hybrid(again, queries, bm25(again, queries), lsa(again, queries))}
    for name, lists in (runs | of_again).items():
        write_run(output / "runs" / f"{name}.trec", lists)
    write_jsonl(output / "judgments.jsonl", events)
    write(output / "signals.csv", signals())
    print(f"{len(chunks)} chunks, {len(again)} cut again, {len(queries)} queries", end=", ")
    print(f"{len(events)} judgments in {output}\n")
    summarize(queries, runs, events)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
