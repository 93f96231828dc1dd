"""Folders of pages and sample data: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent


def folder(name: str) -> Path:
    """Return the folder ``pages`` or ``sample_data``."""
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name
