"""Values as HTML tables, charts, CSV files and the report."""
