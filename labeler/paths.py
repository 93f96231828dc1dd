"""Folders of pages, sample data and built documentation: in a checkout, or inside a wheel."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent
POLICY = "content-security-policy.txt"  # written last when the documentation is built


def folder(name: str) -> Path:
    """Return the folder ``pages`` or ``sample_data``."""
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name


def documentation() -> Path | None:
    """Return the folder of the built documentation, None in a checkout where it is not built."""
    found = (PACKAGE / "documentation", PACKAGE.parent / "build" / "docs")
    return next((each for each in found if (each / POLICY).is_file()), None)


def help_url(page: str) -> str | None:
    """Return the address of a page of the documentation, such as ``how-to/gate#in-a-build``.

    None if the documentation is not built: its readers then have the help on the pages alone.
    """
    name, _, heading = page.partition("#")
    if documentation() is None:
        return None
    return f"/docs/{name}.html#{heading}" if heading else f"/docs/{name}.html"
