"""Who may see what: the one place that decides whether a record is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from fnmatch import fnmatchcase
from functools import lru_cache

from memolith.errors import RefusedError
from memolith.types import SESSION_KINDS, Record, Sensitivity, SessionKind, Trust

# The setting `trust.external`: channels, and paths in extra folders; `*` matches any text.
Patterns = tuple[str, ...]

# Trust follows the channel a text came in by, never what the text says about itself. `web` is not the
# user's: pages that an agent read are saved under that name too.
PAGE = "page"  # the person who looks at it is no agent: nothing is logged as a recall
_USER_CHANNELS = frozenset({"cli", "library", "operator", PAGE, "user"})
_AGENT_CHANNELS = frozenset({"agent", "mcp", "rest", "system"})
_NO_CHANNEL = frozenset({"", "unknown"})
_RANKS: tuple[Trust, ...] = ("external", "agent", "user")
# Marks in front of the name of a channel: the user let this text in; an importer says where it is from.
APPROVED = "approved:"
_IMPORTED = "external:"
_GROUP = ":group"  # what a session of this kind writes
_ELSEWHERE = "@"  # as in `files.disk_view`


@lru_cache(maxsize=4096)
def trust(channel: str, external: Patterns = ()) -> Trust:
    """How far a channel is trusted; a name that nobody declared external is the agent's own.

    Without the patterns the answer is right for text that is known to be ours.

    >>> trust("cli"), trust("telegram"), trust("Web:news", ("web:*",))
    ('user', 'agent', 'external')
    """
    if channel.startswith(APPROVED):
        return "agent"
    is_marked = channel.startswith(_IMPORTED) or channel.endswith(_GROUP)
    if is_marked or matches(channel, external):
        return "external"
    return "user" if channel in _USER_CHANNELS else "agent"


def check_is_session_kind(kind: str) -> None:
    """Refuse what is not a kind of session: a misspelt group would be trusted."""
    if kind not in SESSION_KINDS:
        raise RefusedError(
            f"{kind!r} is not a kind of session.", hint=f"Use one of {', '.join(SESSION_KINDS)}."
        )


def channel_in(channel: str, kind: str) -> str:
    """The channel of what a session of this kind writes: in a group, anybody may have said it."""
    check_is_session_kind(kind)
    return channel + _GROUP if kind == "group" and not channel.endswith(_GROUP) else channel


def matches(name: str, external: Patterns) -> bool:
    """Whether a channel or path is declared external, in whatever case."""
    folded = name.casefold()
    return any(fnmatchcase(folded, pattern.casefold()) for pattern in external)


def is_path_external(path: str, external: Patterns) -> bool:
    """Whether a path in an extra folder is declared external, with or without the digits of its root id.

    >>> is_path_external("@notes-1a2b/clippings/page.md", ("@notes/clippings/*",))
    True
    """
    folder, slash, rest = path.partition("/")
    if not slash or not folder.startswith(_ELSEWHERE):
        return False
    name = folder.rpartition("-")[0] + slash + rest
    return matches(path, external) or matches(name, external)


def channel_name(channel: str) -> str:
    """The name of a channel without the mark of its trust."""
    return channel.removeprefix(APPROVED).removeprefix(_IMPORTED)


def trust_in_file(channel: str, external: Patterns = (), role: str = "") -> Trust:
    """How far text in the profile's own files is trusted; without a channel, a person wrote it.

    What an assistant said in a chat was not said by the user, whatever the chat came in by.
    """
    known = trust(channel, external) if channel not in _NO_CHANNEL else "user"
    return "agent" if known == "user" and role == "assistant" else known


def raises_trust(channel: str, over: str, external: Patterns) -> bool:
    """Whether one channel is trusted more than the other."""
    ranks = [_RANKS.index(trust_in_file(name, external)) for name in (channel, over)]
    return ranks[0] > ranks[1]


def allowed_platform(platform: str, channel: str, external: Patterns = ()) -> str:
    """Where a turn was said; a channel may name one that is trusted less than itself, never more."""
    platform = channel_in(platform, "group" if channel.endswith(_GROUP) else "main")
    return channel if raises_trust(platform, channel, external) else platform


def trust_label(channel: str, external: Patterns) -> str:
    """The trust as it is shown with a quotation; what came from outside names its channel."""
    known = trust_in_file(channel, external)
    return f"external: {channel_name(channel)[:40]}" if known == "external" else known


@lru_cache(maxsize=4096)
def shown_trust(path: str, channel: str, role: str, external: Patterns) -> str:
    """The trust of a chunk as it is shown; text of a folder besides the profile's may be anybody's."""
    known = trust_in_file(channel, external, role)
    is_external = known == "external" or is_path_external(path, external)
    if path.startswith(_ELSEWHERE) and "/" in path:
        return f"{'external' if is_external else 'file'}: {path.partition('/')[0][:40]}"
    return f"external: {channel_name(channel)[:40]}" if is_external else known


def may_see(sensitivity: Sensitivity, kind: SessionKind = "main") -> bool:
    """Whether a session of this kind gets text with this mark: never a secret; a group, only public text."""
    return sensitivity == "public" if kind == "group" else sensitivity != "secret"


def may_reuse(known: Record, record: Record) -> bool:
    """Whether a known record is returned for the same words: of another channel, only one of ours."""
    channel = known.provenance.channel
    is_ours = channel in _USER_CHANNELS | _AGENT_CHANNELS | _NO_CHANNEL
    return is_ours or channel == record.provenance.channel


def visible(record: Record, *, include_secret: bool) -> bool:
    """Whether a record may be shown to a caller, who may ask for secrets too."""
    return include_secret or may_see(record.sensitivity)


def current(
    records: Iterable[Record], now: datetime, replaced: Iterable[str] = ()
) -> Iterator[Record]:
    """The records that are neither expired nor superseded.

    `replaced` are ids whose successor is not among the records, but in the archive.
    """
    everything = list(records)
    superseded = {*replaced, *(record.supersedes for record in everything)}
    for record in everything:
        if record.id not in superseded and (record.expires is None or record.expires > now):
            yield record
