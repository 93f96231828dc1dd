"""Outputs that users see, made in a folder of their own: by commands, pages, Python and HTTP."""

from __future__ import annotations

import gzip
import inspect
import io
import json
import logging
import os
import re
import shlex
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pandas as pd
from click.testing import CliRunner
from streamlit.logger import set_log_level

import labeler
from labeler import measures
from labeler.cli import main as program
from tests.support.pages import Recorder, file_lines

ROOT = Path(__file__).parents[2]
OLD = Path(__file__).parent / "old"
WIDTH, HELP_WIDTH = 100, 1_000  # the second so wide that no line is wrapped anew for another word
UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
MOMENT = re.compile(
    r"\b(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,]\d+)?)?(?:Z|\+00:00)?)?(?![\d:])"
)
SEAL = re.compile(r"\b\d+-\d+-[0-9a-f]{16,64}\b")
NOISE = [
    (re.compile(r'("start": )"[0-9a-f]{32}"'), r'\1"<server>"'),
    (re.compile(r"(older than|of) [\d,]+ days"), r"\1 <n> days"),
    (re.compile(r'("(?:median|oldest)": )[\d.e+-]+'), r"\1<n>"),
    (re.compile(r"^SQLite: .*$", re.MULTILINE), "SQLite: <version>"),
    (re.compile(r"127\.0\.0\.1:\d+|localhost:\d+"), "<server>"),
]
SERVED = [
    *("/", "/label?query=q-001", "/scores", "/compare?a=bm25&b=hybrid", "/slices", "/queries"),
    *("/review", "/data", "/leave", "/join/nobody", "/login/nobody", "/api/next", "/api/query"),
    *("/api/judgments", "/api/disagreements", "/api/live", "/scripts/0/none.js", "/nothing"),
]
NOISY = ("runtime.scriptrunner_utils.script_run_context", "elements.lib.policies")
PATIENCE = 60  # seconds for a server to start


