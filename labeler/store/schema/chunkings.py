"""The chunkings of a golden set and the documents they were cut from, as SQL text; runs none of it.

``chunks.chunk_id`` stays what it was: unique, what the logs name and their seals are made from. In
a named chunking it is ``NAME:ID``, see `labeler.model.chunkings`, so that UNIQUE (chunk_id) is
UNIQUE (chunking, id), and nothing that reads chunks by it can mix two chunkings. So no table is
made anew: what was there before belongs to the unnamed chunking, which NULL stands for.
"""

# start and "end" count characters of the document's text, the end not included.
CHUNKINGS = """
CREATE TABLE chunkings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> '' AND instr(name, ':') = 0),
    added_at TEXT NOT NULL
) STRICT;

CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL UNIQUE CHECK (document_id <> ''),
    title TEXT,
    text TEXT NOT NULL CHECK (text <> ''),
    text_hash TEXT NOT NULL,
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_type(metadata) = 'object')
) STRICT;

ALTER TABLE chunks ADD COLUMN chunking INTEGER REFERENCES chunkings (id);
ALTER TABLE chunks ADD COLUMN start INTEGER CHECK (start >= 0);
ALTER TABLE chunks ADD COLUMN "end" INTEGER
    CHECK (("end" IS NULL) = (start IS NULL) AND ("end" IS NULL OR "end" >= start));
ALTER TABLE runs ADD COLUMN chunking INTEGER REFERENCES chunkings (id);

CREATE INDEX chunks_chunking ON chunks (chunking) WHERE chunking IS NOT NULL;

CREATE TRIGGER chunks_are_of_the_chunking_they_name AFTER INSERT ON chunks
WHEN NEW.chunking IS NULL AND instr(NEW.chunk_id, ':') > 1 AND EXISTS (SELECT 1 FROM chunkings)
BEGIN
    UPDATE chunks SET chunking = (
        SELECT id FROM chunkings WHERE name = substr(NEW.chunk_id, 1, instr(NEW.chunk_id, ':') - 1)
    ) WHERE id = NEW.id;
END;
"""
