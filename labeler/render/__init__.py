"""HTML tables, charts, CSV files and the report: results as people see and download them."""
