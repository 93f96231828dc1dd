"""The sections of the Data page: what each says, what it does, and what it refuses."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from labeler.model import (
    UNJUDGED_OF_TWO,
    Chunk,
    GoldenGrade,
    LoadedGolden,
    Query,
    Ranking,
    Settings,
)
from labeler.store import Store
from labeler.web.auth.access import hash_secret, session_by_link
from tests.support.page import empty_golden_set, loaded, open_page, words
from tests.support.signed_in import let_in
from tests.support.store_reads import invited_with

QUERIES = '{"query_id": "q1", "query": "who?"}\n'
CHUNKS = '{"chunk_id": "c1", "text": "Ann"}\n'
RUN = "q1 Q0 c1 1 2.5 x\n"
QRELS = "q1 0 c1 3\n"
BLIND = "Graders saw neither the lists nor each other's grades"
ALL = {"a.trec": RUN, "judged": QRELS, "texts": CHUNKS, "asked": QUERIES}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return empty_golden_set(tmp_path)


@pytest.fixture
def filled(database: Path) -> Path:
    """Three queries, four chunks, two runs, three golden grades; nobody is invited."""
    with Store(database) as store:
        queries = [Query(f"q{n}", f"query {n}") for n in (1, 2, 3)]
        store.queries.load(loaded(queries))
        store.chunks.load(loaded([Chunk(f"c{n}", f"text {n}") for n in range(4)]))
        lists = [Ranking(f"q{n}", ("c0", "c1", "c2", "c3")) for n in (1, 2, 3)]
        store.runs.load(loaded(lists), name="all", system="search", created_at="2026-01-31")
        store.runs.load(loaded([Ranking("q1", ("c3", "c2"))]), name="*some*")
        grades = [
            GoldenGrade("q1", "c0", 3),
            GoldenGrade("q1", "c3", 1),
            GoldenGrade("q2", "c0", 0),
        ]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return database


def drop(app: AppTest, **files: str | bytes) -> AppTest:
    """Drop files on the page, by name; a name's double underscore stands for a dot."""
    given = [
        (name.replace("__", "."), data.encode() if isinstance(data, str) else data, "text/plain")
        for name, data in files.items()
    ]
    app.file_uploader[0].set_value(given)
    return app.run()


def kinds(app: AppTest) -> list:
    """Return the fields that say what each file holds, in the order of the page."""
    return [box for box in app.selectbox if (box.key or "").startswith("kind-")]


def run_names(app: AppTest) -> list:
    """Return the fields with the names of runs."""
    return [box for box in app.text_input if (box.key or "").startswith("name-")]


def press(app: AppTest, label: str) -> AppTest:
    """Press the button that has a label."""
    [button] = [each for each in app.button if each.label == label]
    return button.click().run()


def field(app: AppTest, label: str):
    """Return the field that has a label."""
    fields = [*app.text_input, *app.selectbox, *app.checkbox, *app.date_input, *app.text_area]
    [found] = [each for each in fields if each.label == label]
    return found


def verdicts(app: AppTest) -> list[tuple[str, str]]:
    """Return what the page says of a load: the colour and the words."""
    colours = {"success": app.success, "warning": app.warning, "info": app.info, "error": app.error}
    return [(colour, each.value) for colour, them in colours.items() for each in them]


# Load


def test_files_of_any_name_are_told_by_their_content_and_loaded_in_order(database: Path):
    app = drop(open_page("data"), **ALL)
    assert [box.value for box in kinds(app)] == ["queries", "chunks", "golden", "run"]
    said = words(app)
    assert "a query per line (query_id, query)" in said
    assert "six columns per line, with rank and score, as a TREC run" in said
    with Store(database) as store:
        assert store.golden_set.contents().queries == 0, "nothing is loaded before somebody says so"
    app = press(app, "Load 4 files")
    assert verdicts(app) == [("success", "Loaded")]
    said = words(app)
    assert "1 query · 1 chunk · 1 run · 1 golden grade" in said
    assert said.count("✓ loaded") == 4
    reports, _examples = [code.value for code in app.code]
    assert re.findall(r"^\S.* from (\w+)", reports, re.M) == ["asked", "texts", "judged", "a"]
    with Store(database) as store:
        assert [(run.name, run.created_at) for run in store.runs.all()] == [("a", None)]


def test_a_place_for_more_files_is_there_once_all_are_loaded(database: Path):
    app = press(drop(open_page("data"), asked=QUERIES), "Load 1 file")
    assert app.file_uploader[0].value == []
    app = press(drop(app, texts__gz=gzip.compress(CHUNKS.encode())), "Load 1 file")
    assert "1 query · 1 chunk" in words(app)


def test_kind_and_name_can_be_changed_before_loading(database: Path):
    app = drop(open_page("data"), asked=QUERIES, a__trec=RUN, b__trec=RUN.replace("c1", "c2"))
    assert [box.value for box in run_names(app)] == ["a", "b"]
    run_names(app)[1].set_value("a").run()
    assert "2 files have the run name 'a': give each its own" in words(app)
    run_names(app)[1].set_value("of March").run()
    kinds(app)[0].set_value("leave it out").run()
    app = press(app, "Load 2 files")
    with Store(database) as store:
        assert [run.name for run in store.runs.all()] == ["a", "of March"]
        assert store.golden_set.contents().queries == 0


