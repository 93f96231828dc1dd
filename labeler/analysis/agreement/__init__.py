"""How far graders agree, with each other, with what the others agree on and with themselves.

Grades in, numbers and kind words out; knows no store and no page.
"""

from labeler.analysis.agreement.against import (
    AgainstOthers,
    Resolve,
    Week,
    against_others,
)
from labeler.analysis.agreement.coefficients import METRICS, Metric
from labeler.analysis.agreement.draws import Draws, Sums
from labeler.analysis.agreement.measuring import Agreement, Coefficient, PairAgreement, agreement_of
from labeler.analysis.agreement.records import Record, agreement_records, records_of
from labeler.analysis.agreement.repeats import SelfAgreement, by_grader, in_words, self_agreement
from labeler.analysis.agreement.sheet import Sheet
from labeler.analysis.agreement.words import (
    LIMITS,
    Note,
    conventions_of,
    left_aside,
    listed,
    meaning,
    notes,
    summary,
)

__all__ = [
    "LIMITS",
    "METRICS",
    "AgainstOthers",
    "Agreement",
    "Coefficient",
    "Draws",
    "Metric",
    "Note",
    "PairAgreement",
    "Record",
    "Resolve",
    "SelfAgreement",
    "Sheet",
    "Sums",
    "Week",
    "against_others",
    "agreement_of",
    "agreement_records",
    "by_grader",
    "conventions_of",
    "in_words",
    "left_aside",
    "listed",
    "meaning",
    "notes",
    "records_of",
    "self_agreement",
    "summary",
]
