"""Every setting: its default, its one-line doc, and what a value must satisfy.

A new section is one class and one line of `Config`; a new setting is one line. File key,
environment variable, `--set`, documentation and checks follow from that line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from memolith.config_context import ContextConfig
from memolith.config_index import EmbedConfig, IndexConfig
from memolith.config_jobs import (
    CompactConfig,
    DreamConfig,
    ExperiencesConfig,
    JobsConfig,
    LlmConfig,
    LongMemoryConfig,
)
from memolith.settings import Limit, Section, Setting, Value, at_least, between, one_of, setting


def _is_zone(value: Value) -> bool:
    if not value:
        return True
    from zoneinfo import ZoneInfo  # only users who set a zone pay for this import

    try:
        ZoneInfo(str(value))
    except (KeyError, ValueError, OSError):  # unknown, not a name at all, a folder of zones
        return False
    return True


# Files with a meaning of their own: records archived into one of them would be read as current.
_OWN_FILES = re.compile(
    r"(memory/)?memory\.md|(user|longmemory|dreams)\.md|memory/(experiences|\d{4}-\d\d-\d\d)\.md"
)


def _is_inside(path: str) -> bool:
    return (
        path.isprintable()
        and not any(character in path for character in '\\:*?"<>|')
        and not path.startswith("~")
        and not {"", ".", ".."} & set(path.split("/"))
    )


def _is_archive_path(value: Value) -> bool:
    path = str(value)
    return path.endswith(".md") and _is_inside(path) and not _OWN_FILES.fullmatch(path.lower())


ZONE = Limit('an IANA time zone such as Europe/Madrid, or "" for the system\'s', _is_zone)
ARCHIVE_PATH = Limit(
    "a .md file inside the profile (relative, without .. or ~) that has no other use",
    _is_archive_path,
)


_HOST = r"([\w.-]+|\[[0-9a-fA-F:.]+\])"
_ADDRESS = r"[\w.-]+|[0-9a-fA-F:.]+(%\w+)?"  # an IPv6 address has no brackets here


def _each(pattern: str) -> Callable[[Value], bool]:
    """A check of texts with commas between: brackets or quotes around them would be part of a name."""
    return lambda value: all(re.fullmatch(pattern, one.strip()) for one in str(value).split(","))


HOST = Limit(
    "a name or an address, such as 127.0.0.1",
    lambda value: bool(re.fullmatch(_ADDRESS, str(value))),
)
HOSTS = Limit("names with commas between, such as memo.local,nas", _each(f"{_HOST}?"))
ORIGINS = Limit(
    "origins with commas between, such as http://localhost:5173",
    _each(rf"([a-zA-Z][\w+.-]*://{_HOST}(:\d+)?|null)?"),
)

NAME = Limit(
    "a name of at most 100 characters",
    lambda value: 0 < len(str(value)) <= 100 and str(value).isprintable(),
)

SYNONYMS_PATH = Limit(
    'a file inside the profile (relative, without .. or ~), or "" for none',
    lambda value: not value or _is_inside(str(value)),
)


# Known here too, so that a misspelt one is refused before a server has lost its tools by it.
TOOL_NAMES = (
    "session_start", "memory_context", "recall_memory", "query_experiences", "relationships",
    "memory_search", "memory_get", "remember_this", "memory", "dream",
)  # fmt: skip


def tool_names(tools: str) -> tuple[str, ...]:
    """The names that stand in the setting.

    >>> tool_names("memory_get, dream")
    ('memory_get', 'dream')
    """
    return tuple(name.strip() for name in tools.split(","))


TOOLS = Limit(
    f"core, all, or names with commas between them, of {', '.join(TOOL_NAMES)}",
    lambda value: value in ("core", "all") or {*tool_names(str(value))} <= {*TOOL_NAMES},
    choices=("core", "all", *TOOL_NAMES),
)


class ProfileConfig(Section):
    """The profile as a whole."""

    timezone: str = setting(
        "", "Time zone that decides which day it is; empty means the system's.", ZONE
    )
    primary: str = setting(
        "MEMORY.md",
        "Which of the two places new records go to; both are always read.",
        one_of("MEMORY.md", "memory/MEMORY.md"),
    )


class StoreConfig(Section):
    """How records reach the disk."""

    durability: str = setting(
        "full",
        "`fast` skips fsync: a power cut can then lose acknowledged records. Unsafe.",
        one_of("full", "fast"),
        trusted_only=True,
    )
    lock_timeout_seconds: float = setting(
        10.0, "How long to wait for another writer before giving up.", between(0, 3600)
    )
    max_record_bytes: int = setting(
        65536, "Largest text of one record, in UTF-8 bytes.", between(1, 16777216)
    )
    duplicates: str = setting(
        "reuse",
        "The same text again: `reuse` answers with the record there is, `keep` writes another.",
        one_of("reuse", "keep"),
    )
    backups_kept: int = setting(
        100, "How many backups to keep; the oldest are deleted.", at_least(1)
    )


class TrimConfig(Section):
    """The rolling window over MEMORY.md. Daily logs are never trimmed."""

    max_records: int = setting(
        0, "Most records MEMORY.md may hold; the oldest go to the archive. 0 = off.", at_least(0)
    )
    max_chars: int = setting(
        0, "Most characters MEMORY.md may hold; the oldest go to the archive. 0 = off.", at_least(0)
    )
    slack: float = setting(
        0.1,
        "Trim this share below the limit, so that not every append rewrites the file.",
        between(0, 0.9),
    )
    archive_path: str = setting(
        ".memolith/archive/MEMORY-archive.md", "Where trimmed records go.", ARCHIVE_PATH
    )


class ChatConfig(Section):
    """The conversation history."""

    enabled: bool = setting(True, "Whether chat turns are kept at all.")
    max_entries: int = setting(
        100, "Turns kept per chat; the oldest of that chat leave first.", at_least(1)
    )
    max_chars_per_entry: int = setting(
        2000, "Longer messages are cut here and marked as cut.", at_least(20)
    )
    max_total_chars: int = setting(
        8000, "Longest recap of a chat; the oldest turns are left out first.", at_least(100)
    )
    recap_top_k: int = setting(3, "How many turns a recap about a question holds.", between(1, 100))
    timeout_seconds: float = setting(
        15.0, "How long a recap waits for the turns that answer a question.", between(0.001, 600)
    )


class SearchConfig(Section):
    """How hits are found and ordered."""

    words: bool = setting(True, "Whether to search by words (BM25).")
    meaning: bool = setting(True, "Whether to search by meaning (vectors).")
    rrf_k: int = setting(
        60, "How little the first ranks count more than later ones in the fusion.", between(1, 1000)
    )
    words_weight: float = setting(
        1.0, "How much words count in the fusion and among the votes.", between(0, 100)
    )
    meaning_weight: float = setting(1.0, "How much meaning counts there.", between(0, 100))
    synonyms_path: str = setting(
        "", "A file of your own synonyms inside the profile; see search-language.md.", SYNONYMS_PATH
    )
    day_first: str = setting(
        "auto",
        "Whether 3/4/2026 is 3 April; `auto` goes by the language of the question.",
        one_of("auto", "yes", "no"),
    )
    seasons: str = setting(
        "auto",
        "Whether summer begins in June (`north`) or December; `auto` goes by `profile.timezone`.",
        one_of("auto", "north", "south"),
    )
    days: bool = setting(True, "Whether what is from the days a question names comes first.")
    categories: bool = setting(
        True, "Whether records of a category a question names (decisions, lessons …) come first."
    )
    passages: bool = setting(
        True, "Whether the best passage of a long text counts besides the whole of it."
    )
    decay: bool = setting(True, "Whether the newer of two equal hits comes first.")
    half_life_days: float = setting(
        30.0, "Age at which a dated hit has lost half of what age can take from it.", at_least(0.1)
    )
    supersede: bool = setting(True, "Whether what a newer record took the place of moves down.")
    diversify: bool = setting(True, "Whether copies of a better hit move down.")
    mmr_lambda: float = setting(
        0.7, "1 ranks by relevance alone, 0 by variety alone.", between(0, 1)
    )


class McpConfig(Section):
    """The MCP server, which agents talk to."""

    tools: str = setting(
        "core",
        "Which tools it offers: `core`, `all`, or names with commas between them.",
        TOOLS,
    )
    session: str = setting("main", "The session of the records it writes.", NAME)
    session_kind: str = setting(
        "main",
        "Who is in that session; in a `group`, tools for private sessions are refused.",
        one_of("main", "dm", "heartbeat", "group"),
    )
    allow_secret: bool = setting(
        False,
        "Whether an agent may ask for secret records; if not, it never sees one.",
        trusted_only=True,
    )


class ServeConfig(Section):
    """The server of `memolith serve`."""

    host: str = setting(
        "127.0.0.1",
        "Address to listen on; one that is not this machine's own opens the memory to the network.",
        HOST,
        trusted_only=True,
        restart=True,
    )
    port: int = setting(
        8788,
        "Port to listen on; 0 takes any free one.",
        between(0, 65535),
        trusted_only=True,
        restart=True,
    )
    hosts: str = setting(
        "",
        "Further names requests may be addressed to, with commas between; others are refused.",
        HOSTS,
        trusted_only=True,
    )
    origins: str = setting(
        "",
        "Web pages that may call, such as `http://localhost:5173`, with commas between.",
        ORIGINS,
        trusted_only=True,
    )
    allow_secret: bool = setting(
        False, "Whether a call that asks for secret records gets them.", trusted_only=True
    )
    max_body_bytes: int = setting(
        1048576, "Largest body of a request.", between(1024, 67108864), trusted_only=True
    )
    timeout_seconds: float = setting(
        30.0, "How long a request may take to arrive, and to be answered.", between(0.01, 3600)
    )
    requests_per_second: float = setting(
        500.0, "Requests one token may make, with bursts of as many; 0 = no limit.", at_least(0)
    )


class Config:
    """All settings, immutable; built by config_loading and handed to whoever needs a section."""

    profile: ProfileConfig = ProfileConfig()
    store: StoreConfig = StoreConfig()
    trim: TrimConfig = TrimConfig()
    jobs: JobsConfig = JobsConfig()
    compact: CompactConfig = CompactConfig()
    long_memory: LongMemoryConfig = LongMemoryConfig()
    llm: LlmConfig = LlmConfig()
    chat: ChatConfig = ChatConfig()
    search: SearchConfig = SearchConfig()
    index: IndexConfig = IndexConfig()
    embed: EmbedConfig = EmbedConfig()
    context: ContextConfig = ContextConfig()
    mcp: McpConfig = McpConfig()
    serve: ServeConfig = ServeConfig()
    dream: DreamConfig = DreamConfig()
    experiences: ExperiencesConfig = ExperiencesConfig()

    def __init__(self, **sections: Section) -> None:
        """Take sections other than the defaults."""
        self.__dict__.update(sections)

    def __setattr__(self, key: str, value: object) -> None:
        """Refuse: settings are handed around, and nobody may change them under others."""
        raise AttributeError(f"the section {key} cannot be changed")

    def __eq__(self, other: object) -> bool:
        """Whether every value is the same."""
        return isinstance(other, Config) and all(
            getattr(self, name) == getattr(other, name) for name in SECTIONS
        )

    def __hash__(self) -> int:
        """Of all sections."""
        return hash(tuple(getattr(self, name) for name in SECTIONS))


SECTIONS: tuple[str, ...] = tuple(Config.__annotations__)
DEFAULTS = Config()


def value_of(config: Config, name: str) -> Value:
    """The value of the setting with this full name.

    >>> value_of(DEFAULTS, "trim.slack")
    0.1
    """
    section, key = name.split(".")
    value: Value = getattr(getattr(config, section), key)
    return value


SETTINGS: Mapping[str, Setting] = {
    name: Setting(
        name=name,
        default=known.default,
        doc=known.doc,
        must=known.must,
        trusted_only=known.trusted_only,
        restart=known.restart,
    )
    for section in SECTIONS
    for known in getattr(DEFAULTS, section).SETTINGS
    for name in (f"{section}.{known.name}",)
}


def with_values(values: Mapping[str, Value]) -> Config:
    """The defaults with these checked values put in, by full name.

    >>> with_values({"trim.max_records": 500}).trim.max_records
    500
    """
    by_section: dict[str, dict[str, Value]] = {}
    for name, value in values.items():
        section, key = name.split(".")
        by_section.setdefault(section, {})[key] = value
    return Config(
        **{
            section: type(getattr(DEFAULTS, section))(**changed)
            for section, changed in by_section.items()
        }
    )


# Jobs that run by themselves once `enabled`; what learns from records, before what makes them summaries.
SCHEDULED = ("experiences", "dream", "compact")


def scheduled_jobs(config: Config) -> list[str]:
    """The jobs that are switched on, in the order they run in when several are due."""
    return [job for job in SCHEDULED if getattr(config, job).enabled]
