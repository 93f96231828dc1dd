"""Assignment of work: which grader is handed which chunks of which queries."""
