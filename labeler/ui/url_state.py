"""URL state: Streamlit widgets bound to query parameters, which alone decide what a page shows.

`st.session_state` only carries a widget's value from one script run to the next, so that a link,
the Back button and a colleague's URL lead to the same page. Streamlit's own binding of widgets is
not used: it drops defaults from the URL, and parameters that another page has bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from labeler.errors import Incomparable, NotFound
from labeler.measures import current_name
from labeler.model import DEFAULT_CHUNKING, chunking_label

# The parameters that a link to another page keeps: runs and their chunking, queries, measures, the
# rule of failure, and the golden set. The other parameters are about the current page.
KEPT_PARAMETERS = (
    *("a", "b", "also", "chunking", "facet", "bucket", "other", "crossing", "measure", "preset"),
    *("split", "leaked", "weighted", "bar", "below", "loss", "golden"),
)

# The parameters that any page reads; a test compares. Label also reads the name of a facet.
KNOWN_PARAMETERS = frozenset(
    {
        *("a", "across", "also", "audit-page", "audited", "b", "bar", "below", "bucket", "by"),
        *("chunk", "chunking", "chunks", "class", "contains", "crossing", "down", "drawn", "edit"),
        "every",
        *("facet", "find", "from", "from_where", "golden", "grade", "grader", "grades", "k"),
        *("keywords", "runs"),
        *("leaked", "least", "look", "loss", "measure", "metric", "mine", "missed", "moved", "new"),
        *("notes-page", "numbers", "other", "outcome", "page", "parts", "person"),
        *("pin", "preset", "query", "rank", "ranks", "remarks-page", "reranked", "review", "run"),
        *("section", "seen", "show", "signal", "sort", "source", "split", "state", "substring"),
        *("system", "systems", "take", "task", "to", "transferred-page", "tried", "unjudged"),
        *("unsure-page", "until", "values", "version", "view", "weighted", "what", "which"),
        "window",
    }
)

# Names of parameters, and of values, in links of earlier versions.
OLD_PARAMETERS = {"holes": "unjudged"}
OLD_VALUES = {
    ("review", "Carried over"): "Transferred",
    ("section", "Carry over"): "Transfer",
    ("sort", "most holes first"): "most unjudged first",
    ("bar", "it loses against A"): "B loses against A",
    ("view", "Why they fail"): "Causes by bucket",
    ("class", "nothing here answers it"): "no answer in the corpus",
    ("class", "never retrieved by any run"): "no run finds it",
    ("class", "retrieved by another run only"): "only other runs find it",
    ("class", "retrieved too low"): "ranked too low",
    ("class", "outranked"): "below partly useful chunks",
    ("class", "generation"): "found, but the answer is wrong",
    ("show", "Bars and scatter"): "Rank strips",
}
# Sections that are now part of another one, where ``show`` names them.
OLD_PLACES: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("section", "Candidates"): {"section": "Queries", "show": "Candidates"},
    ("section", "Versions"): {"section": "Advanced", "show": "Versions"},
    ("section", "Transfer"): {"section": "Advanced", "show": "Transfer"},
    ("section", "Audit"): {"section": "Advanced", "show": "Audit"},
    ("review", "Progress"): {"review": "Work"},
    ("numbers", "all"): {"show": "measures"},
    ("review", "Can't tell"): {"review": "Comments", "show": "Can't tell"},
    ("review", "Remarks on queries"): {"review": "Comments", "show": "Remarks on queries"},
    ("review", "Notes"): {"review": "Comments", "show": "Notes"},
}
OLD_DEFAULT_CHUNKING = "(unnamed)"
CHUNKING_PARAMETERS = ("chunking", "chunks", "from", "old", "recut", "to")
MEASURE_PARAMETERS = ("bar", "by", "measure", "sort")

PAGES_SHOWN = 7  # page numbers side by side
PAGE_NUMBER_WIDTH, PAGER_WIDTH = 40, 96  # pixels, of one number and of all around them

STREAMLIT_PARAMETERS = ("embed", "embed_options")  # Streamlit's own, in upper or lower case
Value = str | Sequence[str] | None
OptionT = TypeVar("OptionT")
RowT = TypeVar("RowT")


class StaleLink(NotFound):
    """A URL names what does not exist; without its parameters ``names`` the page works."""

    def __init__(self, message: str, names: Iterable[str]) -> None:
        super().__init__(message)
        self.names = tuple(names)


@contextmanager
def stale_if_incomparable(name: str) -> Iterator[None]:
    """If two runs cannot be compared, raise `StaleLink` for the parameter of one of them."""
    try:
        yield
    except Incomparable as error:
        raise StaleLink(str(error), [name]) from error


def get(name: str) -> str | None:
    """Return a parameter of the URL, None if the URL does not have it."""
    values = get_each(name)
    return values[-1] if values else None


def get_each(name: str) -> Sequence[str]:
    """Return all values of a parameter of the URL."""
    return _parameters().get(name, ())


def get_all(names: Iterable[str] | None = None) -> dict[str, Sequence[str]]:
    """Return the URL's parameters, or those of ``names`` that it has, with all their values."""
    there = _parameters()
    return {name: there[name] for name in (there if names is None else names) if name in there}