class Workplace:
    """A folder in which golden sets are made and looked at; the process works in it.

    With relative names only, nothing that is said depends on where it lies.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.began = datetime.now(UTC)
        shutil.copytree(ROOT / "sample_data", folder / "sample_data")
        shutil.copytree(OLD, folder / "old")
        self.known = set(UUID.findall((ROOT / "sample_data" / "judgments.jsonl").read_text()))
        self.known.update(path.read_text().strip() for path in OLD.glob("*.seal.txt"))
        self.pages = Recorder(self.clean)
        texts = [json.loads(line) for line in _lines_of(folder / "sample_data/queries.jsonl")[:3]]
        leaked = "".join(f"{each.get('query') or each.get('text')}\n" for each in texts)
        (folder / "leaked.txt").write_text(leaked, encoding="utf-8")

    # --- text that is the same in each run ---

    def clean(self, text: str) -> str:
        """Replace what is another in each run: moments, ids drawn at random, paths, ages."""
        for path, name in ((self.folder.resolve(), "<work>"), (ROOT, "<repo>")):
            text = text.replace(str(path), name)
        for pattern, name in ((UUID, "<uuid>"), (SEAL, "<seal>")):
            text = pattern.sub(lambda at, name=name: at[0] if at[0] in self.known else name, text)
        text = MOMENT.sub(self._moment, text)
        for pattern, instead in NOISE:
            text = pattern.sub(instead, text)
        return text

    def _moment(self, found: re.Match[str]) -> str:
        """Say that a moment is of this run; others are what was recorded."""
        day, minute, second = found.groups()
        if minute is None:
            is_today = day in (f"{self.began:%Y-%m-%d}", f"{datetime.now(UTC):%Y-%m-%d}")
            return "<today>" if is_today else found[0]
        since = f"{self.began:%Y-%m-%d %H:%M:%S}"
        at = f"{day} {minute}:{second}" if second else f"{day} {minute}"
        return "<now>" if at >= since[: len(at)] else found[0]

    # --- golden sets ---

    def keep(self, golden_set: str, name: str = "") -> None:
        """Keep a golden set as it is now, for `fetch`; under another name where one is given."""
        kept = self.folder / "kept"
        kept.mkdir(exist_ok=True)
        shutil.copy(golden_set, kept / (name or golden_set))

    def fetch(self, golden_set: str) -> str:
        """Put a golden set back as it was kept: no output depends on those made before it."""
        for path in Path().glob(f"{golden_set}*"):
            path.unlink()
        shutil.copy(self.folder / "kept" / golden_set, golden_set)
        return golden_set

    def load_collection(self, name: str, folder: Path) -> list[str]:
        """Make and keep a golden set of a collection; return the names of its runs."""
        Path(name).symlink_to(folder)
        runs = [path.name.removesuffix(".trec.gz") for path in sorted(folder.glob("*.trec.gz"))]
        qrels = next(path for form in ("qrels.txt", "qrels/*.tsv") for path in folder.glob(form))
        lines = [f"load chunks {name}/corpus.jsonl"] if (folder / "corpus.jsonl").exists() else []
        lines += [f"load queries {name}/queries.jsonl"]
        lines += [f"load golden {name}/{qrels.relative_to(folder)}"]
        for day, run in enumerate(runs, 1):
            given = f"--name {run} --on-duplicate first --date 2026-01-{day:02}"
            lines.append(f"load run {name}/{run}.trec.gz {given}")
        self.run_all(lines, f"{name}.db")
        self.keep(f"{name}.db")
        return runs

    # --- commands ---

    def run(self, line: str, golden_set: str, width: int = WIDTH) -> str:
        """Run a command in this process; return its line, all it printed, and its exit code."""
        words = ["--db", golden_set, *shlex.split(line)]
        result = CliRunner().invoke(program, words, prog_name="labeler", terminal_width=width)
        said = result.output.rstrip("\n")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            said += f"\n{type(result.exception).__name__}: {result.exception}"
        if said.lstrip().startswith("<!"):
            said = "\n".join(file_lines(said))
        return self.clean(f"$ labeler {line}\n{said}\nexit code {result.exit_code}\n\n")

    def run_all(self, lines: Iterable[str], golden_set: str) -> str:
        """Run commands one after another."""
        return "".join(self.run(line, golden_set) for line in lines)

    def export(self, lines: Iterable[str], golden_set: str) -> str:
        """Run exports, and return what they said and the files they wrote."""
        said = []
        for line in lines:
            place = Path("out")
            place.mkdir()
            said.append(self.run(f"export out/{line}", golden_set))
            said += [f"=== {name}\n{self.clean(text)}\n" for name, text in _files(place)]
            shutil.rmtree(place)
        return "".join(said)

    def helps(self, golden_set: str) -> str:
        """Return the help of the program and of every command below it."""
        names, said = [""], []
        while names:
            name = names.pop(0)
            said.append(self.run(f"{name} --help".strip(), golden_set, HELP_WIDTH))
            _, _, below = said[-1].partition("\nCommands:\n")
            found = re.findall(r"^  (\S+) ", below, re.MULTILINE)
            names += [f"{name} {each}".strip() for each in found]
        return "".join([self.run("--version", golden_set), *said])

    # --- pages ---

    def open_pages(self, addresses: Iterable[str], golden_set: str, gate: str = "") -> str:
        """Return the text of pages; with a gate file Scores shows its thresholds."""
        with _environment(LABELER_DB=golden_set, LABELER_GATE=gate):
            return "\n".join(map(self.pages.text, addresses))

    def styles(self) -> str:
        """Return the style sheets of all pages that were opened."""
        return self.clean(self.pages.style_text())

    def serve(self, golden_set: str) -> str:
        """Return how a server answers at its addresses: status, type, and where it leads."""
        port = _free_port()
        command = [sys.executable, "-m", "labeler", "--db", golden_set, "serve", "--no-browser"]
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        server = subprocess.Popen(
            [*command, "--port", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        try:
            _wait_for(port, server)
            return self.clean("\n".join(_answer(port, address) for address in SERVED) + "\n")
        finally:
            server.terminate()
            server.wait()

    # --- files of an earlier time ---

    def load_old(self) -> str:
        """Load each export of an earlier time, and return what then holds."""
        after = ["versions", "score --measures 'R@budget nDCG@10 RR'", "check"]
        said = []
        for number, (base, lines) in enumerate(OLD_LOADS):
            golden_set = f"old-{number}.db"
            begin = BEGINNINGS[base]
            said.append(f"=== {base or 'nothing'}, then {'; '.join(lines)}\n")
            for line in begin:
                self.run(line, golden_set)
            said.append(self.run_all([*lines, *after], golden_set))
        return "".join(said)

    def open_old(self) -> str:
        """Open a golden set of an earlier time, and once more with a grade changed in its file."""
        content = gzip.decompress((OLD / "golden.db.gz").read_bytes())
        for name in ("kept.db", "changed.db"):
            Path(name).write_bytes(content)
        said = self.run_all(OLD_LOOKS, "kept.db")
        with closing(sqlite3.connect("changed.db")) as opened:
            opened.execute("DROP TRIGGER judgments_are_not_updated")
            opened.execute("UPDATE judgments SET grade = 3 - grade WHERE id = 7")
            opened.commit()
        return f"{said}=== a grade was changed\n{self.run_all(OLD_LOOKS[:2], 'changed.db')}"

    # --- Python ---

    def call(self, golden_set: str) -> str:
        """Return what the package's public functions give for the sample, as JSON."""
        self.run("export grades.jsonl --force", golden_set)
        return "".join(
            f"=== {name}\n{self.clean(_frame_text(frame))}\n"
            for name, frame in _frames(Path("grades.jsonl"), Path("sample_data"))
        )

    def names(self) -> str:
        """Return the package's public names with their signatures, and how measures are read."""
        lines = [f"{labeler.__version__=}"]
        for name in sorted(labeler.__all__):
            found = getattr(labeler, name)
            lines.append(f"{name}{inspect.signature(found) if callable(found) else ''}")
            lines += (inspect.getdoc(found) or "").splitlines() if callable(found) else []
        for name, each in measures.MEASURES.items():
            lines.append(f"{name}: {each.example} is {measures.parse(each.example)}")
        return self.clean("\n".join([*lines, ""]))


