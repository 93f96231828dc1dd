-- Documents, the chunks that were cut from them, and the index of the chunks' words.
--
-- Integer keys are internal. Ids given by users are TEXT and kept exactly.

-- A way of cutting documents into chunks. The default one has no row here.
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

-- chunk_id    in a named chunking it is NAME:ID, so that UNIQUE (chunk_id) holds per chunking
-- text        null where only the id is known, from a run
-- chunking    null for the default one
-- start, end  characters of the document's text, end not included
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    chunk_id TEXT NOT NULL UNIQUE CHECK (chunk_id <> ''),
    document_id TEXT,
    position INTEGER,
    title TEXT,
    text TEXT,
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_type(metadata) = 'object'),
    text_hash TEXT,
    chunking INTEGER REFERENCES chunkings (id),
    start INTEGER CHECK (start >= 0),
    "end" INTEGER CHECK ("end" >= start),
    CHECK ((text IS NULL) = (text_hash IS NULL)),
    CHECK (("end" IS NULL) = (start IS NULL))
) STRICT;

CREATE INDEX chunks_document ON chunks (document_id, position);
CREATE INDEX chunks_chunking ON chunks (chunking) WHERE chunking IS NOT NULL;
CREATE INDEX chunks_text_hash ON chunks (text_hash) WHERE text_hash IS NOT NULL;

CREATE TRIGGER chunks_are_of_the_chunking_they_name AFTER INSERT ON chunks
WHEN NEW.chunking IS NULL AND instr(NEW.chunk_id, ':') > 1 AND EXISTS (SELECT 1 FROM chunkings)
BEGIN
    UPDATE chunks SET chunking = (
        SELECT id FROM chunkings WHERE name = substr(NEW.chunk_id, 1, instr(NEW.chunk_id, ':') - 1)
    ) WHERE id = NEW.id;
END;

-- The index stores no text, so its triggers must pass the old words to remove them. Chunks without
-- text are not in it, so that a large run loads quickly. SQLite's integrity check compares it with
-- the view, and would miss those chunks if it were compared with the table.
CREATE VIEW readable_chunks AS SELECT id, title, text FROM chunks WHERE text IS NOT NULL;

CREATE VIRTUAL TABLE chunk_words USING fts5 (
    title, text, content='readable_chunks', content_rowid='id',
    tokenize='unicode61 remove_diacritics 2'
);

CREATE TRIGGER chunk_words_insert AFTER INSERT ON chunks WHEN NEW.text IS NOT NULL
BEGIN
    INSERT INTO chunk_words (rowid, title, text) VALUES (NEW.id, NEW.title, NEW.text);
END;

CREATE TRIGGER chunk_words_update AFTER UPDATE OF title, text ON chunks
BEGIN
    INSERT INTO chunk_words (chunk_words, rowid, title, text)
    SELECT 'delete', OLD.id, OLD.title, OLD.text WHERE OLD.text IS NOT NULL;
    INSERT INTO chunk_words (rowid, title, text)
    SELECT NEW.id, NEW.title, NEW.text WHERE NEW.text IS NOT NULL;
END;

CREATE TRIGGER chunk_words_delete AFTER DELETE ON chunks WHEN OLD.text IS NOT NULL
BEGIN
    INSERT INTO chunk_words (chunk_words, rowid, title, text)
    VALUES ('delete', OLD.id, OLD.title, OLD.text);
END;
