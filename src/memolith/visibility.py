"""Who may see what: the one place that decides whether a record is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from memolith.types import Record, Sensitivity, SessionKind, Trust

# Trust follows the channel a text came in by, never what the text says about itself. `web` is not the
# user's: pages that an agent read are saved under that name too.
_USER_CHANNELS = frozenset({"cli", "library", "operator", "page", "user"})
_ELSEWHERE = "@"  # as `files.roots` has it
_AGENT_CHANNELS = frozenset({"agent", "mcp", "rest", "system"})


def trust(channel: str) -> Trust:
    """How far a channel is trusted; one we do not know is external."""
    if channel in _USER_CHANNELS:
        return "user"
    return "agent" if channel in _AGENT_CHANNELS else "external"


def trust_in_file(channel: str, role: str = "") -> Trust:
    """How far what stands in the profile's own files is trusted; without a channel, a person wrote it.

    What an assistant said in a chat was not said by the user, whatever the chat came in by.
    """
    known = trust(channel) if channel not in ("", "unknown") else "user"
    return "agent" if known == "user" and role == "assistant" else known


def allowed_platform(platform: str, channel: str) -> str:
    """Where a turn was said; only a channel of the user's may name one of the user's."""
    is_claim = trust_in_file(platform) == "user" and trust(channel) != "user"
    return channel if is_claim else platform


def trust_label(channel: str, role: str = "", path: str = "") -> str:
    """The trust as it is shown with a quotation; what came from outside names its channel.

    What stands in a folder besides the profile's, whose paths begin with a mark, may be anybody's.
    """
    if path.startswith(_ELSEWHERE) and "/" in path:
        return "file"
    known = trust_in_file(channel, role)
    return f"external: {channel[:40]}" if known == "external" else known


def may_see(sensitivity: Sensitivity, kind: SessionKind = "main") -> bool:
    """Whether a session of this kind is handed something: no secret, and a group only what is public."""
    return sensitivity == "public" if kind == "group" else sensitivity != "secret"


def may_stand_for(known: Record, record: Record) -> bool:
    """Whether a known record may answer for the same words: not one from outside for our own."""
    return (
        trust_in_file(known.provenance.channel) != "external"
        or trust(record.provenance.channel) == "external"
    )


def visible(record: Record, *, include_secret: bool) -> bool:
    """Whether this record may be shown to whoever asks."""
    return include_secret or may_see(record.sensitivity)


def shown_and_hidden(
    records: Iterable[Record], *, include_secret: bool
) -> tuple[list[Record], int]:
    """The records that may be shown, and how many may not."""
    everything = list(records)
    shown = [record for record in everything if visible(record, include_secret=include_secret)]
    return shown, len(everything) - len(shown)


def current(
    records: Iterable[Record], now: datetime, replaced: Iterable[str] = ()
) -> Iterator[Record]:
    """The records that still hold: not expired, and no newer one has taken their place.

    `replaced` are ids whose successor is not among the records, but in the archive.
    """
    everything = list(records)
    superseded = {*replaced, *(record.supersedes for record in everything)}
    for record in everything:
        if record.id not in superseded and (record.expires is None or record.expires > now):
            yield record
