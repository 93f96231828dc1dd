"""The index of the chunks' words, as SQL text."""

# The index of words holds no text of its own: it must be told exactly what to take out again.
# A chunk known by id only is not in it, so that loading a large run stays cheap; the view says so
# to SQLite, whose integrity check would else miss such chunks.
SEARCH = """
CREATE VIEW readable_chunks AS SELECT id, title, text FROM chunks WHERE text IS NOT NULL;

CREATE VIRTUAL TABLE chunk_words USING fts5 (
    title, text, content='readable_chunks', content_rowid='id',
    tokenize='unicode61 remove_diacritics 2'
);

CREATE TRIGGER chunks_are_indexed AFTER INSERT ON chunks WHEN NEW.text IS NOT NULL
BEGIN
    INSERT INTO chunk_words (rowid, title, text) VALUES (NEW.id, NEW.title, NEW.text);
END;

CREATE TRIGGER chunks_are_indexed_anew AFTER UPDATE OF title, text ON chunks
BEGIN
    INSERT INTO chunk_words (chunk_words, rowid, title, text)
    SELECT 'delete', OLD.id, OLD.title, OLD.text WHERE OLD.text IS NOT NULL;
    INSERT INTO chunk_words (rowid, title, text)
    SELECT NEW.id, NEW.title, NEW.text WHERE NEW.text IS NOT NULL;
END;

CREATE TRIGGER chunks_are_not_indexed_any_more AFTER DELETE ON chunks WHEN OLD.text IS NOT NULL
BEGIN
    INSERT INTO chunk_words (chunk_words, rowid, title, text)
    VALUES ('delete', OLD.id, OLD.title, OLD.text);
END;

INSERT INTO chunk_words (rowid, title, text) SELECT id, title, text FROM readable_chunks;
"""
