"""Services over store and domain: import, export, transfer, assignment, candidates, splits."""
