"""What measures are called: names read and written, and what the registry says of each."""

from __future__ import annotations

import pickle
import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import BadInput
from labeler.measures import MEASURES, Measure, parse, parse_all
from labeler.measures.definition import PARAMETERS
from tests.support.rankings import ANY_CUTOFF, measures


@given(measures(ANY_CUTOFF, tuple(MEASURES.values())))
def test_a_measure_reads_back_from_its_text(measure: Measure) -> None:
    assert parse(str(measure)) == measure
    assert parse(str(measure), rel=3, dcg="log2") == measure, "a spelled name ignores the defaults"
    assert parse_all(str(measure)) == (measure,)


def test_a_bare_name_takes_gain_and_threshold_from_the_defaults() -> None:
    assert str(parse("nDCG@10", dcg="log2")) == "nDCG(dcg='log2')@10"
    assert str(parse("P@5", rel=2)) == "P(rel=2)@5"
    assert str(parse("P(rel=1)@5", rel=2)) == "P(rel=1)@5"
    assert str(parse("Judged@10", rel=2)) == "Judged@10"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("MRR", "RR(rel=1)"),
        ("mrr@10", "RR(rel=1)@10"),
        ("evidencerecall@2000C", "EvidenceR(rel=1)@2000c"),
        ("IoU@prompt", "EvidenceIoU(rel=1)@prompt"),
        ("EvidenceP(rel=2, characters=300)", "EvidenceP(rel=2)@300c"),
        ("recall(documents=True)@5", "R(rel=1, documents=True)@5"),
        ("ndcg(documents=False)@5", "nDCG(dcg='exp-log2')@5"),
        ("MAP", "AP(rel=1)"),
        ("Recall@5", "R(rel=1)@5"),
        ("precision@5", "P(rel=1)@5"),
        ("Hit@3", "Success(rel=1)@3"),
        ("hit_rate@3", "Success(rel=1)@3"),
        ("HitRate@3", "Success(rel=1)@3"),
        ("NDCG@10", "nDCG(dcg='exp-log2')@10"),
        ('nDCG( dcg = "log2" )@10', "nDCG(dcg='log2')@10"),
        ("R@Budget", "R(rel=1)@prompt"),
        ("f1@5", "F1(rel=1)@5"),
        ("RPrec", "Rprec(rel=1)"),
        ("R-Precision", "Rprec(rel=1)"),
        ("bpref", "Bpref(rel=1)"),
        ("RBP", "RBP(rel=1, p=0.8)"),
        ("RBP(p=.95, rel=2)@20", "RBP(rel=2, p=0.95)@20"),
        ("err@10", "ERR@10"),
        ("ERR(max=3)@10", "ERR@10"),
        ("ERR(max=4)@10", "ERR(max=4)@10"),
        ("SetF", "SetF(rel=1, beta=1.0)"),
        ("SetF(beta=2)", "SetF(rel=1, beta=2.0)"),
        ("NumRet", "NumRet"),
        ("NumRet(rel=2)", "NumRet(rel=2)"),
        ("NumRel", "NumRel(rel=1)"),
        ("NumRelRet", "NumRet(rel=1)"),
        ("num_rel_ret", "NumRet(rel=1)"),
        ("NumRelRet(rel=3)", "NumRet(rel=3)"),
        ("P(judged_only=True)@5", "P(rel=1, judged_only=True)@5"),
        ("P(judged_only=False)@5", "P(rel=1)@5"),
        ("nDCG(gains={2:10,3:100})@10", "nDCG(gains={0: 0, 1: 1, 2: 10, 3: 100})@10"),
        ("nDCG(gains={},dcg='log2')", "nDCG(gains={0: 0, 1: 1, 2: 2, 3: 3})"),
    ],
)
def test_names_of_other_tools_are_understood(given: str, meant: str) -> None:
    assert str(parse(given)) == meant


