"""Failing queries of a run: the rule by which they fail, the reason, and what to try."""

from labeler.analysis.failures.answer_outcomes import (
    ANSWER_OUTCOMES,
    FOUND_RIGHT,
    FOUND_WRONG,
    MISSED_RIGHT,
    MISSED_WRONG,
    NO_ANSWER,
    OUTCOME_CELLS,
    UNDECIDED,
    AnswerOutcome,
    TwoByTwo,
    answer_table,
    count_two_by_two,
    find_outcomes,
    with_generation,
)
from labeler.analysis.failures.diagnosis import (
    Failure,
    FailureClass,
    count_by_bucket,
    find_failures,
    remarks_by_query,
)
from labeler.analysis.failures.failure_rules import (
    USUAL_LOSS,
    FailureRule,
    LossAgainstRun,
    MinimumByTask,
    MinimumValue,
    UsefulInPrompt,
    describe_rule,
    is_yes_or_no,
    rule_requirements,
    useful_grades,
)
from labeler.analysis.failures.failure_summary import (
    SIDE_MEANINGS,
    ClassTally,
    describe_exact_queries,
    describe_failures,
    describe_reranking,
    describe_reranking_of_query,
    exact_match_advice,
    tally_classes,
)
from labeler.analysis.failures.query_list import (
    QUERY_ORDERS,
    QUERY_ORDERS_AGAINST,
    STATUSES,
    STATUSES_WITH_ANSWERS,
    PoolRow,
    QueryFilters,
    QueryRow,
    pool_rows,
    query_rows,
    sort_query_rows,
)
from labeler.analysis.failures.relevant_positions import RelevantPositions, find_positions
