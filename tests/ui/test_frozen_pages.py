"""Pages of a frozen golden set: a link shows the same numbers, whatever is graded later."""

from __future__ import annotations

import re

import pytest

from labeler.model import Judgment, Query, Settings
from labeler.services.import_export import snapshots
from labeler.store import Store
from tests.support.page import loaded, open_page, words


@pytest.fixture
def frozen(filled: Store) -> Store:
    """A golden set that was frozen as ``v*1*``, and where everything is other since."""
    snapshots.freeze(filled, "v*1*")
    filled.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=3))
    filled.settings.save(Settings(rel=2))
    changed = Query("q1", "another question", "single", buckets={"intent": "other"})
    filled.queries.load(loaded([changed]), update=True)
    filled.queries.retire("q2")
    return filled


def test_a_page_of_a_frozen_golden_set_shows_what_it_was(frozen: Store) -> None:
    version = frozen.versions.all()[0]
    for page in ("scores", "slices", "queries", "compare"):
        views = {"scores": {"view": "how computed"}, "compare": {"show": "How computed"}}
        view = views.get(page, {})
        said = words(open_page(page, golden=version.hash[:10], **view))
        assert re.search(r"Frozen as “v\*1\*” on 20\d\d-\d\d-\d\d", said), page
        assert re.search("[Aa]ll 2 queries|2 of 2 (graded )?queries", said), page
        assert f"golden {version.hash[:8]}, frozen as v*1* · " in said
        assert "relevant from grade 1" in said
        now = words(open_page(page, **view))
        assert "Frozen" not in now
        assert not re.search("[Aa]ll 2 queries|2 of 2 (graded )?queries", now), page
        assert f"golden {frozen.collection.golden_state().hash[:8]} · " in now
        assert "relevant from grade 2" in now


def test_texts_and_buckets_are_those_of_the_version(frozen: Store) -> None:
    said = words(open_page("slices", golden="v*1*", facet="intent"))
    assert "billing" in said
    assert "how long does a refund take" in words(open_page("queries", golden="v*1*", query="q1"))
    assert "billing" not in words(open_page("slices", facet="intent"))


def test_an_address_of_a_version_that_is_not_there_leads_on(frozen: Store) -> None:
    app = open_page("scores", golden="v9", measure="RR")
    assert "no golden version is called 'v9'" in words(app)
    app.button[0].click().run()
    assert "Frozen" not in words(app)
    assert "RR" in app.query_params["measure"]


def test_a_page_goes_back_to_what_is_live_by_a_click(frozen: Store) -> None:
    app = open_page("scores", golden="v*1*")
    app.button(key="thaw").click().run()
    assert "golden" not in app.query_params
    assert "Frozen" not in words(app)


def test_a_lead_freezes_on_data_and_sees_what_changed(filled: Store) -> None:
    app = open_page("data", section="Versions")
    assert "No version is frozen yet" in words(app)
    app.text_input[0].set_value("release")
    app.text_input[1].set_value("for the board")
    next(each for each in app.button if each.label.startswith("Freeze")).click().run()
    [version] = filled.versions.all()
    assert (version.name, version.note) == ("release", "for the board")
    assert version.hash == filled.collection.golden_state().hash
    assert "frozen as release" in words(open_page("data", section="Versions"))
    filled.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=3))
    app = open_page("data", section="Versions")
    said = words(app)
    assert ": not frozen" in said
    assert "From release to the golden set as it is now: grades: 1 added" in said
    changes = app.dataframe[1].value
    assert changes.to_dict("records")[0] == {
        "change": "added",
        "of": "grade",
        "query_id": "q1",
        "chunk_id": "c3",
        "field": "",
        "before": "",
        "after": "3",
        "by": "Ann",
    }
