"""English: what graders read."""

from __future__ import annotations

from labeler.render.words.en.auth import AUTH
from labeler.render.words.en.label import LABEL

NAME = "English"
THOUSANDS = ","
SENTENCES = {**LABEL, **AUTH}
