"""Build hook that puts the built documentation into the wheel, where Sphinx is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DocumentationHook(BuildHookInterface[Any]):
    """Builds ``docs/`` into ``build/docs``, which the wheel carries as ``labeler/documentation``.

    An editable install reads it from ``build/docs``, where ``make docs`` puts it. Without Sphinx
    the wheel has no documentation, and the pages no links to it.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the pages and name them as files of the wheel."""
        if version == "editable":
            return
        if importlib.util.find_spec("sphinx") is None:
            self.app.display_warning("Sphinx is not installed: this wheel has no documentation.")
            return
        site = Path(self.root, "build", "docs")
        docs = str(Path(self.root, "docs"))
        sphinx = [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "-b", "html", docs, str(site)]
        subprocess.run(sphinx, check=True)
        build_data["force_include"][str(site)] = "labeler/documentation"
