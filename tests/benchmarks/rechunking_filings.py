"""How many grades are transferred where most text occurs more than once, and how many are right.

    python -m tests.benchmarks.rechunking_filings

Four made-up filings; 73% of their windows of 200 characters occur more than once. What answers each
of the questions is in one of the copies, so a grade is right only if its chunk is located at the
right copy. Grades and pairs are as in `tests.benchmarks.rechunking`. The columns are what is known
of the chunks; "half" means that only a random half of the new chunks is known.

The last table is on new chunks of which only the document is known: how many more pairs were
estimated to be decided once their place is known, and how many then were.
"""

from __future__ import annotations

from tests.benchmarks.rechunking import (
    CASES,
    Cutting,
    World,
    pairs_transferred,
    said_of,
    share,
)
from tests.support.filings import make_filings, repeated_share

GIVEN = {
    "texts in any order": ("mixed", 1.0),
    "texts in order": ("texts", 1.0),
    "document, position": ("order", 1.0),
    "offsets": ("offsets", 1.0),
    "whole texts, offsets": ("all", 1.0),
    "half: position": ("order", 0.5),
    "half: offsets": ("offsets", 0.5),
}
TOO_FEW = ((800, 0), (1600, 0))  # hardly any pair is covered by graded chunks


def main() -> None:
    """Print a table with passages marked, and one without."""
    world = World(*make_filings(4, 140))
    repeated = repeated_share(list(world.texts.values()))
    print(f"{repeated:.0%} of windows repeated, {len(world.questions)} questions")
    for marked in (True, False):
        print(f"\n{'With' if marked else 'Without'} passages: decided (right)\n")
        print(f"| chunks of, overlap | covered | {' | '.join(GIVEN)} |")
        print("|---" * (len(GIVEN) + 2) + "|")
        for old, new in CASES:
            if (old, new) != TOO_FEW:
                print(f"| {' | '.join(row(world, old, new, marked))} |", flush=True)
    print("\n| chunks of, overlap | with | decided | estimated | decided then |")
    print("|---|---|---|---|---|")
    for old, new in CASES:
        for marked in (True, False):
            if (old, new) != TOO_FEW:
                print(f"| {' | '.join(estimate(world, old, new, marked))} |", flush=True)


def estimate(world: World, old: Cutting, new: Cutting, marked: bool) -> list[str]:
    """Return the cells of a row on the estimate of pairs that would be decided."""
    _, now, _ = pairs_transferred(world, old, new, marked, "documents alone")
    _, then, _ = pairs_transferred(world, old, new, marked, "all")
    decided, later = (sum(each.state == "decided" for each in found) for found in (now, then))
    more = round(sum(each.if_located or 0 for each in now))
    known = "passages" if marked else "text"
    return [said_of(old, new), known, f"{decided}", f"{decided + more}", f"{later}"]


def row(world: World, old: Cutting, new: Cutting, marked: bool) -> list[str]:
    """Return the cells of a row."""
    cells = []
    for given, part in GIVEN.values():
        counts, _, _ = pairs_transferred(world, old, new, marked, given, part)
        if not cells:
            total = counts["covered all"] + counts["other all"]
            cells = [said_of(old, new), f"{counts['covered all'] / total:.2f}"]
        decided = share(counts, "covered all decided", "covered all")
        cells.append(f"{decided} ({share(counts, 'covered all right', 'covered all decided')})")
    return cells


if __name__ == "__main__":
    main()
