"""Streamlit looks through all that is installed for components, whenever it starts; here once.

For those who import this, and for what is forked from them.
"""

from __future__ import annotations

from functools import cache

from streamlit.components.v2 import manifest_scanner

manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
manifest_scanner.scan_component_manifests()
