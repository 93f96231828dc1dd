"""Services that combine store and domain: import, export, transfer, assignment, candidates."""
