"""The words that some values may have, as types. (Apart, because `typing` is slow to import.)"""

from __future__ import annotations

from typing import Literal

Sensitivity = Literal["public", "private-user", "secret", "operational"]
Trust = Literal["user", "agent", "external"]
CheckStatus = Literal["ok", "warn", "error", "info", "off"]
ChunkKind = Literal["prose", "record", "turn"]
JobStatus = Literal["planned", "skipped", "proposed", "done", "failed", "undone", "declined"]
SessionKind = Literal["main", "dm", "heartbeat", "group"]
