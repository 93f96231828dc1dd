"""Files of answers, each right or wrong; knows what an answer's fields may be called."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from labeler.errors import BadInput
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.names import ANSWER, CORRECT, QUERY_BY_ID, RUN
from labeler.formats.once import Once
from labeler.formats.reading import Progress, StrPath, file_source
from labeler.formats.records import Record, short, take, take_id, take_text
from labeler.model import Answer, Loaded

_WANTED = {"query id": QUERY_BY_ID, "verdict": CORRECT}
_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")


def read_answers(
    path: StrPath,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Loaded[Answer]:
    """Read answers from JSONL, CSV or TSV, plain or gzip: run, query, answer and correct.

    The run may be missing, and so may the text of an answer. ``correct`` is yes or no, true or
    false, 1 or 0, in any case. Raises `BadInput` with file and line, `NotFound` for a missing file.
    """
    source = file_source(path, name, limits)
    found = Once[Answer](source, "answer", _key, _content, _words)
    for number, record in found.records(progress, _WANTED, (*RUN, *ANSWER)):
        with source.at(number):
            answer = answer_of(record, limits)
            found.add(number, answer, len(answer.answer or ""))
        found.rest(record)
    return found.loaded(_facts(found.kept))


def answer_of(record: Record, limits: Limits = LIMITS) -> Answer:
    """Return the answer a record describes; what it has no meaning for stays in the record."""
    run = take_text(record, RUN)
    return Answer(
        run=run or None,
        query_id=take_id(record, QUERY_BY_ID, "query", limits),
        answer=take_text(record, ANSWER) or None,
        correct=verdict_of(take(record, CORRECT)),
    )


def verdict_of(value: object) -> bool:
    """Return whether an answer is right: yes or no, true or false, 1 or 0, and nothing else.

    >>> verdict_of("Yes"), verdict_of(0), verdict_of(True)
    (True, False, True)
    """
    said = str(value).strip().lower() if isinstance(value, str | int) else ""
    if said in _YES or said in _NO:
        return said in _YES
    given = "it is missing" if value in (None, "") else f"not {short(value)}"
    raise BadInput(
        f"correct must be yes or no, true or false, 1 or 0; {given}; leave out the lines of "
        "answers that nobody has judged"
    )


def _key(answer: Answer) -> Hashable:
    return answer.run, answer.query_id


def _content(answer: Answer) -> object:
    return answer.answer, answer.correct


def _words(answer: Answer) -> str:
    return f"the answer to query {answer.query_id!r}"


def _facts(answers: Sequence[Answer]) -> dict[str, int | str]:
    right = textless = 0
    for each in answers:
        right += each.correct
        textless += each.answer is None
    told: dict[str, int | str] = {"right": right, "wrong": len(answers) - right}
    return {**told, "without text": textless} if textless else told
