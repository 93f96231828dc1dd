"""Python functions for notebooks and scripts: from dicts, frames and files to frames."""

from labeler.api.evaluation import compare, evaluate, trend_of
from labeler.api.grade_transfer import transfer
from labeler.api.keywords import find_keywords
from labeler.api.partwise import EvaluationPlan, plan
from labeler.formats import Limits
