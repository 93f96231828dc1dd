"""Python functions on dicts, frames and files, which return frames; for notebooks and scripts."""

from labeler.api.evaluation import compare, evaluate, trend_of
from labeler.api.grade_transfer import carry
from labeler.api.keywords import find_keywords
from labeler.api.partwise import EvaluationPlan, plan
from labeler.formats import Limits
