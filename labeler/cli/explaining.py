"""``labeler measures``: what the registry says of each measure."""

from __future__ import annotations

import click

from labeler.measures import MEASURES, Definition


@click.command("measures")
def explain_measures() -> None:
    """Say what each measure means and what it hides."""
    click.echo("\n\n".join(explained(definition) for definition in MEASURES.values()))


_CONDENSES = " drops the chunks nobody graded from the list, before ranks are counted"


def explained(definition: Definition) -> str:
    """Return what the registry says of a measure, as text."""
    rows = {
        "meaning": definition.meaning,
        "hides": definition.hides,
        "formula": definition.formula,
        "example": f"{definition.example} ({definition.takes})",
        "option": f"judged_only=True{_CONDENSES}" if definition.condenses else "",
        "usually": f"a mean {definition.bands}" if definition.bands else "",
        "also": ", ".join(definition.aliases),
        "values": "whole numbers from 0, not shares from 0 to 1" if definition.count else "",
        "terms": definition.depends,
    }
    lines = [f"  {what:<8} {text}" for what, text in rows.items() if text]
    return "\n".join([definition.name, *lines])
