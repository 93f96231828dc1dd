"""The Queries page: failing queries, worst first, why they fail, and one query in full."""
