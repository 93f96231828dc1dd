"""The gate file: what it may say, and how a slip in it is named."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.analysis.gate import resolve_checks, thresholds_for
from labeler.analysis.gate.gate_file import read_gate
from labeler.analysis.gate.rules import LimitTerms
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Scoreboard, collect

WHOLE = b"""\
run = "new"
baseline = "old"
confidence = 0.95
fewest_queries = 20

[overall]
"nDCG@10" = 0.75

[each.domain]
most_unjudged = 0.3
RR = {drop = 0.02, fewest_queries = 5}

[bucket.domain."a b"]
RR = {at_least = 0.5, drop = 0.1}

[task.single]
"Success@3" = {at_least = 0.9}
"""


def test_what_a_file_says_first_holds_until_a_section_or_a_measure_says_otherwise():
    gate = read_gate(WHOLE, "gate.toml")
    first, each, bucket, task = gate.rules
    assert first.terms == LimitTerms(0.95, None, 20)
    assert each.terms == LimitTerms(0.95, 0.3, 5)
    assert (each.facet, each.bucket, each.at_least, each.drop) == ("domain", None, None, 0.02)
    assert (bucket.facet, bucket.bucket, bucket.terms.most_unjudged) == ("domain", "a b", None)
    assert (task.facet, task.bucket, gate.line_of(task)) == ("task", "single", 17)


def test_looks_at_any_time_hold_from_where_they_are_said():
    text = (
        b"confidence = 0.9\n[overall]\nanytime = true\nRR = 0.5\nAP = {drop = 0, anytime = false}"
    )
    gate = read_gate(text, "gate.toml")
    assert [rule.terms.anytime for rule in gate.rules] == [True, False]


def board(measures: str = "") -> Scoreboard:
    grades = {name: {"c": 1} for name in ("q1", "q2", "q3")}
    made = collect(grades, {"A": {name: ["c"] for name in grades}})
    facets = {"domain": ("a b", "c", None), "task": ("single", None, None)}
    return Scoreboard(replace(made, facets=facets), Conventions.of(prompt_k=3))


def test_thresholds_are_found_by_measure_and_place_by_whatever_name():
    gate = read_gate(
        b'[overall]\n"R@prompt" = 0.6\n[each.domain]\nMRR = 0.4\n[bucket.domain.c]\nRR = 0.7', "g"
    )
    asked = board()
    recall, rr = asked.conventions.measures("Recall@3 RR")
    at = lambda *place: [each.at_least for each in thresholds_for(gate, asked, *place)]  # noqa: E731
    assert (at(recall), at(rr)) == ([0.6], [])
    assert (at(rr, "domain", "a b"), at(rr, "domain", "c")) == ([0.4], [0.7])
    assert at(rr, "task", "single") == []
    assert at(recall, "domain", "c") == []
    rule = b"[each.domain]\nRR = 0.4\n[bucket.domain.c]\nRR = {drop = 0.1}"
    assert [*thresholds_for(read_gate(rule, "g"), asked, rr, "domain", "c")] == []
    [two] = asked.conventions.measures("RR(rel=2)")
    assert at(two, "domain", "c") == []


def test_a_rule_for_each_bucket_becomes_a_check_in_each():
    found = resolve_checks(read_gate(WHOLE, "g"), board())
    places = [(check.where, check.measure.label, check.drop) for check in found]
    assert places == [
        ("all queries", "nDCG@10", None),
        ("domain = c", "RR", 0.02),
        ("domain = a b", "RR", 0.1),
        ("task = single", "Success@3", None),
    ]


SLIPS = {
    'runs = "a"': "1: 'runs' means nothing here; did you mean 'run'",
    "run = 3": "1: 'run' is a text in quotes, not 3",
    "\n\nconfidence = 95": "3: a confidence is above 0.5 and up to 0.999, such as 0.95",
    "confidence = true": "1: 'confidence' is a number",
    "anytime = 1": "1: 'anytime' is true or false, not 1",
    "anytime = true\n[overall]\nRR = 0.5": "3: 'anytime' needs a confidence, such as",
    "anytime = true\nconfidence = 0.9\n[overall]\nNumRel = 3": "4: 'NumRel' is a count;",
    'weighted = "a"\nconfidence = 0.9\n[overall]\nRR = {drop = 0.1, anytime = true}': (
        "4: 'anytime' is not for weighted means; leave one of them out"
    ),
    "fewest_queries = 0": "1: 'fewest_queries' is a whole number from 1, not 0",
    "most_unjudged = 30": "1: 'most_unjudged' is a number from 0 to 1, not 30",
    "rel = 4": "1: 'rel' is 1, 2 or 3",
    'preset = "best"': "1: 'preset' is graded or trec_eval, not 'best'; there are: 'graded'",
    'split = "tset"': "1: 'split' is dev, test or held-out, not 'tset'; did you mean 'test'?",
    'leaked = "wihtout"': "1: 'leaked' is with, without or only, not 'wihtout'; did you mean",
    'leakde = "only"': "1: 'leakde' means nothing here; did you mean 'leaked' or",
    "leaked = false": "1: 'leaked' is a text in quotes, not False",
    "overall = 3": "1: overall is a section, not 3",
    "[overall]": "1: this section asks nothing",
    '[overall]\n"nDGC@10" = 0.5': "2: no measure is called 'nDGC'; did you mean nDCG",
    '[overall]\n"nDCG@10" = 1.5': "2: 'at_least' is a number from 0 to 1, not 1.5",
    '[overall]\n"nDCG@10" = nan': "2: 'at_least' is a number from 0 to 1, not nan",
    "[overall]\nNumRet = inf": "2: 'at_least' is at most 1,000,000,000, not inf",
    '[overall]\n"nDCG@10" = "0.5"': "2: 'at_least' is a number from 0 to 1, not '0.5'",
    '[overall]\n"nDCG@10" = {}': "2: 'nDCG@10' asks nothing; give it at_least, drop, or both",
    '[overall]\n"nDCG@10" = {at_lest = 1}': "2: 'at_lest' means nothing here; did you",
    "[overall]\nRR = 0.5\nMRR = 0.5": "3: 'MRR' and 'RR' are the same measure",
    "[bucket]\nintent = 3": "2: bucket.intent is a section, not 3",
    "[bucket.intent]\nRR = 0.5": "2: a bucket is written [bucket.FACET.NAME]",
    "[overall]\nRR = -0.1": "2: 'at_least' is a number from 0 to 1, not -0.1",
    "[overall]\nNumRet = 1" + "0" * 400: "2: 'at_least' is at most 1,000,000,000, not 1000",
    "[overall]\nnDCG@10 = 0.5": "line 2",
    "a = [[[": "is not TOML",
    '"\\u001b[2J" = 1': "1: '\\x1b[2J' means nothing here",
}


@pytest.mark.parametrize("text", SLIPS)
def test_a_slip_is_named_with_its_line_and_what_would_be_right(text: str):
    with pytest.raises(BadInput) as raised:
        read_gate(text.encode(), "gate.toml")
    assert SLIPS[text] in str(raised.value)
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b"a = " + b"[" * 50_000, b"#" * 100_001, b"a = 1" + b"0" * 5000]
)
def test_what_is_no_text_is_refused_in_a_sentence(data: bytes):
    with pytest.raises(BadInput, match=r"^gate\.toml: "):
        read_gate(data, "gate.toml")


def test_a_file_with_a_mark_before_it_and_line_ends_of_windows_is_read():
    gate = read_gate(b'\xef\xbb\xbfrun = "a"\r\n[overall]\r\n"RR" = 0.5\r\n', "gate.toml")
    assert (gate.run, gate.line_of(gate.rules[0])) == ("a", 3)


@given(st.text(max_size=80))
def test_whatever_a_file_says_it_is_read_or_refused(text: str):
    with suppress(BadInput):
        assert read_gate(text.encode("utf-8", "surrogatepass"), "gate.toml").rules
