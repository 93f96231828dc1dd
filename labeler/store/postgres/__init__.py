"""A golden set in a PostgreSQL database: engine, adapter, connection pool and schema."""
