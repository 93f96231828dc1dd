"""The sections of the Data page, one module each."""
