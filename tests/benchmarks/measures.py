"""Time the measures beside the libraries of the field: ``python -m tests.benchmarks.measures``.

Every library computes all values per query and their means, of the 18 measures that all of them
have; we once more with all our 34. First all values are compared; then each takes its turn in every
round, of which M has three times as many and S thirty times. ``best form`` is what each likes best
and has made beforehand: a board that is open; evaluators that hold their judgments, with runs as
dicts; ranx's objects, and its numba lists. The table gives medians in milliseconds, and how many
times longer than ours that is. ``evaluate`` is the function for notebooks, which checks every id,
grade and score and gives means. Grades come in a row, and each after all means were written out as
rows, which leaves the processor's caches to others.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import ir_measures
import numpy as np
import pytrec_eval

from labeler import evaluate
from labeler.evaluation import Conventions, Scoreboard, plain_board
from labeler.formats import read_golden, read_run
from labeler.model import Collection, RankingsByQuery
from tests.benchmarks.live import clock, machine, time_grades, time_opening
from tests.benchmarks.workloads import (
    MEASURES,
    SIZES,
    Qrels,
    Runs,
    Size,
    as_dicts,
    collection_of,
    write_trec,
)

try:
    import ranx
    from ranx.utils import python_dict_to_typed_list as typed_list
except ImportError:
    ranx = None

TOLERANCE = 1e-9
OURS = "labeler"
OURS_WITH_ALL = "labeler, 34 measures"
EVALUATE = "labeler.evaluate"
CONVENTIONS = Conventions.of("trec_eval")
_AT = {"P": (1, 3, 5, 10), "R": (1, 3, 5, 10, 100), "Success": (1, 3, 5, 10), "nDCG": (5, 10)}
_TREC = {"P": "P", "R": "recall", "Success": "success", "nDCG": "ndcg_cut"}
_RANX = {"P": "precision", "R": "recall", "Success": "hit_rate", "nDCG": "ndcg"}
COMMON = [*(f"{name}@{k}" for name, cutoffs in _AT.items() for k in cutoffs), "RR", "RR@10", "AP"]
TREC_NAMES = {f"{n}@{k}": f"{_TREC[n]}_{k}" for n, cutoffs in _AT.items() for k in cutoffs}
TREC_NAMES |= {"RR": "recip_rank", "AP": "map"}  # trec_eval has no RR with a cut-off
RANX_NAMES = {f"{n}@{k}": f"{_RANX[n]}@{k}" for n, cutoffs in _AT.items() for k in cutoffs}
RANX_NAMES |= {"RR": "mrr", "RR@10": "mrr@10", "AP": "map"}
FOR_TREC = {f"{_TREC[n]}.{','.join(map(str, cutoffs))}" for n, cutoffs in _AT.items()}
FOR_TREC |= {"recip_rank", "map"}
AS_MANY_ROUNDS = {"S": 30, "M": 3, "L": 1}
OUR_MEASURES = {OURS: CONVENTIONS.measures(COMMON), OURS_WITH_ALL: CONVENTIONS.measures(MEASURES)}
FOR_IR_MEASURES = [ir_measures.parse_measure(name) for name in COMMON]

Values = Mapping[str, np.ndarray]
"""For each measure all values, (queries, runs)."""


@dataclass(frozen=True)
class Contender:
    """A library in one form: ``run`` is timed, ``values`` reads what it returned."""

    name: str
    run: Callable[[], object]
    values: Callable[[object], Values]


# labeler ----------------------------------------------------------------------------------------


def score_ours(board: Scoreboard, name: str) -> Scoreboard:
    """Compute every value and mean."""
    board.means(OUR_MEASURES[name])
    return board


def values_of_ours(board: object) -> Values:
    assert isinstance(board, Scoreboard)
    return {name: board.values(*CONVENTIONS.measures(name)) for name in COMMON}


# pytrec_eval ------------------------------------------------------------------------------------


def evaluate_pytrec(evaluator: pytrec_eval.RelevanceEvaluator, runs: Runs) -> list[object]:
    """Evaluate each run, and take the means as pytrec_eval's own examples do."""
    results = [evaluator.evaluate(run) for run in runs.values()]
    for result in results:
        rows = list(result.values())
        for name in TREC_NAMES.values():
            np.mean([row[name] for row in rows])
        np.mean([row["recip_rank"] if row["recip_rank"] >= 0.1 else 0.0 for row in rows])
    return results


def values_of_pytrec(qrels: Qrels, results: list[dict[str, dict[str, float]]]) -> Values:
    return {
        name: np.array([[result[query][theirs] for result in results] for query in qrels])
        for name, theirs in TREC_NAMES.items()
    }


# ir_measures ------------------------------------------------------------------------------------


def values_of_ir_measures(qrels: Qrels, results: list[ir_measures.CalcResults]) -> Values:
    found = {name: np.zeros((len(qrels), len(results))) for name in COMMON}
    rows = {query: at for at, query in enumerate(qrels)}
    names = dict(zip(FOR_IR_MEASURES, COMMON, strict=True))
    for column, result in enumerate(results):
        for metric in result.per_query:
            found[names[metric.measure]][rows[metric.query_id], column] = metric.value
    return found


