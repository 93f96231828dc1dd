"""The Label page: the grading pad, for the grader and the part of the pool that the URL names."""
