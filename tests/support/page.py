"""Opens a page without a browser and reads what it says, for the tests of the pages."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.testing.v1 import AppTest

import tests.support.component_scan  # noqa: F401 - opening a page takes half as long
from labeler.model import GoldenGrade, Loaded, LoadedGolden, Query, Ranking
from labeler.paths import PACKAGE, folder
from labeler.store import Store
from tests.support.new_golden_set import newborn


def loaded(records: Sequence[object]) -> Loaded:
    """Wrap records as a reader would."""
    return Loaded("test", list(records), list(range(1, len(records) + 1)))


def empty_golden_set(tmp_path: Path) -> Path:
    """Make a golden set where the autouse fixture lets the pages look for it."""
    return newborn(tmp_path / "golden.db")


def add_collapsed_bucket(path: Path) -> None:
    """Add 40 queries: "new" is better than "old" in 29 of refund, and worse in all 11 of setup."""
    names = [f"q{n:02}" for n in range(40)]
    intents = {name: "setup" if n < 11 else "refund" for n, name in enumerate(names)}
    queries = [
        Query(name, f"query {name}", buckets={"intent": intent}) for name, intent in intents.items()
    ]
    with Store(path) as store:
        store.queries.load(loaded(queries))
        for run, worse in (("old", "refund"), ("new", "setup")):
            lists = [
                Ranking(name, ("c2", "c1") if intent == worse else ("c1", "c2"))
                for name, intent in intents.items()
            ]
            store.runs.load(loaded(lists), name=run)
        grades = [GoldenGrade(name, "c1", 3) for name in names]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))


def open_page(name: str, **parameters: str | list[str]) -> AppTest:
    """Run the app with a page open and these parameters in its URL."""
    app = AppTest.from_file(str(PACKAGE / "app" / "navigation.py"), default_timeout=30)
    for key, value in parameters.items():
        app.query_params[key] = value
    app.switch_page(str(folder("pages") / f"{name}.py"))
    return app.run()


def words(app: AppTest) -> str:
    """All words of a page, a table's cells set apart by bars."""
    assert not app.exception
    groups = (app.header, app.text, app.caption, app.markdown, app.code, app.info)
    texts = [element.value for group in groups for element in group]
    texts += [element.proto.body for element in app.get("html")]
    whole = (text.replace("<wbr>", "") for text in texts)
    plain = [re.sub(r"<style>.*?</style>|<[^>]+>", "|", text, flags=re.S) for text in whole]
    return html.unescape("\n".join(plain))


def listed_queries(app: AppTest) -> pd.DataFrame:
    """The list of the Queries page, a column of words for each on the page.

    Raises `ValueError` where the page has none.
    """
    assert not app.exception
    bodies = [element.proto.body for element in app.get("html")]
    [body] = [each for each in bodies if 'class="sheet queries' in each]
    table = ElementTree.fromstring(re.search("<table.*</table>", body, re.S).group())
    head, *rows = [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]
    return pd.DataFrame(rows, columns=head)


@contextmanager
def drawn() -> Iterator[list[tuple[tuple[int, ...], str]]]:
    """Note what pages send to the browser: where in the document each thing stands, and its HTML.

    The first 0 of a place is the page itself; what stands in it is shown as soon as it comes.
    """
    sent: list[tuple[tuple[int, ...], str]] = []
    enqueue = ForwardMsgQueue.enqueue

    def note(queue: ForwardMsgQueue, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "delta":
            sent.append((tuple(message.metadata.delta_path), message.delta.new_element.html.body))
        enqueue(queue, message)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ForwardMsgQueue, "enqueue", note)
        yield sent
