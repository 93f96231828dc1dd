"""Agreement of graders with each other, with the grade the others agree on, and with themselves."""

from labeler.analysis.agreement.agreement_report import (
    ALPHA_LIMITS_NOTE,
    AgreementNote,
    Record,
    agreement_conventions,
    agreement_notes,
    agreement_records,
    all_agreement_records,
    explain_agreement,
    join_names,
    non_blind_notes,
    summarize_agreement,
)
from labeler.analysis.agreement.coefficients import METRICS, SHARE_BOUNDS, Metric, QuerySums
from labeler.analysis.agreement.grade_matrix import GradeMatrix
from labeler.analysis.agreement.grader_agreement import (
    AgainstOthers,
    Agreement,
    Coefficient,
    SelfAgreement,
    compare_with_others,
    compute_agreement,
    describe_self_agreement,
    self_agreement,
    self_agreement_by_grader,
)
