"""The domain on plain data: dicts, frames and files in, frames out; for notebooks and scripts.

Knows no database and no page.
"""

from labeler.api.carrying import carry
from labeler.api.keywords import find_keywords
from labeler.api.measuring import compare, evaluate
from labeler.api.plans import Plan, plan
from labeler.api.trends import trend_of
from labeler.formats import Limits

__all__ = ["Limits", "Plan", "carry", "compare", "evaluate", "find_keywords", "plan", "trend_of"]