def unknown_parameters(facets: Collection[str] = ()) -> list[str]:
    """Return the names in the URL that no page reads; ``facets`` are names that Label reads."""
    return [name for name in _parameters() if name not in KNOWN_PARAMETERS and name not in facets]


def _parameters() -> Mapping[str, Sequence[str]]:
    """Return the parameters of this run's URL.

    `st.query_params` is not used: all script runs of a tab share it, and the next run fills it
    while the one that is being replaced still runs.
    """
    run = get_script_run_ctx(suppress_warning=True)
    return {} if run is None else _parsed(run.query_string)


@lru_cache(16)
def _parsed(query_string: str) -> Mapping[str, Sequence[str]]:
    found = parse_qs(query_string, keep_blank_values=True)
    current = {
        OLD_PARAMETERS.get(name, name): tuple(_current_value(name, value) for value in each)
        for name, each in found.items()
        if name.lower() not in STREAMLIT_PARAMETERS
    }
    for place in [(name, each[-1]) for name, each in current.items() if each]:
        current.update({name: (value,) for name, value in OLD_PLACES.get(place, {}).items()})
    return current


def _current_value(name: str, value: str) -> str:
    if name in MEASURE_PARAMETERS:
        value = current_name(value)
    if name in CHUNKING_PARAMETERS and value == OLD_DEFAULT_CHUNKING:
        value = chunking_label(DEFAULT_CHUNKING)
    return OLD_VALUES.get((name, value), value)


def write(**changes: Value) -> None:
    """Change parameters of the URL at once; None removes one, the others stay."""
    there: dict[str, Value] = {**get_all(), **changes}
    st.query_params.from_dict({name: value for name, value in there.items() if value})


def to(path: str, /, **parameters: Value) -> str:
    """Return the URL of a page, relative to this one, without the parameters that are None.

    >>> to("compare", a="bm25", b="lsa 2", measure=["RR", "AP"], query=None)
    'compare?a=bm25&b=lsa+2&measure=RR&measure=AP'
    >>> to("./")
    './'
    """
    there = {name: value for name, value in parameters.items() if value is not None}
    return f"{path}?{urlencode(there, doseq=True)}" if there else path


def page_url(path: str, /, **changes: Value) -> str:
    """Return the URL of another page with `KEPT_PARAMETERS` of this one and with ``changes``.

    None removes a parameter.
    """
    return to(path, **{**get_all(KEPT_PARAMETERS), **changes})


def this_page_url(path: str, /, **changes: Value) -> str:
    """Return this page's URL, which begins with ``path``, with ``changes``."""
    return to(path, **{**get_all(), **changes})


def check_among(
    name: str, options: Collection[str], what: str, clears: Sequence[str] = ()
) -> str | None:
    """Return the one of ``options`` that the URL names; raises `StaleLink` for any other ``what``.

    ``clears`` are parameters that depend on it.
    """
    found = get(name)
    if found is not None and found not in options:
        there = ", ".join(filter(None, options)) or "none"
        raise StaleLink(f"no {what} is called {found!r}; there are: {there}", [name, *clears])
    return found


