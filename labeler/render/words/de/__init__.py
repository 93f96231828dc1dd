"""German: what graders read.

The team may give things names of any gender, so a name stands alone or in the plural: "{passage}
schon bewertet", not "diese {passage} ist schon bewertet".
"""

from __future__ import annotations

from labeler.render.words.de.auth import AUTH
from labeler.render.words.de.label import LABEL

NAME = "Deutsch"
THOUSANDS = "."
SENTENCES = {**LABEL, **AUTH}
