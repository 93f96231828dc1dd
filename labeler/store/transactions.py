"""Words that begin a transaction, where it does more than ``BEGIN IMMEDIATE``."""

from __future__ import annotations

CHOOSING = "BEGIN IMMEDIATE -- in turn with whoever chooses, and with no writer"