QUERIES = ["load chunks sample_data/chunks.jsonl", "load queries sample_data/queries.jsonl"]
RUNS = ["load run old/hybrid.trec.gz --name hybrid --date 2026-01-26"]
SET = ["change setting budget 8", "change setting golden-rule 'upper median'"]
OLD_LOOKS = [
    "check",
    "check --against old/golden.db.seal.txt",
    "versions",
    "settings",
    "score --measures 'R@budget nDCG@10 RR Judged@10'",
    "score --measures 'R@budget nDCG@10 RR' --format csv",
    "compare bm25 hybrid --measures R@budget",
    "compare bm25 hybrid --measures 'R@budget nDCG@10' --format csv",
    "answers",
    "agreement",
    "audit",
]
BEGINNINGS: Mapping[str, Sequence[str]] = {
    "": [],
    "the sample's queries": [*QUERIES, *SET],
    "the sample's queries and a run": [*QUERIES, *SET, *RUNS],
}
OLD_LOADS: Sequence[tuple[str, Sequence[str]]] = [
    ("", ["load golden old/golden.jsonl", *SET, *RUNS]),
    ("", ["load complete old/complete.jsonl.gz", *RUNS, "settings"]),
    ("", ["load beir old/beir.zip", *RUNS]),
    ("the sample's queries and a run", ["load golden old/golden.qrels.gz"]),
    ("the sample's queries and a run", ["load golden old/golden.csv"]),
    ("the sample's queries and a run", ["load golden old/events.jsonl.gz", "agreement"]),
    ("the sample's queries and a run", ["load golden old/quepid.json.gz"]),
    ("the sample's queries and a run", ["load golden old/quepid-book.json.gz"]),
    ("the sample's queries and a run", ["load golden old/opensearch.json.gz"]),
    ("the sample's queries and a run", ["load golden old/ragas.jsonl.gz"]),
    ("the sample's queries and a run", ["load golden old/ranx.json"]),
    (
        "the sample's queries and a run",
        [
            "load version old/release.jsonl.gz",
            "diff release",
            "score --golden release --measures 'R@budget RR'",
        ],
    ),
    (
        "the sample's queries",
        [
            "load golden old/golden.jsonl --update",
            "load run old/hybrid-ranx.json.gz --name hybrid",
            "load run sample_data/runs/bm25.trec",
            "gate old/gate.toml",
            "gate old/gate.toml --format json",
            "check --against old/golden.jsonl.seal.txt",
        ],
    ),
    ("", ["load files old/score.json old/score.csv old/settings.txt old/golden.jsonl"]),
]
"""What a golden set begins with, and what is loaded then."""


