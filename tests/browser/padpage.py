"""What tests of the grading pad share: a golden set worth reading, looks at the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from playwright.sync_api import Page, Route, expect

from labeler.errors import NotFound
from labeler.model import Chunk, Judgment, Query, Ranking
from labeler.store import Store
from tests.browser.server import loaded
from tests.support.new_golden_set import newborn

SENTENCE = "A parcel that comes back within thirty days is paid back to the card it was paid with. "
JUDGMENTS = "**/api/judgments"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LAPTOP = {"viewport": {"width": 1440, "height": 900}}
NUMBERS = count(10, 3)  # of queries that `begin_again` adds, three at a time
WORDS_150 = " ".join((SENTENCE * 9).split()[:150]) + "."


def library(path: Path, *, queries: int = 3, chunks: int = 8, **settings: object) -> Path:
    """Make a golden set with documents, guidelines, references and buckets; nothing is graded.

    Every query's pool holds the chunks c0, c1, …, all of one document.
    """
    ids = [f"c{number}" for number in range(chunks)]
    with Store(newborn(path)) as store:
        store.chunks.load(
            loaded(
                [
                    Chunk(name, f"This is the text of {name}.", f"Title {name}", "handbook", number)
                    for number, name in enumerate(ids)
                ]
            )
        )
        ask(store, range(queries), ids)
        present = store.settings.read()
        store.settings.save(type(present)(pool_depth=chunks, **settings))
    return path


def ask(store: Store, numbers: Iterable[int], ids: Sequence[str], more: str = "") -> None:
    """Add a query for each number, and two runs, called forward and backward, that have all ids."""
    queries = [
        Query(
            f"q{n}",
            f"When is parcel {n} paid back?",
            task="single",
            reference=f"Parcel {n} is paid back within thirty days.",
            guideline=f"Only days count for parcel {n}.",
            buckets={"intent": ("refund", "shipping")[n % 2]},
        )
        for n in numbers
    ]
    store.queries.load(loaded(queries))
    for name, step in (("forward", 1), ("backward", -1)):
        lists = [Ranking(query.query_id, tuple(ids[::step])) for query in queries]
        store.runs.load(loaded(lists), name=name + more)


def begin_again(path: Path) -> None:
    """Make a `library` that is served as good as new: other queries, and nobody is called Ann.

    Starting another server costs a third of what a test of the pad does.
    """
    first = next(NUMBERS)
    with Store(path) as store:
        with suppress(NotFound):
            store.people.rename("Ann", f"Ann until {first}")
        for query in store.queries.all():
            store.queries.retire(query.query_id)
        ask(store, range(first, first + 3), [f"c{n}" for n in range(8)], f" {first}")


def quick_hand(page: Page) -> None:
    """Wait as long as a quick hand needs from what was painted last to its next press.

    In the browser's own time: on a busy machine it may paint late.
    """
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 250)))")


def wide(path: Path, *, columns: bool = True) -> Path:
    """Make the same with long texts, and code and a table in each that are too wide for a phone.

    The queries are longer than their place on a phone, too.
    """
    library(path, queries=2, chunks=3, guideline="Be strict. " * 200)
    code = "    return refund(parcel, days=30)  # as the law asks"
    table = "name     days     to whom\nparcel   30       " + "the card it was paid with " * 2
    text = f"This is the text.\n\n{SENTENCE * 16}"
    if columns:
        text += f"\n\n```python\n{code}\n```\n\n{table}"
    with Store(path) as store:
        chunks = [Chunk(f"c{n}", f"{text} {n}", f"Title {n}", "handbook", n) for n in range(3)]
        store.chunks.load(loaded(chunks), update=True)
        asked = "When is a parcel paid back that came in by another way than it went out, and how?"
        store.queries.load(loaded([Query(f"q{n}", f"{asked} {n}") for n in range(2)]), update=True)
    return path


def ready(page: Page) -> None:
    """Wait until a chunk is on screen."""
    expect(page.locator(".chunk .text")).to_contain_text("This is the text")


def shown(page: Page) -> str:
    """Return the text of the chunk on screen."""
    return page.locator(".chunk .text").text_content()


def all_saved(page: Page, count: int) -> None:
    """Wait until the page says that so many grades are saved and none waits."""
    expect(page.locator(".status .state")).to_have_text(f"{count} saved")


def events(store: Store, grader: str = "Ann") -> list[Judgment]:
    """Return what a grader gave and took back, as it came."""
    return [event for event in store.judgments.log() if event.grader == grader]


def standing(store: Store, grader: str = "Ann") -> dict[tuple[str, str], int | None]:
    """Return what stands of a grader: the grade of each pair, None for "can't tell"."""
    stands: dict[tuple[str, str], int | None] = {}
    for event in events(store, grader):
        pair = (event.query_id, event.chunk_id)
        if event.kind == "withdraw":
            stands.pop(pair, None)
        else:
            stands[pair] = event.grade
    return stands


def intercept(page: Page, addresses: str, answer: Callable[[Route], object]) -> None:
    """Let ``answer`` deal with what the page asks of these addresses, from its next request on.

    Chromium says that it intercepts a moment before the page knows it, and what the page asks in
    between goes out; so wait until it asks in vain for what nobody has.
    """
    page.route(addresses, answer)
    page.route("**/asked-in-vain", lambda route: route.abort())
    while page.evaluate("fetch('/asked-in-vain').then(() => true, () => false)"):
        page.wait_for_timeout(10)


def cut_off(page: Page, addresses: str = JUDGMENTS) -> None:
    """Let nothing that the page sends to these addresses reach the server, if not said no grade."""
    intercept(page, addresses, lambda route: route.abort())


def let_through(page: Page, addresses: str = JUDGMENTS) -> None:
    """Let what was cut off or intercepted reach the server again."""
    page.unroute(addresses)


def press(page: Page, keys: str) -> None:
    """Press keys one after the other, as they are written."""
    for key in keys:
        page.keyboard.press(key)


def watch_keys(page: Page) -> None:
    """Note for every key which chunk was on screen when it was pressed."""
    page.locator(".pad").evaluate(
        """pad => {
            window.pressed = [];
            window.addEventListener("keydown", event => {
                const text = pad.querySelector(".chunk .text").textContent;
                const query = pad.querySelector(".query-text").textContent;
                window.pressed.push([event.key, query, text]);
            }, true);
        }"""
    )
