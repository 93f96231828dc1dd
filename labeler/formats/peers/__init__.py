"""File formats of other tools: Quepid, OpenSearch, RAGAS, and ranx's JSON by query."""
