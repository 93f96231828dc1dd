"""Agreement of graders with each other, with the grade the others agree on, and with themselves."""

from labeler.analysis.agreement.coefficients import METRICS, SHARE_BOUNDS, Metric, QuerySums
from labeler.analysis.agreement.grade_matrix import GradeMatrix
from labeler.analysis.agreement.grader_agreement import (
    AgainstOthers,
    Agreement,
    SelfAgreement,
    compare_with_others,
    compute_agreement,
    describe_self_agreement,
    self_agreement,
    self_agreement_by_grader,
)
from labeler.analysis.agreement.records import (
    Record,
    agreement_conventions,
    agreement_records,
    all_agreement_records,
)
from labeler.analysis.agreement.statements import BANDS, agreement_statements, join_names
from labeler.analysis.agreement.tables import (
    against_others_table,
    bucket_table,
    confusion_tables,
    drift_table,
    overall_table,
    pair_table,
)
