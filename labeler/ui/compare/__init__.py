"""The Compare page: run B against run A, by how much, on which queries, which chunks moved."""
