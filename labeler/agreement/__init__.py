"""How far graders agree, with each other, with what the others agree on and with themselves.

Grades in, numbers and kind words out; knows no store and no page.
"""

from labeler.agreement.against import (
    AgainstOthers,
    Resolve,
    Week,
    against_others,
)
from labeler.agreement.coefficients import METRICS, Metric
from labeler.agreement.draws import Draws, Sums
from labeler.agreement.measuring import Agreement, Coefficient, PairAgreement, agreement_of
from labeler.agreement.records import Record, agreement_records, records_of
from labeler.agreement.repeats import SelfAgreement, by_grader, in_words, self_agreement
from labeler.agreement.sheet import Sheet
from labeler.agreement.words import (
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
