"""From rules to checks: each rule of a gate file in each place of a golden set it speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from labeler.analysis.gate.reading import nearest
from labeler.analysis.gate.records import ALL_QUERIES, Check, Gate, Rule, Threshold
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import Measure


def checks_of(gate: Gate, board: Scoreboard) -> tuple[Check, ...]:
    """Return what a gate asks of a run of this board, in the order of its file.

    A rule for each bucket of a facet leaves out the buckets that have one of their own for the same
    measure. Raises `BadInput`, with the line, for a facet or a bucket that no query is in.
    """
    rules = [(rule, _measure(rule, board)) for rule in gate.rules]
    own = {(rule.facet, rule.bucket, measure) for rule, measure in rules if rule.bucket is not None}
    return tuple(
        Check(measure, rule.facet, bucket, rule.at_least, rule.drop, rule.terms)
        for rule, measure in rules
        for bucket in _buckets(gate, board, rule)
        if not _is_each(rule) or (rule.facet, bucket, measure) not in own
    )


def thresholds_for(
    gate: Gate,
    board: Scoreboard,
    measure: Measure,
    facet: str | None = None,
    bucket: str | None = None,
) -> tuple[Threshold, ...]:
    """Return the least values a gate asks of a measure over all queries, or those of one bucket.

    None where it asks nothing there. What it asks of a bucket that is not there is not looked at.

    >>> from labeler.evaluation import Conventions, collect
    >>> from labeler.analysis.gate import read_gate
    >>> board = Scoreboard(collect({"q": {"c": 1}}, {"A": {"q": ["c"]}}), Conventions.of())
    >>> gate = read_gate(b'[overall]\\n"MRR" = 0.6', "gate.toml")
    >>> [measure] = board.conventions.measures("RR")
    >>> [(each.at_least, each.source) for each in thresholds_for(gate, board, measure)]
    [(0.6, 'gate.toml')]
    """
    found = rules_for(gate, board, measure, facet, bucket)
    return tuple(
        Threshold(rule.at_least, rule.terms, gate.name)
        for rule in found
        if rule.at_least is not None
    )


def rules_for(
    gate: Gate, board: Scoreboard, measure: Measure, facet: str | None, bucket: str | None
) -> tuple[Rule, ...]:
    """Return what a gate says of a measure over all queries, or those of one bucket.

    As in `checks_of`, a bucket's own rule takes the place of that for each bucket of its facet.
    """
    (resolved,) = board.resolve([measure])
    own = [rule for rule in gate.rules if rule.facet == facet and _measure(rule, board) == resolved]
    if bucket is None:
        return tuple(rule for rule in own if rule.facet is None)
    return tuple(
        [rule for rule in own if rule.bucket == bucket] or [rule for rule in own if _is_each(rule)]
    )


def other_conventions(gate: Gate, chosen: Conventions) -> str:
    """Say why the thresholds of a gate are not of these numbers; nothing where they are."""
    asked = {"preset": gate.preset, "rel": gate.rel, "budget": gate.budget}
    own = {"preset": chosen.preset, "rel": chosen.rel, "budget": chosen.budget}
    if gate.budget is not None and chosen.budget_by_task:
        own["budget"] = None
    for name, value in asked.items():
        if value is not None and value != own[name]:
            return f"{gate.name} asks for values by {name} {value}, so its thresholds are not shown"
    by = None if chosen.weighted is None else chosen.weighted.facet
    if gate.weighted != by:
        how = f"weighted by {gate.weighted}" if gate.weighted else "that count queries the same"
        return f"{gate.name} asks for values {how}, so its thresholds are not shown"
    if gate.selected != chosen.selected:
        of = gate.selected.describe() or ALL_QUERIES
        return f"{gate.name} asks for values of {of}, so its thresholds are not shown"
    return ""


def _is_each(rule: Rule) -> bool:
    return rule.facet is not None and rule.bucket is None


def _measure(rule: Rule, board: Scoreboard) -> Measure:
    (measure,) = board.resolve(board.conventions.measures([rule.measure]))
    return measure


def _buckets(gate: Gate, board: Scoreboard, rule: Rule) -> Iterable[str | None]:
    """Return the buckets a rule speaks of; None stands for all queries."""
    if rule.facet is None:
        return (None,)
    where, facets = f"{gate.name}:{gate.line_of(rule)}", board.facets
    if rule.facet not in facets:
        if rule.facet == "task":
            raise BadInput(f"{where}: no query of the golden set has a task")
        raise BadInput(
            f"{where}: the golden set has no facet {rule.facet!r}; {nearest(rule.facet, facets)}"
        )
    buckets = facets[rule.facet]
    if rule.bucket is None:
        if not buckets:
            raise BadInput(f"{where}: no query that is looked at has a bucket of {rule.facet!r}")
        return buckets
    if rule.bucket not in buckets:
        what = "task" if rule.facet == "task" else f"bucket of {rule.facet!r}"
        raise BadInput(
            f"{where}: no query is in {what} {rule.bucket!r}; {nearest(rule.bucket, buckets)}"
        )
    return (rule.bucket,)


def with_runs(gate: Gate, run: str | None, baseline: str | None) -> Gate:
    """Return a gate with another run, or another baseline, than its file names.

    Raises `BadInput` where no run is named, where both are the same, and for an allowed drop that
    is from nothing.
    """
    run = gate.run if run is None else run
    asked = replace(gate, run=run, baseline=gate.baseline if baseline is None else baseline)
    for wrong in _slips(asked):
        raise BadInput(f"{gate.name}: {wrong}")
    return asked


def _slips(gate: Gate) -> Iterator[str]:
    if gate.run is None:
        yield 'does not say which run is judged; give it run = "NAME", or name it with --run'
    if gate.run == gate.baseline:
        yield f"the run and its baseline are both {gate.run!r}; name two different runs"
    if gate.baseline is None and gate.last_passing is None:
        for rule in gate.rules:
            if rule.drop is not None:
                yield (
                    f"line {gate.line_of(rule)} allows a drop, but from what? give the file "
                    'baseline = "RUN", or last_passing = "FILE.json"'
                )