# ranx -------------------------------------------------------------------------------------------


def evaluate_ranx(qrels: object, runs: list[object]) -> list[dict[str, np.ndarray]]:
    """Evaluate each run, objects or lists; all values come back, and the means are taken."""
    results = []
    for run in runs:
        values = ranx.evaluate(qrels, run, list(RANX_NAMES.values()), return_mean=False, threads=2)
        for each in values.values():
            each.mean()
        results.append(values)
    return results


def values_of_ranx(results: list[dict[str, np.ndarray]]) -> Values:
    return {
        name: np.stack([result[theirs] for result in results], axis=1)
        for name, theirs in RANX_NAMES.items()
    }


# What is compared -------------------------------------------------------------------------------


def in_best_form(collection: Collection, qrels: Qrels, runs: Runs) -> list[Contender]:
    """Return everyone with data as they like it; ours is a board that has scored nothing yet."""
    boards: list[Scoreboard] = []

    def prepare() -> None:
        boards.append(Scoreboard(collection, CONVENTIONS))

    def ours(name: str) -> Callable[[], Scoreboard]:
        return lambda: score_ours(boards.pop(), name)

    trec = pytrec_eval.RelevanceEvaluator(qrels, FOR_TREC)
    ir = ir_measures.evaluator(FOR_IR_MEASURES, qrels)
    contenders = [
        *(Prepared(name, ours(name), values_of_ours, prepare) for name in OUR_MEASURES),
        Contender(
            "pytrec_eval", lambda: evaluate_pytrec(trec, runs), lambda r: values_of_pytrec(qrels, r)
        ),
        Contender(
            "ir_measures",
            lambda: [ir.calc(run) for run in runs.values()],
            lambda r: values_of_ir_measures(qrels, r),
        ),
    ]
    if ranx is not None:
        objects = ranx.Qrels(qrels), [ranx.Run(run) for run in runs.values()]
        lists = typed_list(qrels), [typed_list(run) for run in runs.values()]
        contenders += [
            Contender("ranx lists", lambda: evaluate_ranx(*lists), values_of_ranx),
            Contender("ranx objects", lambda: evaluate_ranx(*objects), values_of_ranx),
        ]
    return contenders


@dataclass(frozen=True)
class Prepared(Contender):
    """One that has to be made ready before each turn, which is not timed."""

    prepare: Callable[[], None]


def from_dicts(qrels: Qrels, runs: Runs) -> list[Contender]:
    """Return everyone starting from Python dicts."""

    def ours(name: str) -> Callable[[], Scoreboard]:
        return lambda: score_ours(plain_board(qrels, runs, CONVENTIONS), name)

    contenders = [
        *(Contender(name, ours(name), values_of_ours) for name in OUR_MEASURES),
        Contender(EVALUATE, lambda: evaluate(qrels, runs, COMMON, preset="trec_eval"), dict),
        Contender(
            "pytrec_eval",
            lambda: evaluate_pytrec(pytrec_eval.RelevanceEvaluator(qrels, FOR_TREC), runs),
            lambda r: values_of_pytrec(qrels, r),
        ),
        Contender(
            "ir_measures",
            lambda: list(map(ir_measures.evaluator(FOR_IR_MEASURES, qrels).calc, runs.values())),
            lambda r: values_of_ir_measures(qrels, r),
        ),
    ]
    if ranx is not None:
        contenders.append(
            Contender(
                "ranx objects",
                lambda: evaluate_ranx(ranx.Qrels(qrels), [ranx.Run(r) for r in runs.values()]),
                values_of_ranx,
            )
        )
    return contenders


def from_files(golden: Path, paths: list[Path]) -> list[Contender]:
    """Return everyone starting from TREC files, read by their own readers."""

    def ours(name: str) -> Scoreboard:
        qrels: Qrels = {}
        for grade in read_golden(golden).grades.records:
            qrels.setdefault(grade.query_id, {})[grade.chunk_id] = grade.grade
        runs = {path.stem: RankingsByQuery(read_run(path).records) for path in paths}
        return score_ours(plain_board(qrels, runs, CONVENTIONS), name)

    def trec() -> list[object]:
        with golden.open() as file:
            evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), FOR_TREC)
        runs = {}
        for path in paths:
            with path.open() as file:
                runs[path.stem] = pytrec_eval.parse_run(file)
        return evaluate_pytrec(evaluator, runs)

    def ir() -> list[ir_measures.CalcResults]:
        evaluator = ir_measures.evaluator(
            FOR_IR_MEASURES, list(ir_measures.read_trec_qrels(str(golden)))
        )
        return [evaluator.calc(list(ir_measures.read_trec_run(str(path)))) for path in paths]

    def with_ranx() -> list[dict[str, np.ndarray]]:
        judged = ranx.Qrels.from_file(str(golden), kind="trec")
        return evaluate_ranx(judged, [ranx.Run.from_file(str(p), kind="trec") for p in paths])

    files = {path.stem: path for path in paths}
    contenders = [
        *(Contender(name, partial(ours, name), values_of_ours) for name in OUR_MEASURES),
        Contender(EVALUATE, lambda: evaluate(golden, files, COMMON, preset="trec_eval"), dict),
        Contender("pytrec_eval", trec, lambda _: {}),
        Contender("ir_measures", ir, lambda _: {}),
    ]
    return contenders + ([] if ranx is None else [Contender("ranx objects", with_ranx, dict)])