def test_two_files_of_one_name_get_two_names_for_their_runs(database: Path):
    app = open_page("data")
    given = [("bm25.trec", RUN.encode(), ""), ("bm25.run.gz", gzip.compress(RUN.encode()), "")]
    app.file_uploader[0].set_value(given)
    app.run()
    assert [box.value for box in run_names(app)] == ["bm25", "bm25-2"]


def test_one_broken_file_among_five_stops_no_other(database: Path):
    bad = "q1 Q0 c1 1 2 a\nq1 Q0 c1 2 1 a\n"
    app = press(drop(open_page("data"), bad__trec=bad, **ALL), "Load 5 files")
    said = words(app)
    assert "bad.trec:2: chunk 'c1' appears twice" in said
    first = "If a chunk occurs twice for a query, keep the better rank"
    assert f'On this page: Options, "{first}"' in said
    assert said.count("✓ loaded") == 4
    assert not app.get("progress"), "a bar above an error looks like success"
    assert verdicts(app) == [
        ("warning", "4 of 5 files are loaded. Beside the others you see why not.")
    ]
    field(app, first).check().run()
    app = press(app, "Load 5 files")
    said = words(app)
    assert verdicts(app) == [("success", "Loaded")]
    assert said.count("✓ nothing new: all of it was loaded before") == 4
    with Store(database) as store:
        assert [run.name for run in store.runs.all()] == ["a", "bad"]


def test_grades_whose_queries_could_not_be_loaded_say_so(database: Path):
    broken = QUERIES + "{}\n"
    app = press(
        drop(open_page("data"), asked__jsonl=broken, judged=QRELS, texts=CHUNKS), "Load 3 files"
    )
    said = words(app)
    assert "asked.jsonl:2: there is no query id" in said
    assert "judged:1: query 'q1' is not in the golden set" in said
    assert "They may be in asked.jsonl, which was not loaded." in said
    assert "0 queries · 1 chunk · 0 runs · 0 golden grades" in said
    assert verdicts(app)[0][1].startswith("1 of 3 files is loaded")


def test_what_cannot_be_told_is_named_and_asked_for(database: Path):
    app = drop(open_page("data"), letter__pdf=b"%PDF-1.7", asked=QUERIES)
    said = words(app)
    assert (
        "⚠ Couldn't tell what this is: the file is a PDF; save its texts as CSV or JSONL in UTF-8"
        in said
    )
    app = press(app, "Load 1 file (1 not recognised)")
    assert verdicts(app) == [
        ("warning", "1 of 2 files is loaded. Beside the others you see why not.")
    ]
    kinds(app)[1].set_value("chunks").run()
    app = press(app, "Load 2 files")
    assert "letter.pdf: the file is a PDF" in words(app)


def test_a_kind_that_was_guessed_wrong_says_what_it_looks_like(database: Path):
    app = drop(open_page("data"), asked=QUERIES)
    kinds(app)[0].set_value("run").run()
    assert "it looks like queries: a query per line (query_id, query)" in words(app)
    app = press(app, "Load 1 file")
    assert "asked:1: there is no chunk id" in words(app)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"a.trec": RUN.replace("q1", "Q1"), "texts": CHUNKS}, "no query of this run is in the"),
        ({"a.trec": RUN}, "no text is known of any chunk of this run"),
        ({"a.trec": RUN.replace("c1", "C1"), "texts": CHUNKS}, "no text is known of any chunk"),
    ],
)
def test_a_run_that_matches_nothing_ends_amber_and_never_green(database: Path, files, why: str):
    app = press(drop(open_page("data"), asked=QUERIES, **files), f"Load {len(files) + 1} files")
    assert verdicts(app) == [("warning", "Loaded, with warnings: see ⚠ above")]
    assert f"⚠ {why}" in words(app)


def test_the_same_again_is_nothing_to_do(database: Path):
    press(drop(open_page("data"), **ALL), "Load 4 files")
    app = press(drop(open_page("data"), **ALL), "Load 4 files")
    assert verdicts(app) == [("info", "Nothing new: everything in the files was loaded before")]


def test_options_are_those_of_the_kinds_that_are_there(database: Path):
    def options(app: AppTest) -> set[str]:
        fields = [*app.checkbox, *app.text_input, *app.selectbox, *app.date_input]
        return {each.label for each in fields if not re.search("file \\d", each.label)}

    assert options(open_page("data")) == set()
    assert options(drop(open_page("data"), a__trec=RUN)) == {
        "System",
        "Made on",
        "Order of the list",
        "If a chunk occurs twice for a query, keep the better rank",
        "Leave out the query itself, if queries are from the corpus",
        "Chunking",
    }
    assert options(drop(open_page("data"), texts=CHUNKS)) == {
        "Replace queries, chunks and grades that have other content",
        "Chunking",
    }
    of_grades = {"Grade map", "Grade cuts", "Negative grades", BLIND}
    assert of_grades <= options(drop(open_page("data"), j=QRELS))
    assert "Facets, separated by commas" in options(drop(open_page("data"), asked=QUERIES))


