"""The sections of the Data page, each in a file of its own."""
