"""Settings of the team, stored as one row of JSON; the audit log notes every change."""

from __future__ import annotations

import json
from dataclasses import replace

from labeler.model import LONGEST_WORD, Settings, settings_from, settings_to_store
from labeler.store.audit import Audit
from labeler.store.columns import as_json
from labeler.store.connection import Connection


class StoredSettings:
    """Reads and writes the settings."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)

    def text(self, key: str) -> str:
        """Return the value stored under a key, as text."""
        return str(self._db.value("SELECT value FROM settings WHERE key = ?", [key]))

    def read(self) -> Settings:
        """Return the team's settings, the defaults where nothing was chosen."""
        stored = self._db.value("SELECT value FROM settings WHERE key = 'settings'")
        chosen = json.loads(stored) if stored else {}
        if "words" in chosen:
            # Earlier versions accepted words of any length.
            chosen["words"] = [
                word if len(word) <= LONGEST_WORD else word.strip()[:LONGEST_WORD]
                for word in chosen["words"]
            ]
        return settings_from(chosen)

    def save(self, settings: Settings) -> None:
        """Store the team's settings."""
        with self._db.writing():
            self.put(settings)

    def save_field_map(self, field_map: str) -> bool:
        """Store a field map in the settings; return whether it differs from the one there."""
        with self._db.writing():
            settings = self.read()
            if settings.field_map == field_map:
                return False
            self.put(replace(settings, field_map=field_map))
            return True

    def put(self, settings: Settings) -> None:
        """Store the team's settings, in the transaction of the caller."""
        changed = self.read().changes_to(settings)
        self._db.execute(
            "INSERT INTO settings (key, value) VALUES ('settings', ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [as_json(settings_to_store(settings))],
        )
        if changed:
            self._audit.put("settings", ", ".join(changed), changed)