def test_options_reach_what_is_loaded(filled: Path):
    app = drop(open_page("data"), a__trec=RUN.replace("c1", "c0"), odd=QRELS.replace("3", "0.7"))
    field(app, "System").set_value("bm25")
    field(app, "Made on").set_value("2026-03-01")
    app = press(app.run(), "Load 2 files")
    said = words(app)
    assert "odd:1: grade 0.7 is fractional" in said
    assert 'On this page: Options, "Grade map", written as 0.3=1,1.0=3' in said
    assert "keep the better rank" not in said
    field(app, "Grade map").set_value("nonsense")
    app = press(app.run(), "Load 2 files")
    assert "--grade-map: 'nonsense' must be" in words(app)
    field(app, "Grade map").set_value("0.7=2")
    app = press(app.run(), "Load 2 files")
    assert "4 golden grades" in words(app)
    with Store(filled) as store:
        assert (store.runs.all()[2].system, store.runs.all()[2].created_at) == (
            "bm25",
            "2026-03-01",
        )


def test_what_comes_next_is_said_with_the_way_there(database: Path):
    def ways(app: AppTest) -> list[str]:
        steps = [each.value for each in app.markdown if each.value.endswith(".")]
        return [re.split("[:.]", step)[0] for step in steps]

    app = open_page("data")
    assert ways(app) == ["Load what your system retrieved"]
    app = press(drop(app, asked=QUERIES, texts=CHUNKS, a__trec=RUN), "Load 3 files")
    assert ways(app) == ["Invite graders", "Grade the first chunks yourself"]
    assert '<a class="goto" href="/">Start grading</a>' in "".join(
        html.body for html in app.get("html")
    )
    app = press(drop(app, judged=QRELS), "Load 1 file")
    assert ways(app)[0] == "See the scores of every run"
    app = press(app, "Invite graders")
    assert app.button_group[0].value == "People"


def test_a_file_s_name_is_never_markup(database: Path):
    evil = "![x](http://evil.example/a.png) :red[run].trec"
    app = open_page("data")
    app.file_uploader[0].set_value([(evil, b"q1 Q0 c1 1 2 a\nq1 Q0 c1 2 1 a\n", "")])
    app = press(app.run(), "Load 1 file")
    shown = [*app.markdown, *app.caption, *app.warning, *app.success, *app.info, *app.header]
    assert not [each.value for each in shown if "evil" in each.value]
    labels = [each.label for each in [*app.selectbox, *app.text_input, *app.button]]
    assert not [label for label in labels if "evil" in label]
    assert f"{evil}:2: chunk 'c1' appears twice" in words(app)


# People


def test_nobody_can_lock_themselves_out(filled: Path):
    app = open_page("data", section="People")
    said = words(app)
    assert "Nobody is invited yet: anyone who opens labeler on this computer is a lead." in said
    assert "everyone needs a link, including you" in said
    assert "labeler invite NAME --role lead" in said
    assert "Invite" not in [button.label for button in app.button], "first sign in, then invite"
    field(app, "Your name").set_value(" Lea & Co ")
    app = press(app, "Create my link")
    [link] = [each.proto.body for each in app.get("html") if "/join/" in each.proto.body]
    found = re.search(r'href="(/join/[\w-]{43}\?promise=[\w.-]+)"', link)
    assert "Sign in as Lea &amp; Co" in link
    [copied] = [code.value for code in app.code if "/join/" in code.value]
    assert copied.endswith(found[1]), "the link that is copied works wherever it is opened"
    with Store(filled) as store:
        assert not store.people.has_invitations(), "showing it has closed nothing"
    field(app, "Your name").set_value(" ")
    app = press(app, "Create my link")
    assert "a grader name must not be empty" in words(app)


