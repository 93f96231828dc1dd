"""Evaluation of Spark frames: Spark groups the rows by query, and labeler evaluates each group.

Needs a Spark session of version 4 or later, with labeler installed on its workers too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]  # it has no type annotations
import pyarrow.compute as pc  # type: ignore[import-untyped]  # no type annotations either
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its usual name

from labeler.api.columns import value_columns_of_parts
from labeler.api.inputs import Measures
from labeler.api.options import TableOptions, with_options
from labeler.api.partwise import ROWS_AT_ONCE, EvaluationPlan, plan
from labeler.api.tables import (
    CHUNK_COLUMNS,
    GRADE_COLUMNS,
    QUERY_COLUMNS,
    RANK_COLUMNS,
    SCORE_COLUMNS,
    find_column,
)
from labeler.errors import BadInput
from labeler.evaluation import (
    DEFAULT_MEASURES,
    MergedPartitions,
    Partition,
    PartitionLayout,
)
from labeler.formats import GradeRule
from labeler.model import format_count

MOST_DISTINCT_GRADES = 1_000  # only so many different values are checked
PART_ROWS = pa.schema(
    [
        *(pa.field("query_id", pa.string()), pa.field("numbers", pa.list_(pa.float64()))),
        *(pa.field("ties", pa.list_(pa.float64())), pa.field("problem", pa.string())),
    ]
)
PART_ROWS_DDL = "query_id string, numbers array<double>, ties array<double>, problem string"
COLUMN_NAMES = {"query": "query_id", "chunk": "doc_id", "value": "relevance"}
VALUES_DDL = (
    "run string, query_id string, measure string, value double, full_name string, reason string, "
    "n bigint, undefined bigint, unjudged bigint, missing bigint"
)


@with_options(TableOptions)
def evaluate(
    qrels: DataFrame,
    runs: Mapping[str, DataFrame],
    measures: Measures = DEFAULT_MEASURES,
    *,
    per_query: bool = False,
    partitions: int | None = None,
    **options: Unpack[TableOptions],
) -> Any:
    """Evaluate Spark frames with the columns and options of `labeler.evaluate`.

    Returns a pandas frame of the means with the same numbers, bit for bit, and the same conventions
    and notes as `labeler.evaluate`, however the rows are distributed. With ``per_query`` returns a
    Spark frame with a row for each query, run and measure, in no order and without notes. Spark
    rows have no order, so tied scores are ordered by chunk id (in the preset ``trec_eval`` in
    reverse). `labeler.evaluate` gives the same result if its grades and runs are sorted by query
    and chunk.

    The queries are distributed over ``partitions``, by default so many that each has some 400,000
    rows: a worker holds one at a time.

    Raises `BadInput` for rows without a value, invalid grades and scores that are not finite, with
    their number and an example.
    """
    if not isinstance(runs, Mapping) or not runs:
        raise BadInput("runs must be {name: frame} with at least one run")
    the_plan = plan(runs, measures, **options)
    golden = _SparkRows.of(qrels, "qrels", GRADE_COLUMNS)
    value = RANK_COLUMNS if the_plan.rules.run_rule.order == "rank" else SCORE_COLUMNS
    lists = {name: _SparkRows.of(run, f"run {name!r}", value) for name, run in runs.items()}
    rows = sum(each.check() for each in (golden, *lists.values()))
    golden.check_grades(the_plan.rules.grade_rule)
    count = max(1, -(-rows // ROWS_AT_ONCE)) if partitions is None else partitions
    wide = _evaluate_parts(the_plan, golden, lists, value[0], count)
    if per_query:
        return _values(the_plan, wide)
    part = _part_from_rows(wide.toArrow(), the_plan.shape)
    return the_plan.add_up(
        [part], foreign_to=lambda run: _foreign(golden, lists[run], the_plan.rules.grade_rule)
    )


class _SparkRows(NamedTuple):
    """A frame with the columns ``query``, ``chunk`` and ``value``, and its name in messages."""

    frame: DataFrame
    what: str
    names: Sequence[str]

    @staticmethod
    def of(frame: DataFrame, what: str, value: tuple[str, ...]) -> _SparkRows:
        """Select the columns; raise `BadInput` if one is missing or ids are not text."""
        names = [
            find_column(frame.columns, what, each) for each in (QUERY_COLUMNS, CHUNK_COLUMNS, value)
        ]
        kinds = dict(frame.dtypes)
        for name in names[:2]:
            if kinds[name] != "string":
                raise BadInput(
                    f"{what}: ids are text, and column {name!r} is {kinds[name]}; convert it with "
                    f'.withColumn({name!r}, F.col({name!r}).cast("string"))'
                )
        query, chunk, number = (F.col(f"`{name}`") for name in names)
        chosen = (query.alias("query"), chunk.alias("chunk"), number.cast("double").alias("value"))
        return _SparkRows(frame.select(*chosen), what, names)

    def check(self) -> int:
        """Return the number of rows; raise `BadInput` for missing values and infinite numbers."""
        place = F.concat_ws(", ", *(_label_id(word, word) for word in ("query", "chunk")))
        number = F.col("value")
        endless = F.isnan(number) | (F.abs(number) == float("inf"))
        wrong = [F.col(name).isNull() for name in ("query", "chunk", "value")] + [endless]
        checks = [
            each for at, bad in enumerate(wrong) for each in _count_and_example(bad, place, at)
        ]
        rows, *found = self.frame.agg(F.count(F.lit(1)), *checks).first() or [0]
        problems = [f"no {name}" for name in self.names]
        problems.append(f"a {self.names[2]} that is no finite number")
        for at, problem in enumerate(problems):
            count, example = found[2 * at : 2 * at + 2]
            if count:
                one = f", such as that of {example}" if example else ""
                raise BadInput(
                    f"{self.what}: {format_count(count, 'row has', 'rows have')} {problem}{one}"
                )
        return int(rows)

    def check_grades(self, rule: GradeRule) -> None:
        """Raise `BadInput` if a number is not a grade by this rule."""
        place = F.concat_ws(", ", *(_label_id(word, word) for word in ("query", "chunk")))
        by_grade = self.frame.groupBy("value").agg(
            F.count(F.lit(1)).alias("count"), F.min(place).alias("example")
        )
        for number, count, example in sorted(
            map(tuple, by_grade.limit(MOST_DISTINCT_GRADES).collect())
        ):
            try:
                rule.read(number)
            except BadInput as error:
                rows = format_count(count, "row has", "rows have")
                raise BadInput(
                    f"{self.what}: {rows} {number:g} as {self.names[2]}, such as that of "
                    f"{example}: {error}"
                ) from error


def _label_id(column: str, word: str) -> Column:
    return F.concat(F.lit(f"{word} '"), F.col(column), F.lit("'"))


def _count_and_example(wrong: Column, place: Column, at: int) -> tuple[Column, Column]:
    """Return columns with how many rows are wrong, and an example."""
    return (
        F.sum(F.when(wrong, 1).otherwise(0)).alias(f"count{at}"),
        F.min(F.when(wrong, place)).alias(f"example{at}"),
    )


def _evaluate_parts(
    the_plan: EvaluationPlan,
    golden: _SparkRows,
    lists: Mapping[str, _SparkRows],
    value: str,
    partitions: int,
) -> DataFrame:
    """Return each partition's results: a row for each of its queries, and one for itself."""
    part = F.pmod(F.xxhash64("query"), F.lit(partitions)).alias("part")
    named = (rows.frame.withColumn("run", F.lit(name)) for name, rows in lists.items())
    found = reduce(DataFrame.unionByName, named).withColumnRenamed("value", value)
    grouped = golden.frame.groupBy(part).cogroup(found.groupBy(part))
    return grouped.applyInArrow(
        lambda left, right: _evaluate_part(the_plan, left, right), PART_ROWS_DDL
    )


