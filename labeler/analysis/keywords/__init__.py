"""Label-free measures: how early a ranking shows the words an answer should hold; knows no grades.

They are where tutorials begin, because they need no golden set. What they cannot know is whether a
chunk that holds the word answers the question: show them beside graded measures.
"""

from labeler.analysis.keywords.corpus import Corpus, folded, words_of
from labeler.analysis.keywords.means import (
    KeywordMean,
    described,
    found_as,
    keyword_means,
    mean_records,
    place_records,
)
from labeler.analysis.keywords.places import (
    Corpora,
    KeywordPlace,
    corpora_of,
    found_alone,
    keyword_places,
    lists_of,
    missed_in_words,
)
from labeler.analysis.keywords.scores import (
    KeywordRow,
    KeywordScore,
    beside_grades,
    keyword_columns,
    keyword_score,
    keyword_scores,
    rank_agreement,
    say_unusable,
)

__all__ = [
    "Corpora",
    "Corpus",
    "KeywordMean",
    "KeywordPlace",
    "KeywordRow",
    "KeywordScore",
    "beside_grades",
    "corpora_of",
    "described",
    "folded",
    "found_alone",
    "found_as",
    "keyword_columns",
    "keyword_means",
    "keyword_places",
    "keyword_score",
    "keyword_scores",
    "lists_of",
    "mean_records",
    "missed_in_words",
    "place_records",
    "rank_agreement",
    "say_unusable",
    "words_of",
]