@pytest.fixture
def invited(filled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same with a lead, Lea, who looks at the page, and two graders."""
    with Store(filled) as store:
        cookies = let_in(store, "Lea", "leas", "lead")
        store.people.invite("Ann", hash_secret("anns"))
        store.people.allow("Bob", "bob@example.org")
    monkeypatch.setattr("streamlit.runtime.context.ContextProxy.cookies", cookies)
    return filled


def link_of(app: AppTest) -> str:
    """Return the secret of the link on the page."""
    [link] = [code.value for code in app.code if "/join/" in code.value]
    return re.search(r"/join/([\w-]+)", link)[1]


def invite(app: AppTest, names: str) -> AppTest:
    app.text_area[0].set_value(names)
    return press(app, "Invite")


def people(app: AppTest) -> list[str]:
    """Return the rows of the list of people."""
    found = [each.proto.body for each in app.get("html") if '<dl class="person"' in each.proto.body]
    cells = [re.findall(r"<dd[^>]*>(.*?)</dd>", body) for body in found]
    return [" | ".join(re.sub(r"<[^>]+>", " ", cell).strip() for cell in row) for row in cells]


def test_an_invitation_shows_its_link_once_in_a_message_to_send(invited: Path):
    with Store(invited) as store:
        store.settings.save(Settings(name="Pellamy help centre"))
    app = invite(open_page("data", section="People"), "Cy")
    secret = link_of(app)
    [message] = [code.value for code in app.code if "/join/" in code.value]
    assert message.startswith("Hello Cy,\n\nLea invites you to grade passages for Pellamy help")
    assert "won't be shown again" not in words(app)
    assert "links aren't shown again" in words(app)
    today = date.today().isoformat()
    assert people(app) == [
        f"Ann grader | link | {today} | not yet | – | 0",
        f"Bob grader | login bob@example.org | {today} | not yet | – | 0",
        f"Cy grader | link | {today} | not yet | – | 0",
        f"Lea lead · you | link | {today} | {today} | {today} | 0",
    ], "whoever is new is in the list"
    with Store(invited) as store:
        assert invited_with(store, hash_secret(secret)) == ("Cy", "grader")
    assert "/join/" not in words(app.run())


def test_many_are_invited_at_once_with_a_message_each(invited: Path):
    app = invite(open_page("data", section="People"), "Cy\nDee, Eve\n\ncy")
    assert "3 people are invited" in words(app)
    assert app.text_area[0].value == "", "pressed twice, it would end the links"
    *messages, table = [code.value for code in app.code if "/join/" in code.value]
    assert [message.splitlines()[0] for message in messages] == [
        "Hello Cy,",
        "Hello Dee,",
        "Hello Eve,",
    ]
    assert [line.split("\t")[0] for line in table.splitlines()] == ["Cy", "Dee", "Eve"]
    with Store(invited) as store:
        for message, name in zip(messages, ["Cy", "Dee", "Eve"], strict=True):
            secret = re.search(r"/join/([\w-]+)", message)[1]
            assert invited_with(store, hash_secret(secret)) == (name, "grader")


@pytest.mark.parametrize(
    ("answer", "invited_are"),
    [("Yes, the same", ["Ann", "Bob", "Lea"]), ("No, someone else", ["Ann", "Bob", "Lea", "ann"])],
)
def test_a_name_that_differs_by_case_is_asked_about(
    invited: Path, answer: str, invited_are: list[str]
):
    app = invite(open_page("data", section="People"), " ann ")
    assert "Ann is here already. Is “ann” the same person?" in words(app)
    with Store(invited) as store:
        assert invited_with(store, hash_secret("anns")) == ("Ann", "grader"), "nothing has changed"
    press(app, answer)
    with Store(invited) as store:
        assert [way.name for way in store.people.ways_in() if way.stands] == invited_are


def test_no_name_invites_nobody(invited: Path):
    assert "give at least one name" in words(invite(open_page("data", section="People"), " , \n"))


def test_an_invitation_may_be_for_a_while_or_once(invited: Path):
    app = open_page("data", section="People")
    field(app, "Valid").set_value("for a week")
    [once] = [each for each in app.checkbox if each.label == "One device only"]
    once.check()
    secret = link_of(invite(app, "Cy"))
    with Store(invited) as store:
        [way] = [way for way in store.people.ways_in() if way.name == "Cy"]
        assert way.once
        assert way.expires_at
        assert session_by_link(store, secret)
    [row] = [each for each in people(open_page("data", section="People")) if each.startswith("Cy")]
    assert "link, used" in row


def test_the_link_begins_where_people_reach_the_server(invited: Path, monkeypatch):
    monkeypatch.setenv("LABELER_ADDRESS", "https://labels.example.org/")
    app = invite(open_page("data", section="People"), "Cy")
    assert "https://labels.example.org/join/" in app.code[0].value
    assert "only on this computer" not in words(app)


def test_somebody_gets_another_name_role_and_link(invited: Path):
    app = open_page("data", section="People", person="Ann")
    app = press(app, "Make lead")
    with Store(invited) as store:
        assert invited_with(store, hash_secret("anns")) == ("Ann", "lead")
    app = app.button(key="link-Ann").click().run()
    assert "The earlier link of Ann has ended." in words(app)
    secret = link_of(app)
    app = press(app, "Make grader")
    [name] = [each for each in app.text_input if each.label == "Name" and each.value == "Ann"]
    name.set_value("Anna")
    app = press(app, "Rename")
    assert app.query_params["person"] == "Anna", "the page stays with whom it was about"
    with Store(invited) as store:
        assert invited_with(store, hash_secret(secret)) == ("Anna", "grader")
    app = press(app, "Revoke")
    with Store(invited) as store:
        assert invited_with(store, hash_secret(secret)) is None
    assert "Anna is not invited. Invite them above, under this name." in words(app)


def test_the_last_lead_stays(invited: Path):
    for label in ("Make grader", "Revoke"):
        app = press(open_page("data", section="People", person="Lea"), label)
        assert "'Lea' is the last lead who can sign in; make somebody else a lead first" in words(
            app
        )
    with Store(invited) as store:
        assert store.people.leads() == ["Lea"]


def test_a_lead_is_told_when_it_is_themselves_they_shut_out(invited: Path):
    said = words(open_page("data", section="People", person="Lea"))
    assert "That is you: this page closes for you at once." in said
    assert "That is you: you are signed out at once." in said
    assert "That is you" not in words(open_page("data", section="People", person="Ann"))
    with Store(invited) as store:
        store.people.change_role("Ann", "lead")
    app = open_page("data", section="People").button(key="link-Lea").click().run()
    assert "until you do, nothing changes" in words(app)
    with Store(invited) as store:
        assert invited_with(store, hash_secret("leas")) == ("Lea", "lead"), (
            "the old one holds till then"
        )


def test_the_door_can_be_opened_again(invited: Path):
    app = press(open_page("data", section="People"), "End all invitations")
    assert "Nobody is invited yet" in words(app)
    with Store(invited) as store:
        assert not store.people.has_invitations()


def test_where_others_reach_the_server_the_door_stays_closed(invited: Path, monkeypatch):
    monkeypatch.setenv("LABELER_ANY_HOST", "1")
    app = open_page("data", section="People")
    assert "End all invitations" not in [button.label for button in app.button]


def test_an_address_beside_a_name_is_a_login_where_the_server_has_one(invited: Path, monkeypatch):
    monkeypatch.setenv("LABELER_LOGIN", "1")
    monkeypatch.setattr("labeler.web.auth.session_cookies.user_of", lambda _: {})
    app = invite(open_page("data", section="People"), "Cy <Cy@example.org>")
    assert not [code for code in app.code if "/join/" in code.value]
    with Store(invited) as store:
        assert store.people.invited_at("cy@example.org") == ("Cy", "grader")


# Runs


def test_runs_are_listed_with_no_date_where_nobody_gave_one(filled: Path):
    app = open_page("data", section="Runs")
    table = app.dataframe[0].value
    assert [*table["run"]] == ["all", "*some*"]
    assert [*table["made on"]] == ["2026-01-31", ""]
    assert "No query of these runs" not in words(app)
    with Store(filled) as store:
        store.runs.load(loaded([Ranking("Q1", ("c1",))]), name="other ids")
    said = words(open_page("data", section="Runs"))
    assert "⚠ No query of these runs is in the golden set: other ids" in said


def test_a_run_is_renamed_dated_and_dropped(filled: Path):
    app = open_page("data", section="Runs", run="*some*", a="all", also=["all", "*some*"])
    field(app, "Name").set_value("some of them")
    app = press(app, "Rename")
    assert field(app, "Change a run").value == "some of them"
    assert app.query_params["also"] == ["all", "some of them"]
    field(app, "Made on").set_value("2026-02-01")
    app = press(app, "Save")
    assert [*app.dataframe[0].value["made on"]] == ["2026-01-31", "2026-02-01"]
    assert "'some of them' is removed with its 1 list of up to 2 chunks" in words(app)
    app = press(app, "Drop it")
    assert [*app.dataframe[0].value["run"]] == ["all"]
    assert field(app, "Change a run").value == "choose one"
    assert app.query_params["also"] == "all"
    with Store(filled) as store:
        assert [run.name for run in store.runs.all()] == ["all"]
        assert store.golden_set.contents().golden == 3


def test_who_drops_a_run_that_graders_are_given_holes_of_is_told(filled: Path):
    with Store(filled) as store:
        store.settings.save(Settings(strategy=UNJUDGED_OF_TWO, unjudged_of=("all", "*some*")))
    said = "Graders get 'only unjudged of A vs B' with this run"
    assert said in words(open_page("data", section="Runs", run="all"))
    with Store(filled) as store:
        store.settings.save(Settings(unjudged_of=("all", "*some*")))
    assert said not in words(open_page("data", section="Runs", run="all"))


def test_a_date_is_taken_away_again_and_a_time_is_not_lost(filled: Path):
    with Store(filled) as store:
        store.runs.change("all", created_at="2026-01-31T10:00:00Z")
    app = open_page("data", section="Runs", run="all")
    field(app, "System").set_value("bm25")
    app = press(app, "Save")
    with Store(filled) as store:
        assert (store.runs.all()[0].system, store.runs.all()[0].created_at) == (
            "bm25",
            "2026-01-31T10:00:00Z",
        )
    field(app, "Made on").set_value(None)
    press(app, "Save")
    with Store(filled) as store:
        assert store.runs.all()[0].created_at is None


def test_a_run_takes_no_name_that_is_taken(filled: Path):
    app = open_page("data", section="Runs", run="all")
    field(app, "Name").set_value("*some*")
    assert "there is a run named '*some*' already" in words(press(app, "Rename"))
    app = open_page("data", section="Runs", run="all")
    field(app, "System").set_value(" ")
    assert 'On this page: "System"' in words(press(app, "Save"))


def test_a_run_that_is_gone_is_said(filled: Path):
    assert "no run is called 'gone'" in words(open_page("data", section="Runs", run="gone"))


# Queries


def test_a_query_is_found_retired_and_restored(filled: Path):
    app = open_page("data", section="Queries")
    said = words(app)
    assert "3 of 3 queries" in said
    assert re.findall(r"^(?:1 grade|\d grades)$", said, re.M) == ["2 grades", "1 grade", "0 grades"]
    field(app, "Find").set_value("QUERY 1").run()
    app = press(app, "Retire")
    with Store(filled) as store:
        assert store.queries.count() == 2
    assert re.search(r"2 grades · retired on \d{4}-\d\d-\d\d", words(app))
    assert field(app, "Find").value == "QUERY 1", "the page stays where it was"
    field(app, "Find").set_value("").run()
    field(app, "Which").set_value("retired").run()
    app = press(app, "Restore")
    assert "0 of 3 queries" in words(app)
    with Store(filled) as store:
        assert store.golden_set.contents().queries == 3


def test_of_many_queries_the_first_are_shown_and_how_to_find_the_others(database: Path):
    assert "There is no query yet" in words(open_page("data", section="Queries"))
    with Store(database) as store:
        store.queries.load(loaded([Query(f"q{n:02}", f"query *{n}*") for n in range(30)]))
    said = words(open_page("data", section="Queries"))
    assert "30 of 30 queries, the first 20 shown; find the others by their id or text" in said
    assert ("q19" in said, "q20" in said) == (True, False)
    assert not [each for each in open_page("data", section="Queries").markdown if "*" in each.value]


# Settings, and all


@pytest.mark.parametrize("section", ["Load", "Download", "People", "Runs", "Queries", "Settings"])
def test_every_section_of_data_opens(filled: Path, section: str):
    app = open_page("data", section=section)
    counts = "3 queries · 4 chunks · 2 runs · 3 golden grades"
    assert (counts in words(app)) is (section == "Load"), "where more is loaded"
    assert app.button_group[0].value == section


def sections(app: AppTest) -> list[str]:
    return list(app.button_group[0].options)


def test_a_section_without_anything_to_act_on_is_not_shown(database: Path, filled: Path):
    shown = ["Load", "Download", "People", "Runs", "Queries", "Settings", "Advanced"]
    assert sections(open_page("data")) == shown
    with Store(filled) as store:
        for run in ("all", "*some*"):
            store.runs.drop(run)
    assert sections(open_page("data")) == shown, "what is loaded here may be a run"
    there = sections(open_page("data", section="People"))
    assert there == [name for name in shown if name != "Runs"]
    assert sections(open_page("data", section="Runs")) == shown, "its address still opens it"


def test_an_empty_golden_set_has_nothing_to_download(database: Path):
    there = sections(open_page("data", section="People"))
    assert there == ["Load", "People", "Queries", "Settings", "Advanced"]


@pytest.mark.parametrize(
    ("former", "chosen"),
    [
        ("Candidates", ["Queries", "Candidates"]),
        ("Versions", ["Advanced", "Versions"]),
        ("Audit", ["Advanced", "Audit"]),
        ("Transfer", ["Advanced", "Transfer"]),
        ("Carry over", ["Advanced", "Transfer"]),
    ],
)
def test_the_address_of_a_former_section_leads_to_where_it_is_now(
    filled: Path, former: str, chosen: list[str]
):
    app = open_page("data", section=former)
    assert [group.value for group in app.button_group[:2]] == chosen


def test_a_transfer_is_not_spoken_of_while_there_is_one_chunking(filled: Path):
    app = open_page("data", section="Advanced")
    assert list(app.button_group[1].options) == ["Versions", "Audit"]


def test_candidates_are_beside_the_queries_once_there_are_some(filled: Path):
    app = open_page("data", section="Queries")
    assert len(app.button_group) == 1
    app = press(app, "Collect candidate questions")
    assert [group.value for group in app.button_group[:2]] == ["Queries", "Candidates"]


def test_settings_that_make_no_sense_are_refused(filled: Path):
    app = open_page("data", section="Settings")
    app.text_input(key="word-3").set_value("  ")
    app.button[0].click().run()
    assert "the scale needs four words" in words(app)
    with Store(filled) as store:
        assert store.settings.read().words[3] == "highly relevant"


def test_a_word_of_the_scale_must_fit_on_its_button(filled: Path):
    app = open_page("data", section="Settings")
    assert [app.text_input(key=f"word-{grade}").max_chars for grade in range(4)] == [40] * 4
    app.text_input(key="word-3").set_value("x" * 41)
    app.button[0].click().run()
    with Store(filled) as store:
        assert store.settings.read().words[3] == "x" * 40


def test_what_graders_read_is_the_teams_choice(filled: Path):
    app = open_page("data", section="Settings")
    for label, text in {
        "Grade 3 explained": "settles it",
        "Word for query, singular": "case",
        "Word for query, plural": "cases",
        "Word for chunk, singular": "clause",
        "Word for chunk, plural": "clauses",
        "Contact for graders": "Ann, room 3",
    }.items():
        field(app, label).set_value(text)
    app = press(app, "Save settings")
    with Store(filled) as store:
        kept = store.settings.read()
    assert kept.meanings == (*Settings().meanings[:3], "settles it")
    assert (kept.question, kept.passage) == (("case", "cases"), ("clause", "clauses"))
    assert kept.contact == "Ann, room 3"
    field(app, "Word for chunk, singular").set_value(" ")
    assert "needs 1 to 20 characters" in words(press(app, "Save settings"))


def test_three_graded_passages_are_chosen_for_practice(filled: Path):
    app = open_page("data", section="Settings")
    field(app, "Passages for practice").set_value("q1 c1\nq1 c2")
    assert "6 ids, not 4" in words(press(app, "Save settings"))
    field(app, "Passages for practice").set_value("q1 c1\nq1 c2\nq1 'no such'")
    assert "have no golden grade" in words(press(app, "Save settings"))
    with Store(filled) as store:
        graded = [(each.query_id, each.chunk_id) for each in store.golden_set.read()[1]][:3]
    typed = "\n".join(" ".join(pair) for pair in graded)
    field(app, "Passages for practice").set_value(typed)
    app = press(app, "Save settings")
    assert field(app, "Passages for practice").value == typed
    with Store(filled) as store:
        assert store.settings.read().practice == tuple(name for pair in graded for name in pair)


def test_what_is_tested_of_two_runs_is_the_teams_choice(filled: Path):
    app = open_page("data", section="Settings")
    field(app, "Decide by").set_value("RR")
    field(app, "Tested measures").set_value(" RR   AP ")
    press(app, "Save settings")
    with Store(filled) as store:
        assert (store.settings.read().decide_by, store.settings.read().measures) == ("RR", "RR AP")
    for label in ("Decide by", "Tested measures"):
        app = open_page("data", section="Settings")
        field(app, label).set_value("nDGC@10")
        assert "no measure is called 'nDGC'" in words(press(app, "Save settings"))
    with Store(filled) as store:
        assert (store.settings.read().decide_by, store.settings.read().measures) == ("RR", "RR AP")


@pytest.mark.parametrize("page", ["data", "review"])
def test_a_lead_is_warned_while_the_guideline_is_the_default(filled: Path, page: str):
    warning = "Graders still see the generic guideline"
    assert warning in words(open_page(page))
    with Store(filled) as store:
        store.settings.save(Settings(guideline="Grade what the clause says."))
    assert warning not in words(open_page(page))


def test_an_empty_golden_set_is_not_warned_of_its_guideline(database: Path):
    assert "generic guideline" not in words(open_page("data"))


def test_how_chunks_are_handed_out_is_the_teams_choice(filled: Path):
    app = open_page("data", section="Settings")
    app.text_area[0].set_value("  Grade what the chunk says, not what you know.  ")
    app.checkbox[0].uncheck()
    by_label = {field.label: field for field in [*app.number_input, *app.selectbox]}
    by_label["Share graded by everyone, %"].set_value(25)
    by_label["Which chunks come first"].select("only unjudged of A vs B")
    app.button[0].click().run()
    assert "needs two different runs" in words(app), "nothing is kept of a choice that is half made"
    with Store(filled) as store:
        assert store.settings.read().guideline == ""
    by_label = {field.label: field for field in app.selectbox}
    names = by_label["Run A, for A vs B"].options[1:3]
    for side, name in zip("AB", names, strict=True):
        by_label[f"Run {side}, for A vs B"].select(name)
    app.button[0].click().run()
    with Store(filled) as store:
        kept = store.settings.read()
        assert kept.guideline == "Grade what the chunk says, not what you know."
        assert (kept.show_reference, kept.overlap) == (False, 0.25)
        assert (kept.strategy, kept.unjudged_of) == ("only unjudged of A vs B", tuple(names))
        store.runs.drop(names[0])
    app = open_page("data", section="Settings")
    by_label = {field.label: field for field in app.selectbox}
    assert by_label["Run A, for A vs B"].value == "no run"


def test_what_was_typed_in_a_terminal_stays_where_the_page_saves_something_else(filled: Path):
    typed = Settings(
        prompt_k=1000, pool_depth=1000, prompt_k_by_task={"single": 1000}, overlap=0.125
    )
    with Store(filled) as store:
        store.settings.save(typed)
    app = open_page("data", section="Settings")
    by_label = {field.label: field for field in app.text_input}
    by_label["Contact for graders"].set_value("Lea")
    app.button[0].click().run()
    with Store(filled) as store:
        assert store.settings.read() == replace(typed, contact="Lea")


def test_settings_explain_themselves_and_name_the_tasks_that_there_are(filled: Path):
    app = open_page("data", section="Settings")
    fields = {each.label: each for each in app.number_input}
    assert "means more to grade" in fields["Pool depth"].help
    assert "into the prompt" in fields["Chunks in the prompt"].help
    label = "Tasks with values of their own"
    assert label not in {each.label for each in app.text_area}
    with Store(filled) as store:
        store.queries.load(loaded([Query("q9", "which parcels?", task="longtail")]))
    app = open_page("data", section="Settings")
    assert field(app, label).value == "longtail:"
    assert "Without values: 5 chunks in the prompt, and the usual measures (longtail" in words(app)
    field(app, label).set_value("longtail: 8 chunks, R@10 RR\n\nsingle: 1")
    press(app, "Save settings")
    with Store(filled) as store:
        kept = store.settings.read()
    assert kept.prompt_k_by_task == {"longtail": 8, "single": 1}
    assert kept.measures_by_task == {"longtail": "R@10 RR"}
    app = open_page("data", section="Settings")
    assert field(app, label).value == "single: 1 chunk\nlongtail: 8 chunks, R@10 RR"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("longtail 8", "tasks, line 1: 'longtail 8' is not like 'single: 3 chunks, RR Success@1'"),
        ("longtail: 8\nlongtail: 9", "tasks, line 2: 'longtail' occurs twice"),
        ("longtail: 0", "the prompt size of task 'longtail' cannot be 0"),
        ("longtail: 3 nonsense", "nonsense"),
    ],
)
def test_a_line_of_a_task_that_cannot_be_read_is_refused(filled: Path, typed: str, said: str):
    with Store(filled) as store:
        store.queries.load(loaded([Query("q9", "which parcels?", task="longtail")]))
    app = open_page("data", section="Settings")
    field(app, "Tasks with values of their own").set_value(typed)
    assert said in words(press(app, "Save settings"))
    with Store(filled) as store:
        assert store.settings.read() == Settings()


def test_settings_are_in_four_groups(filled: Path):
    app = open_page("data", section="Settings")
    headings = [each.value for each in app.header]
    assert headings == ["What graders read", "Who gets what", "What counts", "A vs B"]


def test_the_guideline_is_edited_in_its_own_text(filled: Path):
    app = open_page("data", section="Settings")
    generic = Settings().default_guideline
    assert app.text_area[0].value == generic
    assert "Start from this text" in words(app)
    press(app, "Save settings")
    with Store(filled) as store:
        assert store.settings.read().guideline == "", "unchanged, it is still the generic one"
    app = open_page("data", section="Settings")
    app.text_area[0].set_value(f"{generic}\nA price list counts as an answer.")
    press(app, "Save settings")
    with Store(filled) as store:
        assert store.settings.read().guideline.endswith("A price list counts as an answer.")


def test_answers_and_signals_are_dropped_on_the_page_and_dropped_again(database: Path):
    answers = "query,answer,correct\nq1,three days,yes\n"
    signals = "date,system,name,value\n2026-01-31,a,ctr,0.3\n"
    files = {"asked": QUERIES, "a__trec": RUN, "said__csv": answers, "used__csv": signals}
    app = press(drop(open_page("data"), **files), "Load 4 files")
    assert "it is not said of which run this is" in words(app)
    assert "On this page: the name beside the file's kind" in words(app)
    (box,) = (box for box in app.text_input if box.label.startswith("Run whose answers"))
    app = press(box.set_value("a").run(), "Load 4 files")
    with Store(database) as store:
        assert store.answers.right("a") == {"q1": True}
        assert [each.name for each in store.signals.all()] == ["ctr"]
    app = open_page("data", section="Runs", run="a", signal="ctr of a")
    assert app.dataframe[0].value["answers"].tolist() == [1]
    press(app, "Drop them")
    app = press(open_page("data", section="Runs", signal="ctr of a"), "Drop it")
    with Store(database) as store:
        assert store.answers.runs() == {}
        assert store.signals.all() == []
    assert "Signals" not in words(open_page("data", section="Runs"))


def test_the_field_map_is_seen_checked_and_taken_away(filled: Path):
    with Store(filled) as store:
        store.settings.save_field_map("query=in.q results=out")
    app = open_page("data", section="Settings")
    label = "Field map for files"
    assert field(app, label).value == "query=in.q results=out"
    field(app, label).set_value("results=out")
    assert "it names no query" in words(press(app, "Save settings"))
    field(app, label).set_value("ragas")
    app = press(app, "Save settings")
    with Store(filled) as store:
        assert store.settings.read().field_map == "ragas"
    field(app, label).set_value(" ")
    press(app, "Save settings")
    with Store(filled) as store:
        assert store.settings.read().field_map == ""


def test_the_language_of_the_grading_pages_is_chosen_by_its_own_name(filled: Path):
    box = field(open_page("data", section="Settings"), "Language of the grading pages")
    assert box.options == ["automatic, by the browser", "Deutsch", "English"]
    assert box.value == "automatic"
    app = open_page("data", section="Settings")
    field(app, "Language of the grading pages").set_value("de")
    press(app, "Save settings")
    with Store(filled) as store:
        assert store.settings.read().language == "de"
        assert store.settings.read().words == Settings().words  # German graders read German ones