def _evaluate_part(the_plan: EvaluationPlan, golden: pa.Table, found: pa.Table) -> pa.Table:
    """Return the results of a partition, or a row with the problem."""
    qrels, frame = (_ordered_frame(rows) for rows in (golden, found))
    runs = {str(name): of.drop(columns="run") for name, of in frame.groupby("run", sort=False)}
    try:
        return _part_to_rows(the_plan.part(qrels, runs), the_plan)
    except BadInput as error:
        return pa.Table.from_pylist([{"problem": str(error)}], schema=PART_ROWS)


def _ordered_frame(rows: pa.Table) -> pd.DataFrame:
    """Return rows as a plan reads them, in an order that does not depend on distribution."""
    kept = [name for name in rows.column_names if name != "part"]
    ordered = rows.select(kept).sort_by([("query", "ascending"), ("chunk", "ascending")])
    named = ordered.rename_columns([COLUMN_NAMES.get(name, name) for name in kept])
    frame: pd.DataFrame = named.to_pandas()
    return frame


def _part_to_rows(part: Partition, the_plan: EvaluationPlan) -> pa.Table:
    """Return a part as rows; the last one is about the part itself and has no query."""
    ties: list[Any] = [None] * (len(part.query_ids) + 1)
    for at, row in zip(part.tied.tolist(), part.ties, strict=True):
        ties[at] = row
    answers = MergedPartitions(part, the_plan.shape, the_plan.rules.conventions).answered
    about = np.concatenate([part.unknown, part.scoreless, answers.ravel()]).astype(np.float64)
    columns = [[*part.query_ids, None], [*part.rows, about], ties, [None] * len(ties)]
    return pa.table(
        [pa.array(each, kind) for each, kind in zip(columns, PART_ROWS.types, strict=True)],
        schema=PART_ROWS,
    )