def test_several_measures_in_one_text_or_in_many() -> None:
    texts = ["nDCG(dcg='exp-log2')@10 P( rel=2, )@5", "AP,RR", "AP"]
    assert [str(m) for m in parse_all(texts)] == [
        "nDCG(dcg='exp-log2')@10",
        "P(rel=2)@5",
        "AP(rel=1)",
        "RR(rel=1)",
    ]
    assert parse_all("") == ()


def test_a_label_leaves_the_parameters_out() -> None:
    assert [m.label for m in parse_all("nDCG@10 R@prompt AP")] == ["nDCG@10", "R@prompt", "AP"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Rpred", "did you mean Rprec"),
        ("Bperf", "did you mean Bpref"),
        ("ER@5", "did you mean ERR"),
        ("F1", "F1 needs a cut-off, as in F1@5"),
        ("Rprec@5", "Rprec takes no cut-off; P@k or R@k has one"),
        ("SetF@prompt", "SetF takes no cut-off; F1@k has one"),
        ("NumRel@5", "NumRel takes no cut-off"),
        ("P(rel=1.5)@5", "P takes rel=1, rel=2 or rel=3"),
        (
            "P(rell=1)@5",
            "P takes rel=1, rel=2 or rel=3, and documents=True, and judged_only=True; 'rell=1' is",
        ),
        ("P(judged_only=1)@5", "and judged_only=True; 'judged_only=1' is not"),
        ("P(judged_only)@5", "'judged_only' is not among them"),
        ("RBP(p=1)", "p above 0 and below 1"),
        ("RBP(p=0.0)", "p above 0 and below 1"),
        ("RBP(p=-0.5)", "p above 0 and below 1"),
        ("RBP(p=nan)", "p above 0 and below 1"),
        ("RBP(p='x')", "p above 0 and below 1"),
        ("RBP(rel=4)", "RBP takes rel=1, rel=2 or rel=3"),
        ("RBP(judged_only=True)", "RBP takes rel=1, rel=2 or rel=3, and p above 0"),
        ("SetF(beta=0)", "beta above 0 and below 1000"),
        ("SetF(beta=inf)", "beta above 0 and below 1000"),
        ("SetR(judged_only=True)", "SetR takes rel=1, rel=2 or rel=3;"),
        (
            "ERR(max=2)@10",
            "ERR takes max=3 or a higher whole number (gdeval: max=4), and documents=True; 'max=2'",
        ),
        ("ERR(max=3.5)@10", "ERR takes max=3"),
        ("ERR(rel=1)@10", "ERR takes max=3"),
        ("nDCG(gains={1: 3, 2: 2})@5", "(whole numbers that never fall"),
        ("nDCG(gains={0: 1})", "0 for grade 0"),
        ("nDCG(gains={4: 9})", "gains={0: 0, 1: 1, 2: 10, 3: 100}"),
        ("nDCG(gains={1: 0, 2: 0, 3: 0})", "gains={0: 0, 1: 1, 2: 10, 3: 100}"),
        ("nDCG(gains={1: 0.5})", "gains={0: 0, 1: 1, 2: 10, 3: 100}"),
        ("nDCG(gains={1: 1, 1: 2})", "gains={0: 0, 1: 1, 2: 10, 3: 100}"),
        ("nDCG(gains={1: 1)", "gains={0: 0, 1: 1, 2: 10, 3: 100}"),
        ("nDCG(gains={1: 1}, dcg='exp-log2')", "dcg='exp-log2', or gains="),
        ("nDGC@10", "did you mean nDCG"),
        ("Recal@5", "did you mean R"),
        ("Presicion@5", "did you mean P"),
        ("foo", "there are nDCG, P, R"),
        ("P", "P needs a cut-off, as in P@5"),
        ("Success", "needs a cut-off"),
        ("P@0", "a whole number from 1"),
        ("P@-1", "is not a measure: a cut-off is a whole number from 1, or 'prompt', not '-1'"),
        ("P@2.5", "a cut-off is a whole number from 1, or 'prompt', not '2.5'"),
        ("P@@5", "is not a measure"),
        ("P@5@5", "is not a measure"),
        ("P@x", "a whole number from 1, or 'prompt'"),
        ("P@2000c", "counted by measures of the evidence alone: EvidenceR, EvidenceP"),
        ("EvidenceR@0c", "a prompt has at least one character"),
        ("EvidenceR(characters=9)@5", "takes a cut-off or a number of characters, not both"),
        ("EvidenceR(documents=True)@5", "EvidenceR takes rel=1"),
        ("P@٣", "a whole number from 1"),
        ("P(rel=9)@5", "P takes rel=1, rel=2 or rel=3"),
        ("P(rel=0)@5", "P takes rel=1, rel=2 or rel=3"),
        ("P(rel=1,rel=2)@5", "rel is given twice"),
        ("nDCG(rel=2)@5", "nDCG takes dcg='log2' or dcg='exp-log2'"),
        ("nDCG(dcg='ln')@5", "nDCG takes dcg="),
        ("Judged(rel=1)@5", "Judged takes no parameters"),
        ("P(rel=2@5", "is not a measure"),
        ("", "is not a measure"),
    ],
)
def test_a_wrong_name_is_refused_with_what_would_be_right(text: str, hint: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(text)
    assert hint in str(caught.value)


@given(st.text())
def test_any_text_is_a_measure_or_bad_input(text: str) -> None:
    with suppress(BadInput):
        assert parse(str(parse(text))) == parse(text)


@pytest.mark.parametrize("name", MEASURES)
def test_every_definition_is_complete(name: str) -> None:
    definition = MEASURES[name]
    assert definition.name == name
    assert parse(definition.example).definition is definition
    for sentence in (definition.meaning, definition.hides):
        assert sentence[0].isupper()
        assert sentence.endswith(".")
    assert definition.formula
    assert definition.function.__doc__
    cutoff = (
        "@0.3" if definition.after_at == "recall" else "" if definition.cutoff == "never" else "@3"
    )
    assert {parse(alias + cutoff).name for alias in definition.aliases} <= {name}
    assert {*definition.optional} <= {*definition.parameters} <= {*PARAMETERS}


@pytest.mark.parametrize(
    "given",
    [
        {"name": "P", "rel": 1, "cutoff": 5.0},
        {"name": "P", "rel": 1, "cutoff": True},
        {"name": "P", "rel": 1, "cutoff": 0},
        {"name": "P", "rel": True, "cutoff": 5},
        {"name": "P", "cutoff": 5},
        {"name": "P", "rel": 1, "cutoff": 5, "p": 0.8},
        {"name": "P", "rel": 1, "cutoff": 5, "judged_only": None},
        {"name": "RBP", "rel": 1},
        {"name": "nDCG", "dcg": "log2", "gains": (0, 1, 2, 3)},
        {"name": "nDCG"},
        {"name": "nDCG", "gains": (0, 1, 2)},
        {"name": "SetP", "rel": 1, "cutoff": 5},
    ],
)
def test_a_measure_cannot_be_made_that_its_text_would_not_give_back(given: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=str(given["name"])):
        Measure(**given)


def test_measures_that_come_from_another_process_are_found_here() -> None:
    """Texts have another hash in every process, and so has what is made of them."""
    write = "import pickle, sys; from labeler.measures import parse_all; "
    write += "asked = parse_all('MRR(rel=2)@10 AP'); known = {asked, *asked}; "
    write += "sys.stdout.buffer.write(pickle.dumps(asked))"
    command = [sys.executable, "-c", write]
    sent = subprocess.run(command, check=True, capture_output=True).stdout
    received = pickle.loads(sent)  # written by the lines above
    there = parse_all("MRR(rel=2)@10 AP")
    assert received in {there}
    assert received[0] in {*there}
    assert received[0].names == ("MRR(rel=2)@10",)