# Timing and telling -----------------------------------------------------------------------------


def check(contenders: list[Contender]) -> float:
    """Return the largest difference from our values; refuse to time what is not the same."""
    ours, *others = contenders
    expected = ours.values(_take_turn(ours))
    worst = 0.0
    for other in others:
        for name, values in other.values(_take_turn(other)).items():
            difference = float(np.abs(values - expected[name]).max())
            if difference > TOLERANCE:
                raise SystemExit(f"{other.name}: {name} differs from ours by {difference:.2g}")
            worst = max(worst, difference)
    return worst


def _take_turn(contender: Contender) -> object:
    if isinstance(contender, Prepared):
        contender.prepare()
    return contender.run()


def race(contenders: list[Contender], rounds: int, cpu: bool) -> dict[str, float]:
    """Return each one's median in milliseconds; each takes its turn in every round."""
    times: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for number in range(rounds):
        first = number % len(contenders)
        for contender in contenders[first:] + contenders[:first]:
            gc.collect()
            if isinstance(contender, Prepared):
                contender.prepare()
            times[contender.name].append(clock(contender.run, cpu=cpu))
    return {name: statistics.median(each) for name, each in times.items()}


COLUMNS = (*OUR_MEASURES, "pytrec_eval", "ranx lists", "ranx objects", "ir_measures")


def tell(what: str, results: Mapping[str, float]) -> None:
    """Print one row of the table: others beside the first of ours that is there."""
    ours = next(results[name] for name in OUR_MEASURES if name in results)
    cells = [
        f"{results[name]:,.{2 if results[name] < 100 else 0}f}"
        + ("" if name in OUR_MEASURES else f" ({results[name] / ours:,.1f}x)")
        if name in results
        else "–"
        for name in COLUMNS
    ]
    print(f"| {what} | {' | '.join(cells)} |", flush=True)


def tell_both(what: str, results: Mapping[str, float]) -> None:
    """Print a row for the engine, and one for `labeler.evaluate`, which checks what it is given."""
    tell(what, results)
    others = {name: time for name, time in results.items() if name not in OUR_MEASURES}
    tell(f"{what}, evaluate", {**others, OURS: results[EVALUATE]})


def measure(size: Size, rounds: int, cpu: bool) -> None:
    """Print all rows of one size."""
    collection = collection_of(size)
    qrels, runs = as_dicts(collection)
    gc.collect()
    gc.freeze()
    best = in_best_form(collection, qrels, runs)
    worst = check(best)
    results = race(best, rounds, cpu)
    tell(f"{size.name}, best form", results)
    del results[OURS]
    for what, rows in (("grades in a row", False), ("one grade after all rows", True)):
        changed = statistics.median(fresh for fresh, _ in time_grades(collection, 100, rows=rows))
        tell(f"{size.name}, {what}", {**results, OURS_WITH_ALL: changed})
    del best
    gc.collect()
    tell_both(f"{size.name}, from dicts", race(from_dicts(qrels, runs), rounds, cpu))
    if size.name != "L":  # 35 million lines are another benchmark
        with tempfile.TemporaryDirectory() as folder:
            tell_both(
                f"{size.name}, from files",
                race(from_files(*write_trec(qrels, runs, Path(folder))), rounds, cpu),
            )
    seconds, peak = time_opening(collection)
    print(f"| {size.name}, SQLite to live | {seconds * 1000:,.0f} (peak {peak:.2f} GB) | | | | | |")
    print(f"| {size.name}, largest difference | {worst:.1g} | | | | | |", flush=True)


def versions() -> str:
    """Name the libraries with their versions."""
    named = []
    for name in ("pytrec-eval-terrier", "ranx", "ir-measures"):
        try:
            named.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            named.append(f"no {name}: install it to be compared with it")
    return ", ".join(named)


def main() -> None:
    """Measure each size that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", default=["S", "M", "L"], metavar="S|M|L")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="CPU time, where a machine is busy")
    arguments = parser.parse_args()
    if unknown := set(arguments.sizes) - set(SIZES):
        parser.error(f"there is no workload {min(unknown)!r}; there are {', '.join(SIZES)}")
    print(machine())
    print(versions())
    for name in arguments.sizes:
        print(SIZES[name])
    print(f"\n| milliseconds | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}", flush=True)
    for name in arguments.sizes:
        measure(SIZES[name], arguments.rounds * AS_MANY_ROUNDS[name], arguments.cpu)


if __name__ == "__main__":
    main()
