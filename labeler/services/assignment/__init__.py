"""Assignment of work: which grader gets which chunks of which queries."""