# --- widgets ---------------------------------------------------------------------------------


def choose(
    label: str,
    options: Sequence[str],
    name: str,
    *,
    what: str | None = None,
    default: str | None = None,
    always: bool = False,
    clears: Sequence[str] = (),
    **more: Any,
) -> str:
    """Let the user choose one of ``options``; the first is the default unless another is.

    Other values in the URL raise `StaleLink` if ``what`` names the options; otherwise they mean the
    default. The default is left out of the URL unless ``always``. A choice removes the parameters
    ``clears``, which depend on it. With ``accept_new_options`` any value is allowed.
    """
    usual = options[0] if default is None else default
    found = check_among(name, options, what, clears) if what else get(name)
    if found and more.get("accept_new_options"):
        options = list(dict.fromkeys([*options, found]))
    _set_widget(name, found if found in options else usual)
    writes = _on_change(name, None if always else usual, clears)
    return str(st.selectbox(label, options, key=name, on_change=writes, **more))


def choose_or_not(
    label: str,
    options: Sequence[str],
    name: str,
    *,
    nothing: str,
    what: str | None = None,
    clears: Sequence[str] = (),
    **more: Any,
) -> str | None:
    """Let the user choose one of ``options`` or none of them, which is shown as ``nothing``.

    As in `choose`, other values in the URL raise `StaleLink` if ``what`` names the options.
    """
    nothing = apart_from(options, nothing)
    found = check_among(name, options, what, clears) if what else get(name)
    _set_widget(name, found if found in options else nothing)
    writes = _on_change(name, nothing, clears)
    chosen = st.selectbox(label, [nothing, *options], key=name, on_change=writes, **more)
    return None if chosen == nothing else chosen


def apart_from(options: Collection[str], nothing: str) -> str:
    """Return a box's text for none of the options, which differs from the names of all of them.

    >>> apart_from(["a"], "every bucket"), apart_from(["every bucket"], "every bucket")
    ('every bucket', '(every bucket)')
    """
    while nothing in options:
        nothing = f"({nothing})"
    return nothing


def choose_tab(
    label: str,
    options: Sequence[OptionT],
    name: str,
    *,
    what: str | None = None,
    clears: Sequence[str] = (),
    **more: Any,
) -> OptionT:
    """Let the user open one of a few tabs; the first is the default.

    A choice removes the parameters ``clears``, which depend on it.
    """
    by_text = {str(option): option for option in options}
    found = check_among(name, by_text, what, clears) if what else get(name)
    _set_widget(name, by_text.get(found or "", options[0]))
    chosen = st.segmented_control(
        label,
        options,
        key=name,
        required=True,
        on_change=_on_change(name, str(options[0]), clears),
        label_visibility="collapsed",
        **more,
    )
    return options[0] if chosen is None else chosen


def choose_several(
    label: str,
    adding: str,
    name: str,
    options: Sequence[str],
    default: Sequence[str],
    **more: Any,
) -> list[str]:
    """Let the user choose several of ``options`` or type others; the URL may name any.

    The first box has the chosen ones, the second one, ``adding``, all others. In both, Enter adds
    exactly what was typed; Streamlit's own box would add all options that are similar.
    """
    found = [each for each in get_each(name) if each.strip()] or list(default)
    _set_widget(name, found)
    chosen = st.multiselect(
        label,
        list(dict.fromkeys(found)),
        key=name,
        accept_new_options=True,
        select_all=False,
        on_change=_on_change(name, list(default)),
        **more,
    )
    one_more = f"add-{name}"

    def add() -> None:
        there = st.session_state[name]
        if (added := st.session_state[one_more]) and added not in there:
            value = [*there, added]
            write(**{name: None if value == list(default) else value})

    others = [each for each in dict.fromkeys([*default, *options]) if each not in chosen]
    _set_widget(one_more, None)
    st.selectbox(adding, others, None, key=one_more, accept_new_options=True, on_change=add)
    return chosen