@contextmanager
def working_in(folder: Path) -> Iterator[Workplace]:
    """Make a workplace and work in it, as a user of one name and with a terminal of one width."""
    if not Path(labeler.__file__).is_relative_to(ROOT):
        raise RuntimeError(f"labeler is imported from {labeler.__file__}, not from {ROOT}")
    for name in NOISY:  # a page opened without a browser warns of that
        logging.getLogger(f"streamlit.{name}").disabled = True
    set_log_level("error")
    before, place = Path.cwd(), Workplace(folder)
    os.chdir(folder)
    settled = {"TZ": "UTC", "COLUMNS": str(WIDTH), "USER": "lea", "LOGNAME": "lea"}
    try:
        with _environment(**settled):
            time.tzset()
            yield place
    finally:
        os.chdir(before)


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update({name: value for name, value in values.items() if value})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _files(place: Path) -> Iterator[tuple[str, str]]:
    """Give the files in a folder with their text, those in archives, too."""
    for path in sorted(each for each in place.rglob("*") if each.is_file()):
        if path.suffix == ".zip":
            with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
                for name in sorted(archive.namelist()):
                    yield f"{path.name}/{name}", archive.read(name).decode()
        else:
            content = path.read_bytes()
            text = gzip.decompress(content) if path.suffix == ".gz" else content
            yield str(path.relative_to(place)), text.decode()


def _frames(grades: Path, sample: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Give the frames that the public functions return for the sample."""
    runs = sample / "runs"
    three = {name: runs / f"{name}.trec" for name in ("bm25", "lsa", "hybrid")}
    some = "R@budget nDCG@10 RR AP RBP"
    yield "evaluate", labeler.evaluate(grades, three)
    yield "evaluate with bands", labeler.evaluate(grades, three, some, bands=True, budget=8)
    yield "evaluate trec_eval", labeler.evaluate(grades, three, some, preset="trec_eval")
    of_each = {"per_query": True, "measures": "R@budget"}
    yield "evaluate per query", labeler.evaluate(grades, three, **of_each)
    yield "compare", labeler.compare(grades, three["bm25"], three["hybrid"], bands=True)
    yield "compare several", labeler.compare(grades, three, measures=some)
    dates = {"bm25": "2026-01-12", "lsa": "2026-01-19", "hybrid": "2026-01-26"}
    yield "trend_of", labeler.trend_of(grades, three, dates)
    yield "trend_of per run", labeler.trend_of(grades, three, dates, some, per_run=True)
    cut = [sample / name for name in ("chunks.jsonl", "chunks-v2.jsonl")]
    yield "carry", labeler.carry(grades, *cut, runs / "hybrid-v2.trec")
    queries = [json.loads(line) for line in _lines_of(sample / "queries.jsonl")]
    words = {each["query_id"]: each["keywords"] for each in queries if each.get("keywords")}
    chunks = [json.loads(line) for line in _lines_of(cut[0])]
    texts = {each["chunk_id"]: each["text"] for each in chunks}
    yield "find_keywords", labeler.find_keywords(words, texts, three)
    planned = labeler.plan(["bm25"], some)
    part = planned.part(grades, {"bm25": three["bm25"]})
    yield "plan", planned.add_up([part])


def _frame_text(frame: pd.DataFrame) -> str:
    """Return a frame as lines of JSON, with what is said of all of it first."""
    records: list[Any] = [frame.attrs, *frame.astype(object).to_dict("records")]
    return "\n".join(json.dumps(each, ensure_ascii=False, default=str) for each in records)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until a server answers; raises `RuntimeError` where it ends or takes too long."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError("the server did not start")


def _answer(port: int, address: str) -> str:
    """Return how a server answers: what it says itself, and of Streamlit's page only its type."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", address)
    response = connection.getresponse()
    body = response.read().decode("utf-8", "replace")
    wanted = ("location", "content-type", "content-security-policy", "referrer-policy")
    headers = [f"{name}: {response.getheader(name)}" for name in wanted if response.getheader(name)]
    said = "(Streamlit's page)" if '<div id="root">' in body else body.rstrip("\n")
    connection.close()
    return "\n".join([f"GET {address}: {response.status}", *headers, said, ""])
