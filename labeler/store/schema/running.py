"""Runs a script of SQL within the transaction that is open; knows nothing of what it makes."""

import sqlite3

from labeler.store.schema.light import Database


def run(db: Database, script: str) -> None:
    """Run the statements of a script, each of which ends with a line.

    SQLite's own way would commit what is open, and sqlite-utils' takes a statement apart at every
    letter: two thirds of the time that a new golden set took.
    """
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if line.rstrip().endswith(";") and sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""
    if statement.strip():
        db.execute(statement)