def _part_from_rows(rows: pa.Table, shape: PartitionLayout) -> Partition:
    """Read parts that `_part_to_rows` wrote; raise `BadInput` if one reports a problem."""
    problems = [problem for problem in rows["problem"].to_pylist() if problem is not None]
    if problems:
        raise BadInput(min(problems))
    is_query = pc.is_valid(rows["query_id"])
    runs, queries = len(shape.runs), rows.filter(is_query)
    about = _numbers(rows.filter(pc.invert(is_query))["numbers"], 2 * runs + shape.runs_by_measure)
    is_tied = pc.is_valid(queries["ties"])
    return Partition(
        tuple(queries["query_id"].to_pylist()),
        _numbers(queries["numbers"], shape.width),
        np.flatnonzero(is_tied.to_numpy()),
        _numbers(queries["ties"].filter(is_tied), shape.width_of_ties),
        about[:, :runs].sum(axis=0).astype(np.int64),
        about[:, runs : 2 * runs].any(axis=0),
    )


def _numbers(lists: Any, width: int) -> Any:
    flat = lists.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(-1, width)


def _values(the_plan: EvaluationPlan, wide: DataFrame) -> DataFrame:
    """Return the values of all queries as a Spark frame.

    A run without a list in any partition has no value, which one partition alone cannot tell. So
    the summaries of all partitions are read first.
    """
    about = wide.where("query_id is null").toArrow()
    _part_from_rows(about, the_plan.shape)
    runs = len(the_plan.shape.runs)
    numbers = _numbers(about["numbers"], 2 * runs + the_plan.shape.runs_by_measure)
    answered = numbers[:, 2 * runs :].any(axis=0).reshape(len(the_plan.shape.measures), runs)

    def written(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            part = _part_from_rows(pa.Table.from_batches([batch]), the_plan.shape)
            columns = value_columns_of_parts(
                MergedPartitions(part, the_plan.shape, the_plan.rules.conventions, answered)
            )
            yield from pa.Table.from_pandas(pd.DataFrame(columns), schema=schema).to_batches()

    schema = _schema_of(the_plan.shape)
    more = ", residual double" if the_plan.shape.rbp else ""
    return wide.where("query_id is not null").mapInArrow(written, VALUES_DDL + more)


def _schema_of(shape: PartitionLayout) -> pa.Schema:
    kinds = {"string": pa.string(), "double": pa.float64(), "bigint": pa.int64()}
    fields = [each.split() for each in VALUES_DDL.split(", ")]
    fields += [["residual", "double"]] if shape.rbp else []
    return pa.schema([(name, kinds[kind]) for name, kind in fields])


def _foreign(golden: _SparkRows, found: _SparkRows, rule: GradeRule) -> int:
    """Return the number of graded chunks if no list of a judged query contains one, else 0."""
    graded = golden.frame
    if rule.negative_as_ungraded:
        graded = graded.where("value >= 0")
    chunks = graded.select("chunk").distinct()
    known = found.frame.join(golden.frame.select("query").distinct(), "query", "leftsemi")
    return 0 if known.join(chunks, "chunk", "leftsemi").limit(1).count() else chunks.count()
