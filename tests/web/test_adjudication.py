"""What graders disagree on, and what a lead decides of it: listed, told, logged and undone."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.errors import NotFound
from labeler.model import MAJORITY, UPPER_MEDIAN, Chunk, Judgment, Query, Ranking, Settings
from labeler.store import JudgmentConflict, Store
from labeler.web.auth.access import hash_secret
from tests.support.grading_client import Pad, pad
from tests.support.signed_in import let_in

__all__ = ["pad"]


def say(store: Store, chunk_id: str, grades: dict[str, int], query_id: str = "q1", **more) -> None:
    for grader, grade in grades.items():
        store.people.add(grader)
        number = store.judgments.revision()
        store.judgments.add(Judgment(f"s{number}", query_id, chunk_id, grader, grade=grade, **more))


@pytest.fixture
def split(filled: Store) -> Store:
    """Four graded pairs: on three of them graders disagree."""
    say(filled, "c3", {"Ann": 1, "Bob": 2}, note="as I read it")
    say(filled, "c4", {"Ann": 0, "Bob": 3, "Cy": 3})
    say(filled, "c1", {"Ann": 2, "Bob": 2})
    say(filled, "c4", {"Bob": 0, "Cy": 2}, "q2")
    return filled


def pairs(store: Store, *asked: Any) -> list[tuple[str, str, int]]:
    return [
        (each.query_id, each.chunk_id, each.spread)
        for each in store.adjudication.disagreements(*asked)
    ]


# Which pairs they are ---------------------------------------------------------------------------


def test_disagreements_come_query_by_query_widest_first_with_the_grade_that_counts(split: Store):
    assert pairs(split) == [("q1", "c4", 3), ("q1", "c3", 1), ("q2", "c4", 2)]
    first = split.adjudication.disagreements()[0]
    assert (first.grades, first.golden, first.is_open) == ({"Ann": 0, "Bob": 3, "Cy": 3}, 3, True)
    split.queries.retire("q2")
    assert ("q2", "c4", 2) not in pairs(split)


def test_of_as_wide_ones_a_tie_comes_first(split: Store):
    say(split, "c2", {"Ann": 0, "Bob": 3})
    assert [found[1] for found in pairs(split)[:2]] == ["c2", "c4"]
    split.settings.save(Settings(golden_rule=MAJORITY))
    found = split.adjudication.disagreements()
    assert [(each.chunk_id, each.golden) for each in found[:2]] == [("c2", None), ("c4", 3)]
    split.settings.save(Settings(golden_rule=UPPER_MEDIAN))
    assert split.adjudication.disagreements()[0].golden == 3


def test_a_pair_of_graders_or_one_of_them_confines_the_list(split: Store):
    assert pairs(split, ["Bob", "Cy"]) == [("q2", "c4", 2)]
    assert pairs(split, ["Ann", "Bob"]) == [("q1", "c4", 3), ("q1", "c3", 1)]
    assert pairs(split, ["Cy"]) == [("q1", "c4", 3), ("q2", "c4", 2)]
    assert pairs(split, ["nobody"]) == []
    assert pairs(split, (), split.queries.in_bucket("intent", "billing")) == [("q2", "c4", 2)]


def test_a_case_has_every_opinion_with_its_note_and_what_it_is_worth(split: Store, loaded):
    split.judgments.add(Judgment("x", "q1", "c3", "Cy", "cannot_tell", reason="needs more context"))
    split.judgments.add(Judgment("again", "q1", "c3", "Ann", grade=3, source="repeat", blind=False))
    split.chunks.load(loaded([Chunk("c3", "another text")]), update=True)
    [case] = split.adjudication.cases(split.adjudication.disagreements()[1:2])
    assert (case.query.query_id, case.chunk.text) == ("q1", "another text")
    said = {each.grader: each for each in case.opinions}
    assert (said["Ann"].grade, said["Ann"].blind) == (3, False)
    assert said["Ann"].note == "as I read it", "what came back unmarked is graded without its note"
    assert (said["Bob"].blind, said["Bob"].stale) == (True, True)
    assert (said["Cy"].kind, said["Cy"].reason) == ("cannot_tell", "needs more context")


def test_a_chunk_known_by_id_only_can_be_decided_too(split: Store):
    say(split, "c5", {"Ann": 0, "Bob": 1}, "q2")
    [case] = [
        each
        for each in split.adjudication.cases(split.adjudication.disagreements())
        if each.chunk.chunk_id == "c5"
    ]
    assert (case.chunk.text, case.text_hash, case.more) == (None, None, None)


# What the store takes ---------------------------------------------------------------------------


def verdict(event_id: str, grade: int, grader: str = "Lea", chunk_id: str = "c4") -> Judgment:
    return Judgment(event_id, "q1", chunk_id, grader, "adjudicate", grade, blind=False)


def test_who_did_not_know_the_adjudication_that_stands_does_not_replace_it(split: Store):
    for name in ("Lea", "Max"):
        split.people.add(name)
    assert split.adjudication.adjudicate(verdict("v1", 1), None)
    assert not split.adjudication.adjudicate(verdict("v1", 1), None), "sent again"
    with pytest.raises(
        JudgmentConflict, match="Lea has adjudicated this chunk meanwhile: 1; that stands"
    ):
        split.adjudication.adjudicate(verdict("v2", 2, "Max"), None)
    assert split.adjudication.adjudicate(verdict("v2", 2, "Max"), "v1")
    assert split.adjudication.disagreements()[0].golden == 2
    assert split.adjudication.take_back(event_id="u", undoes="v2", grader="Max")
    assert split.adjudication.disagreements()[0].golden == 1, "what stood before stands again"
    split.adjudication.take_back(event_id="u1", undoes="v1", grader="Lea")
    with pytest.raises(JudgmentConflict, match="has been undone"):
        split.adjudication.adjudicate(verdict("v3", 2), "v1")


def test_only_ones_own_adjudications_are_taken_back(split: Store):
    for name in ("Lea", "Max"):
        split.people.add(name)
    split.adjudication.adjudicate(verdict("v1", 1), None)
    with pytest.raises(NotFound, match="'Max' has no event 'v1' to undo"):
        split.adjudication.take_back(event_id="u", undoes="v1", grader="Max")
    with pytest.raises(NotFound, match="'Ann' has no adjudication 's3' to undo"):
        split.adjudication.take_back(event_id="u", undoes="s3", grader="Ann")
    assert split.adjudication.by("Lea", 5) == [("v1", "q1", "c4", 1)]
    assert split.adjudication.by("Max", 5) == []
    split.adjudication.take_back(event_id="u", undoes="v1", grader="Lea")
    assert split.adjudication.by("Lea", 5) == []


# What the routes give and take ------------------------------------------------------------------


def asked(pad: Pad, **more: object) -> Any:
    return pad.get("disagreements", **more)


def event(pad: Pad, item: dict[str, Any], event_id: str, grade: object, **more) -> dict[str, Any]:
    stands = item["adjudication"]
    return {
        "event_id": event_id,
        "golden_set": pad.golden_set,
        "grader": pad.grader,
        "by": pad.key,
        "query": item["query"],
        "chunk": item["chunk"],
        "text_hash": item["text_hash"],
        "slip": item["slip"],
        "replaces": stands and stands["event_id"],
        "grade": grade,
        **more,
    }


def post(pad: Pad, *events: dict[str, Any], status: int = 200) -> Any:
    body = json.dumps({"events": events}).encode()
    answer = pad.ask(pad.app, "POST", "/api/adjudications", body, pad.headers)
    assert answer.status == status, answer.body
    return answer.json()["results"] if status == 200 else answer.json()["error"]


def undo(pad: Pad, event_id: str, undoes: str) -> dict[str, Any]:
    own = {"golden_set": pad.golden_set, "grader": pad.grader, "by": pad.key}
    return {"event_id": event_id, "undoes": undoes, **own}


@pytest.fixture
def lead(split: Store, ask) -> Pad:
    split.people.add("Lea")
    return Pad(split, ask, "Lea")


def test_one_event_adjudicates_is_harmless_when_sent_again_and_is_undone(split: Store, lead: Pad):
    answer = asked(lead)
    assert (answer["total"], answer["open"], answer["from"]) == (3, 3, 0)
    item = answer["items"][0]
    given = event(lead, item, "v1", 1, note=" both are half right ", elapsed_ms=800)
    for _ in range(2):
        assert post(lead, given) == [{"event_id": "v1", "saved": True}]
    stored = split.judgments.log()[-1]
    assert (stored.kind, stored.grade, stored.note) == ("adjudicate", 1, "both are half right")
    assert (stored.source, stored.text_hash) == ("adjudication", item["text_hash"])
    assert split.golden_set.contents().judgments == 13, "once"
    assert split.judgments.changes_since(split.judgments.revision() - 1)[0].grade == 1
    [again] = [each for each in asked(lead, **{"from": 0})["items"] if each["chunk"] == "c4"][:1]
    assert (again["agreed"], again["adjudication"]["grade"]) == (3, 1)
    assert again["adjudication"]["grader"] == "Lea"
    assert asked(lead)["undoable"][0]["event_id"] == "v1"
    for _ in range(2):
        assert post(lead, undo(lead, "u1", "v1")) == [{"event_id": "u1", "saved": True}]
    assert asked(lead)["items"][0]["adjudication"] is None
    audited, _ = split.audit.search(kind="adjudicate")
    assert [entry.detail["grade"] for entry in audited] == ["undone", 1]
    assert {(entry.who, entry.address) for entry in audited} == {("Lea", "127.0.0.1")}


def test_a_pair_that_is_asked_for_is_told_however_much_stands_before_it(
    split: Store, lead: Pad, loaded
):
    wide = "🙂" * 8_000
    split.queries.load(loaded([Query("long", "what is asked", guideline=wide, reference=wide)]))
    chunks = [f"wide{number:02}" for number in range(19)]
    split.chunks.load(loaded([Chunk(name, f"{name} {wide}") for name in chunks]))
    for name in chunks:
        say(split, name, {"Ann": 0, "Bob": 3}, "long")
    places = [(each.query_id, each.chunk_id) for each in split.adjudication.disagreements()]
    far = places.index(("long", "wide18"))
    assert far >= len(asked(lead)["items"]), "what comes before it fills a page"
    found = asked(lead, query="long", chunk="wide18")
    assert (found["from"], found["items"][0]["chunk"]) == (far, "wide18")
    assert asked(lead, query="long", chunk="c9")["from"] == 0, "there is none"


def test_the_audit_says_how_it_is_known_who_decided(split: Store, lead: Pad):
    item = asked(lead)["items"][0]
    post(lead, event(lead, item, "v1", 1))
    let_in(split, "Lea", "leas", "lead")
    post(lead, undo(lead, "u1", "v1"))
    lead.headers["cookie"] = "labeler_session=leas"
    post(lead, event(lead, item, "v2", 1))
    ways = [entry.way for entry in split.audit.search(kind="adjudicate")[0]]
    assert ways == ["link", "unknown", "name"], "a session, a token alone, a name as typed"


def test_who_was_told_what_others_gave_is_not_blind_whatever_their_browser_says(
    split: Store, lead: Pad
):
    item = asked(lead)["items"][0]
    post(lead, event(lead, item, "v1", 1, blind=True))
    assert split.judgments.log()[-1].blind is False
    assert not split.exposure.is_blind("Lea", "q1", "c4"), "no grade of theirs is, from then on"
    assert split.exposure.is_blind("Lea", "q1", "c2")


def test_a_decision_keeps_the_passages_that_made_it_and_one_of_wrong_ones_is_kept_without(
    split: Store, lead: Pad, loaded
):
    first, second = asked(lead)["items"][:2]
    assert post(lead, event(lead, first, "v1", 2, evidence=[[0, 4], [5, 6]])) == [
        {"event_id": "v1", "saved": True}
    ]
    [result] = post(lead, event(lead, second, "v2", 1, evidence=[[0, 400]]))
    assert result["saved"]
    assert "400" in result["unmarked"]
    assert asked(lead)["items"][0]["adjudication"]["evidence"] == [[0, 4], [5, 6]]
    [marked] = split.evidence.of_grades()
    said = (marked.kind, marked.grade, marked.who, marked.passages, marked.is_golden)
    assert said == ("adjudicate", 2, ("Lea",), ((0, 4), (5, 6)), True)
    split.chunks.load(loaded([Chunk(first["chunk"], "another text")]), update=True)
    assert "evidence" not in asked(lead)["items"][0]["adjudication"], "it is of another text"


def test_a_grader_gets_no_disagreement_and_decides_none(split: Store, lead: Pad, ask):
    item = asked(lead)["items"][0]
    split.people.invite("Lea", hash_secret("leas"), role="lead")
    split.people.invite("Ann", hash_secret("anns"))
    grader = lead.beside(split, "Ann")
    assert grader.answer("disagreements").status == 403
    assert post(grader, event(grader, item, "v1", 1), status=403) == (
        "this is for leads; ask one of them"
    )
    assert split.golden_set.contents().judgments == 12
    assert grader.answer("next").status == 200, "they grade all the same"
    assert post(lead, event(lead, item, "v1", 1)) == [{"event_id": "v1", "saved": True}]


def test_a_server_for_graders_only_has_no_lead(lead: Pad, monkeypatch):
    monkeypatch.setenv("LABELER_GRADERS_ONLY", "1")
    assert lead.answer("disagreements").status == 403


REFUSED = {
    "another chunk than was shown": ({"chunk": "c1"}, "did not show you what graders gave"),
    "another text than was shown": ({"text_hash": "0" * 32}, "did not show you"),
    "a slip of the pad": ({"slip": "pad"}, "did not show you"),
    "no grade": ({"grade": None}, "a grade must be 0, 1, 2 or 3, not None"),
    "a fifth grade": ({"grade": 4}, "a grade must be 0, 1, 2 or 3, not 4"),
    "another golden set": ({"golden_set": "other"}, "decided for another golden set"),
    "somebody else's": ({"by": "no key", "grader": "Ann"}, "this was given by 'Ann', not by 'Lea'"),
    "a note that is too long": ({"note": "x" * 3000}, "a note can have 2,000 characters"),
    "no id": ({"event_id": ""}, "event id must not be empty"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_makes_no_sense_is_refused_in_words_and_nothing_is_written(
    split: Store, lead: Pad, what: str
):
    more, said = REFUSED[what]
    if more.get("slip") == "pad":
        item = asked(lead)["items"][0]
        names = {"by": lead.key, "source": "pool", **{k: item[k] for k in ("query", "chunk")}}
        more = {"slip": lead.slip({**names, "text_hash": item["text_hash"]})}
    [result] = post(lead, {**event(lead, asked(lead)["items"][0], "v1", 1), **more})
    assert said in result["refused"]
    assert split.golden_set.contents().judgments == 12


def test_the_second_of_two_leads_is_told_what_the_first_decided(split: Store, lead: Pad):
    split.people.add("Max")
    other = lead.beside(split, "Max")
    mine, theirs = asked(lead)["items"][0], asked(other)["items"][0]
    post(lead, event(lead, mine, "v1", 1))
    [result] = post(other, event(other, theirs, "v2", 2))
    assert "Lea has adjudicated this chunk meanwhile: 1" in result["refused"]
    assert (result["instead"]["grade"], result["instead"]["grader"]) == (1, "Lea")


def test_the_page_opens_where_nobody_has_decided(split: Store, lead: Pad, loaded):
    names = [f"n{number:02}" for number in range(45)]
    split.chunks.load(loaded([Chunk(name, f"text of {name}") for name in names]))
    split.runs.load(loaded([Ranking("q2", tuple(names))]), name="many")
    for name in names:
        say(split, name, {"Ann": 0, "Bob": 3}, "q2")
    found = split.adjudication.disagreements()
    assert len(found) == 48
    for number, each in enumerate(found[:25]):
        split.adjudication.adjudicate(
            Judgment(f"v{number}", *(each.query_id, each.chunk_id), "Lea", "adjudicate", 1), None
        )
    answer = asked(lead)
    assert (answer["from"], len(answer["items"]), answer["open"]) == (20, 20, 23)
    assert answer["next_open"] == 40
    last = asked(lead, **{"from": 40})
    assert (len(last["items"]), last["next_open"]) == (8, 25)
    assert asked(lead, **{"from": 10**9})["from"] == 40
    assert "c3" in [item["chunk"] for item in asked(lead, query="q1", chunk="c3")["items"]]
    assert asked(lead, facet="intent", bucket="refund", grader="Ann")["total"] == 2
    assert lead.answer("disagreements", grader="x\x00").status == 200


def test_a_tie_is_told_from_a_grade_that_counts(split: Store, lead: Pad):
    split.settings.save(replace(split.settings.read(), golden_rule=MAJORITY))
    by_pair = {(item["query"], item["chunk"]): item["agreed"] for item in asked(lead)["items"]}
    assert by_pair == {("q1", "c4"): 3, ("q2", "c4"): None, ("q1", "c3"): None}


def test_disagreements_are_of_the_split_that_is_asked_for(split: Store, lead: Pad):
    split.splits.assign({"q1": "dev", "q2": "test"}, {})
    assert {item["query"] for item in asked(lead)["items"]} == {"q1", "q2"}
    assert [item["query"] for item in asked(lead, split="test")["items"]] == ["q2"]
    assert asked(lead, split="dev", leaked="without")["total"] == 2
    answer = lead.answer("disagreements", split="tset")
    assert answer.status == 400
    assert "no split is called 'tset'" in answer.json()["error"]


# In a terminal ----------------------------------------------------------------------------------


def listed(store: Store, *arguments: str, exit_code: int = 0) -> str:
    command = ["--db", str(store.path), "disagreements", *arguments]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == exit_code, result.output
    return result.output


def test_disagreements_are_listed_in_a_terminal_with_what_counts_and_was_decided(split: Store):
    split.settings.save(replace(split.settings.read(), golden_rule=MAJORITY))
    split.people.add("Lea")
    split.adjudication.adjudicate(verdict("v1", 1), None)
    lines = listed(split).splitlines()
    assert lines[0] == "3 disagreements, 2 to decide"
    assert [" ".join(line.split()) for line in lines[2:6]] == [
        "query chunk grades apart agreed decided",
        "q1 c4 Ann 0, Bob 3, Cy 3 3 3 1 by Lea",
        "q1 c3 Ann 1, Bob 2 1 tie –",
        "q2 c4 Bob 0, Cy 2 2 tie –",
    ]
    assert lines[7].startswith("agreed: majority (the one that most gave counts")
    assert "| q1 | c3 | Ann 1, Bob 2 | 1 | tie | – |" in listed(split, "--open", "--format", "md")
    assert listed(split, "Bob", "Cy", "--most", "1").splitlines()[2].startswith("query  chunk  ")
    assert listed(split, "--in", "intent", "billing", "--open").count("tie") == 1
    assert listed(split, "Ann", "Cy", "--in", "intent", "billing").startswith("0 disagreements, ")


def test_programs_get_a_row_for_each_persons_grade(split: Store):
    split.people.add("Lea")
    split.adjudication.adjudicate(verdict("v1", 1), None)
    rows = json.loads(listed(split, "--format", "json"))
    assert [(row["grader"], row["grade"]) for row in rows[:3]] == [
        ("Ann", 0),
        ("Bob", 3),
        ("Cy", 3),
    ]
    assert {(row["agreed"], row["adjudicated"], row["adjudicated_by"]) for row in rows[:3]} == {
        (3, 1, "Lea")
    }
    assert "as I read it" in [row["note"] for row in rows]
    assert {row["golden_rule"] for row in rows} == {"lower median"}
    assert listed(split, "--format", "csv").startswith(
        "query_id,query,chunk_id,title,spread,grader"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nobody"], "there is no grader named 'nobody'"),
        (["--in", "intent", "gone"], "no query has intent 'gone'"),
    ],
)
def test_what_is_not_there_is_said(split: Store, arguments: list[str], said: str):
    assert said in listed(split, *arguments, exit_code=1)