def choose_some(
    label: str,
    options: Sequence[str],
    name: str,
    what: str,
    *,
    known: Collection[str] | None = None,
    **more: Any,
) -> list[str]:
    """Let the user choose some of ``options``, or none; `StaleLink` if the URL has others.

    An option that is ``known`` but not offered, because it is shown already, is ignored.
    """
    found = check_some_of(name, known or options, what)
    _set_widget(name, [each for each in found if each in options])
    return st.multiselect(label, options, key=name, on_change=_on_change(name, []), **more)


def check_some_of(name: str, options: Collection[str], what: str) -> list[str]:
    """Return the ``options`` that the URL names; raises `StaleLink` for any other ``what``."""
    found = list(dict.fromkeys(get_each(name)))
    if unknown := next((each for each in found if each not in options), None):
        there = ", ".join(options) or "none"
        raise StaleLink(f"no {what} is called {unknown!r}; there are: {there}", [name])
    return found


def choose_number(
    label: str, name: str, low: Any, high: Any, default: Any, step: Any = None, **more: Any
) -> Any:
    """Let the user set a number of the default's type; raises `StaleLink` for any other."""
    text = get(name)
    try:
        found = default if text is None else type(default)(text)
    except ValueError:
        found = None
    if found is None or not low <= found <= high:
        raise StaleLink(f"{name} is a number from {low} to {high}, not {text!r}", [name])
    _set_widget(name, found)
    writes = _on_change(name, str(default))
    return st.number_input(label, low, high, step=step, key=name, on_change=writes, **more)


def choose_page(count: int, name: str = "page") -> int:
    """Let the user turn pages if there are several; return the open one, from 1."""
    page = page_in_url(count, name)
    if count < 2:
        return page
    _set_widget(name, page)
    width = PAGE_NUMBER_WIDTH * min(count, PAGES_SHOWN) + PAGER_WIDTH
    return st.pagination(count, key=name, on_change=_on_change(name, "1"), width=width)


def choose_part(rows: Sequence[RowT], most: int, name: str = "page") -> Sequence[RowT]:
    """Let the user turn pages of at most ``most`` rows; return the rows of the open one."""
    page = choose_page(math.ceil(len(rows) / most), name)
    return rows[(page - 1) * most : page * most]


def page_in_url(count: int, name: str = "page") -> int:
    """Return which of ``count`` pages the URL names, from 1; the first if it names none."""
    text = get(name) or ""
    is_number = text.isdecimal() and len(text) <= len(str(count))
    return int(text) if is_number and 1 <= int(text) <= count else 1


def write_text(label: str, name: str, **more: Any) -> str:
    """Let the user write a text; unfinished text stays when the page runs again."""
    if st.session_state.get(name) != (there := get(name) or ""):
        _set_widget(name, there)
    return str(st.text_input(label, key=name, on_change=_on_change(name, ""), **more))


def switch(label: str, name: str, **more: Any) -> bool:
    """Let the user turn something on; it is off unless the URL says ``true``."""
    _set_widget(name, get(name) == "true")
    return st.toggle(label, key=name, on_change=_on_change(name, "false"), **more)


def _set_widget(name: str, value: object) -> None:
    """Make the widget ``name`` show the value in the URL, whatever it showed before."""
    st.session_state[name] = value


def _on_change(name: str, usual: Value, clears: Sequence[str] = ()) -> Callable[[], None]:
    """Return a callback that writes a widget's value to the URL, unless it is the default.

    After the URL has changed, a browser may report again the value that a widget was drawn with;
    that does not count as a change.
    """
    known = _in_text(st.session_state[name])

    def change() -> None:
        nonlocal known
        value = _in_text(st.session_state[name])
        if value == known:
            return
        known = value
        write(**dict.fromkeys(clears), **{name: None if value == usual else value})

    return change


def _in_text(value: object) -> Value:
    """Return a widget's value in the form that the URL has.

    >>> _in_text(True), _in_text(0.5), _in_text(["RR", "AP"]), _in_text(None)
    ('true', '0.5', ['RR', 'AP'], None)
    """
    if value is None:
        return None
    if isinstance(value, list):
        return [str(each) for each in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def remove(names: Iterable[str]) -> None:
    """Remove parameters from the URL."""
    write(**dict.fromkeys(names))
