"""PostgreSQL databases of golden sets: engine, adapter, connection pool and schema."""
