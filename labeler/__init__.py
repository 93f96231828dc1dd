"""Grade retrieved chunks into a golden set, and watch every retrieval measure move."""

__version__ = "0.1.0"
