"""The Compare page: run B against run A, with the size of the difference, queries and chunks."""
