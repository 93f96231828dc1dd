"""The sections of the Review page, one module each."""
