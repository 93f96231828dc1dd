"""What several tests start from: a new golden set, a filled one, and a way to ask the routes."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from starlette.types import ASGIApp, Message

from labeler.model import Chunk, GoldenGrade, Loaded, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.support.cpu_seconds import CpuSeconds
from tests.support.new_golden_set import newborn
from tests.support.postgres import newborn_database, release

ROOT = Path(__file__).parent.parent
BROWSER = Path(__file__).parent / "browser"

# How long an example takes says something of the machine, and nothing of labeler. Each run of the
# tests has other examples: `make test` runs often and tries few, `make test-all` tries many.
for profile, examples in (("few", 15), ("many", 200)):
    hypothesis.settings.register_profile(
        profile,
        max_examples=examples,
        deadline=None,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_EXAMPLES", "few"))


def pytest_configure(config: pytest.Config) -> None:
    """Count CPU seconds where they are asked for."""
    if os.environ.get("CPU_SECONDS"):
        config.pluginmanager.register(CpuSeconds(), "cpu seconds")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start one worker per processor: each further one imports and collects everything again."""
    return os.cpu_count() or 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each worker begin with as many tests in a browser, a file whole, and end with short ones.

    A worker is given a stretch of the list, and takes from the end of others' where its own is
    done: a long test there, and all but one wait for it.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    stretches: list[list[pytest.Item]] = [[] for _ in range(workers)]
    short = []
    for path, tests in groupby(items, key=lambda item: item.path):
        if path.is_relative_to(BROWSER):
            min(stretches, key=len).extend(tests)
        else:
            short += tests
    rest = iter(short)
    for number, stretch in enumerate(stretches):
        size = len(items) * (number + 1) // workers - len(items) * number // workers
        stretch += islice(rest, max(0, size - len(stretch)))
    items[:] = chain(*stretches, rest)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for garbage neither while tests are collected nor, later, in what was imported then.

    That is 700,000 objects, which Streamlit has looked through after each run of a page.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _no_real_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELER_DB", str(tmp_path / "golden.db"))


@pytest.fixture
def loaded() -> Callable[..., Loaded[Any]]:
    """Make records look as if a file had given them, one a line."""
    return _loaded


def _loaded(records: Sequence[Any], source: str = "file.jsonl") -> Loaded[Any]:
    return Loaded(source, records, range(1, len(records) + 1))


@pytest.fixture
def golden() -> Callable[..., LoadedGolden]:
    """Make queries, grades or events look as if a golden-set file had given them."""

    def make(grades: Sequence[Any] = (), queries: Sequence[Any] = (), events: Sequence[Any] = ()):
        return LoadedGolden(*(_loaded(part) for part in (queries, grades, events)))

    return make


@pytest.fixture
def kept(request: pytest.FixtureRequest) -> str:
    """Where golden sets are kept: in files, and where a test asks for both, also in PostgreSQL."""
    return getattr(request, "param", "file")


@pytest.fixture
def place(kept: str, tmp_path: Path) -> Iterator[str]:
    """Where a new golden set is, with nothing in it."""
    if kept == "file":
        yield str(newborn(tmp_path / "golden.db"))
        return
    address = newborn_database()
    yield address
    release(address)


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    """A new golden set with nothing in it."""
    with Store(place) as opened:
        yield opened


@pytest.fixture
def filled(store: Store, golden: Callable[..., LoadedGolden]) -> Store:
    """Two queries, four chunks with text, two known by id only, two runs, three golden grades."""
    store.queries.load(
        _loaded(
            [
                Query("q1", "how long does a refund take", "single", buckets={"intent": "refund"}),
                Query("q2", "where are my invoices", "research", buckets={"intent": "billing"}),
            ]
        )
    )
    store.chunks.load(_loaded([Chunk(f"c{n}", f"text {n}", f"title {n}") for n in range(1, 5)]))
    store.runs.load(
        _loaded(
            [
                Ranking("q1", ("c1", "c2", "c3"), (3.5, 2.0, -1.0)),
                Ranking("q2", ("c3", "c5"), (0.5, 0.25)),
            ]
        ),
        name="first",
        system="bm25",
        created_at="2026-01-31",
    )
    store.runs.load(
        _loaded([Ranking("q1", ("c4", "c1")), Ranking("q2", ("c6",)), Ranking("q9", ("c1",))]),
        name="second",
        created_at="2026-02-28",
    )
    grades = [("q1", "c1", 3), ("q1", "c2", 0), ("q2", "c3", 1)]
    store.golden_loads.add(golden([GoldenGrade(*grade, ("Bea",)) for grade in grades]))
    for name in ("Ann", "Bob", "Cy"):
        store.people.add(name)
    return store


@pytest.fixture
def python() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start another process that runs a piece of Python; none outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script, *map(str, arguments)]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen(command, cwd=ROOT, text=True, **pipes)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@dataclass(frozen=True)
class Answer:
    """What came back from a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cookies: tuple[str, ...] = ()

    def json(self) -> Any:
        """Return the body's JSON."""
        return json.loads(self.body)


@pytest.fixture
def ask() -> Callable[..., Answer]:
    """Send one request to an application in this process, as its server would."""

    def send(
        app: ASGIApp,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        sent: list[Message] = []
        plain, _, query = path.partition("?")
        given = {"host": "127.0.0.1", **(headers or {})}
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "server": ("127.0.0.1", 80),
            "client": ("127.0.0.1", 40000),
            "root_path": "",
            "path": plain,
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        }

        coming: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if not coming:
                await asyncio.Event().wait()  # a browser that stays
            return coming.pop()

        async def take(message: Message) -> None:
            sent.append(message)

        asyncio.run(app(scope, receive, take))
        start, *parts = sent
        return Answer(
            start["status"],
            {name.decode(): value.decode() for name, value in start["headers"]},
            b"".join(part.get("body", b"") for part in parts),
            tuple(v.decode() for name, v in start["headers"] if name == b"set-cookie"),
        )

    return send


# What is asked of a file here is asked of PostgreSQL, too; in `make test` what is asked of the log.
KEPT_IN_BOTH = (
    *("store.test_golden_grades", "store.test_runs", "store.test_load", "store.test_log"),
    *("store.test_copies", "services.test_assignment_copies", "store.test_list_sources"),
    *("store.test_as_of", "store.test_reads", "store.test_remarks", "store.test_search"),
    *("web.test_adjudication", "services.test_assignment", "web.test_grading_api"),
    "web.test_copies",
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what asks about a golden set with one in a file and with one in PostgreSQL."""
    is_of_both = metafunc.module.__name__.endswith(KEPT_IN_BOTH)
    in_a_file = metafunc.definition.get_closest_marker("in_a_file")
    if is_of_both and "kept" in metafunc.fixturenames and not in_a_file:
        marks = () if metafunc.module.__name__.endswith("store.test_log") else pytest.mark.slow
        both = ["file", pytest.param("postgres", marks=marks)]
        metafunc.parametrize("kept", both, indirect=True)
