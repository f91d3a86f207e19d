"""Every setting: its default, its line of doc, and what a value must satisfy.

A new section is one class and one line of `Config`; a new setting is one line. File key,
environment variable, `--set`, documentation and checks follow from that line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING

from memolith.config.setting import TOOL_NAMES, Rule, Setting, Value, Values, setting, tool_names

if TYPE_CHECKING:
    from memolith.reports import SettingValue


def one_of(*choices: str) -> Rule:
    """The value is one of these words."""
    return Rule(f"one of {', '.join(choices)}", choices.__contains__, choices)


def at_least(low: float) -> Rule:
    """The value is this number or a larger one."""
    return Rule(f"at least {low}", lambda value: value >= low)


def between(low: float, high: float) -> Rule:
    """The value is within these bounds, both included."""
    return Rule(f"from {low} to {high}", lambda value: low <= value <= high)


def like(pattern: str, text: str) -> Rule:
    """The value is printable and matches the pattern as a whole."""
    return Rule(text, lambda value: value.isprintable() and re.fullmatch(pattern, value))


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo  # only users who set a zone pay for this import

    with suppress(KeyError, ValueError, OSError):  # unknown, not a name at all, a folder of zones
        return bool(ZoneInfo(name))
    return False


def _is_cron(text: str) -> bool:
    from datetime import UTC, datetime

    from cronsim import CronSim, CronSimError

    with suppress(CronSimError, StopIteration):
        return bool(next(CronSim(text, datetime(2026, 1, 1, tzinfo=UTC))))
    return False


# Tables: one line for each rule and each setting.
# fmt: off

ZONE = Rule('an IANA time zone such as Europe/Madrid, or "" for the system\'s', _is_zone)
CRON = Rule("a cron expression such as 0 3 * * * (minute hour day month weekday)", _is_cron)

# Text of a memory may leave this machine only encrypted.
_ADDRESS = r"(?i:https://[^/?#@\s]+|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?)(/[^?\s]*)?"
ENDPOINT = like(_ADDRESS, 'the https address of an OpenAI-compatible API (http only on this machine), or "" for none')

RERANKER = like(r"(fastembed:\S.*)?", 'fastembed: and the name of a model or a folder, or "" for none')

_LOCAL = r"(localhost|127\.0\.0\.1|\[::1\])"
ENGINE = like(
    rf"(?i:https://\S+|http://{_LOCAL}(:\d+)?/?|postgres(ql)?://\S+)",
    'https://… of a Chroma server (http only on this machine), postgresql://…, or "" for none',
)

# A job must not write into a file that has a meaning of its own: its lines would be read as that.
_USED = r"((memory/)?memory|user|longmemory|dreams|memory/experiences|memory/\d{4}-\d\d-\d\d)\.md$"
_NAME = r'(?!\.\.?(/|$))[^\\:*?"<>|/]+'
_INSIDE = rf"(?!~)({_NAME}/)*{_NAME}"
_FREE = rf"(?i:(?!{_USED}))(?=.*\.md$){_INSIDE}"
INSIDE = like(_INSIDE, "a file inside the profile (relative, without .. or ~)")
ARCHIVE = like(_FREE, "a .md file inside the profile (relative, without .. or ~) that has no other use")
# Where every reader looks: search, forget and the search for secret marks among them.
IN_MEMORY = like(rf"(?=memory/\w[^/]*$){_FREE}", "a .md file directly in memory/ that has no other use")
# A colon before a path: two folders in one text.
FOLDER = like(r"(?!.*/\.\.(/|$))(?!.*:[/~])[/~].*", "a folder by its full path or from ~, without ..")

_HOST = r"([\w.-]+|\[[0-9a-fA-F:.]+\])"
_PAGE = rf"[a-zA-Z][\w+.-]*://{_HOST}(:\d+)?|null"
HOST = like(r"[\w.-]+|[0-9a-fA-F:.]+(%\w+)?", "a name or an address, such as 127.0.0.1")
ALLOWED = like(f"{_HOST}|{_PAGE}", "a host name, or the origin of a web page such as http://localhost:5173")

_TOOL_SETS = ("core", "all")
TOOLS = Rule(
    f"core, all, or names with commas between them, of {', '.join(TOOL_NAMES)}",
    lambda tools: tools in _TOOL_SETS or {*tool_names(tools)} <= {*TOOL_NAMES},
    choices=(*_TOOL_SETS, *TOOL_NAMES),
)
PATTERN = like(".{1,100}", "a channel, where * matches any text")
EXTERNAL_CHANNELS = (
    "web", "web:*", "http:*", "https:*", "email*", "mail*", "rss*", "webhook*", "tool:*", "*group*", "*public*",
)

class ProfileConfig(Values):
    """The profile as a whole."""

    timezone: str = setting("", "Time zone that decides which day it is; empty means the system's.", ZONE)
    enabled: bool = setting(True, "Off: nothing is written, searched or handed to an agent; the files stay as they are.")
    primary: str = "MEMORY.md"  # not a setting: memory/MEMORY.md where only that one exists

class StoreConfig(Values):
    """How records reach the disk."""

    lock_timeout_seconds: float = setting(10.0, "How long to wait for another writer before giving up.", between(0, 3600))
    backups_kept: int = setting(100, "How many backups to keep; the oldest are deleted.", at_least(1), trusted_to_lower=True)
    max_records: int = setting(0, "Most records and notes; more are refused. 0 = off.", at_least(0))
    max_bytes: int = setting(0, "Most bytes of Markdown and chats, without backups; more are refused. 0 = off.", at_least(0))

class TrimConfig(Values):
    """The rolling window over MEMORY.md. Daily logs are never trimmed."""

    max_records: int = setting(0, "Most records MEMORY.md may hold; the oldest go to the archive. 0 = off.", at_least(0))
    max_chars: int = setting(0, "Most characters MEMORY.md may hold; the oldest go to the archive. 0 = off.", at_least(0))
    archive_path: str = setting(".memolith/archive/MEMORY-archive.md", "Where trimmed records go.", ARCHIVE)

class JobsConfig(Values):
    """Jobs that tidy a memory: how they run, and which reports are kept."""

    review: str = setting("auto", "`ask` keeps every plan as a proposal until you apply it; `auto` applies it at once.", one_of("auto", "ask"))

class CompactConfig(Values):
    """Compaction: old records of MEMORY.md become summaries; the records go to the archive."""

    enabled: bool = setting(False, "Whether old records are compacted on schedule.")
    cron: str = setting("0 3 * * *", "When the jobs that are enabled run (dreams and experiences too), in your time zone.", CRON)
    every_hours: float = setting(0.0, "Interval in hours, instead of `cron`. 0 = off.", at_least(0))
    max_records: int = setting(200, "More records than this in MEMORY.md, and old ones are compacted. 0 = off.", at_least(0))
    max_chars: int = setting(32000, "More characters than this in MEMORY.md, and old records are compacted. 0 = off.", at_least(0))
    min_age_days: float = setting(7.0, "Records younger than this are never compacted.", at_least(0))

class LongMemoryConfig(Values):
    """The summaries of months that compaction writes."""

    path: str = setting("LONGMEMORY.md", "File of the monthly summaries; if you change it, move the file yourself.", IN_MEMORY)

class LlmConfig(Values):
    """A language model that writes summaries. Without one, rules do, and nothing is sent anywhere."""

    url: str = setting("", "Address of an OpenAI-compatible API, such as http://localhost:11434/v1; empty = rules.", ENDPOINT, trusted_only=True)
    model: str = setting("default", "The name of the model.", trusted_only=True)

class ChatConfig(Values):
    """The conversation history."""

    enabled: bool = setting(True, "Whether chat turns are kept at all.")
    recall: bool = setting(True, "Whether a recap about a question is searched for; off, it is the newest turns.")
    max_entries: int = setting(100, "Turns kept per chat; the oldest of that chat leave first.", at_least(1))
    max_chars_per_entry: int = setting(2000, "Longer messages are cut here and marked as cut.", at_least(20))
    max_total_chars: int = setting(8000, "Longest recap of a chat; the oldest turns are left out first.", at_least(100))
    recap_top_k: int = setting(3, "How many turns a recap about a question holds.", between(1, 100))
    timeout_seconds: float = setting(15.0, "How long a recap waits for the turns that answer a question.", between(0.001, 600))

class SearchConfig(Values):
    """How hits are found and ordered."""

    words: bool = setting(True, "Whether to search by words (BM25).")
    meaning: bool = setting(True, "Whether to search by meaning (vectors).")
    stop_words: bool = setting(True, "Whether words like \"the\" are left out of a question.")
    stop_words_path: str = setting("stop_words.txt", "The file of your own stop words inside the profile, one a line; `-word` removes one of ours.", INSIDE)
    synonyms: bool = setting(True, "Whether a word is also searched by its synonyms and translations.")
    dates: bool = setting(True, "Whether \"yesterday\" or \"in March\" prefers what is from those days.")
    fusion: str = setting("votes", "How both rankings become one: `votes` weighs raw scores, chats and passages; `rrf` goes by ranks alone.", one_of("votes", "rrf"))
    rrf_k: int = setting(60, "The constant k of reciprocal rank fusion; larger means flatter. A value of your own means `fusion = \"rrf\"`: votes have no k.", between(1, 1000))
    synonyms_path: str = setting("synonyms.tsv", "The file of your own synonyms inside the profile; see search-language.md.", INSIDE)
    decay: bool = setting(True, "Whether the newer of two equal hits comes first.")
    half_life_days: float = setting(30.0, "Half-life of the age penalty, in days.", at_least(0.1))
    decay_strength: float = setting(0.1, "How much of a score age can take: 1 multiplies it by 0.5^(age / half-life), 0 ignores age.", between(0, 1))
    diversify: bool = setting(True, "Whether copies of a better hit move down.")
    mmr_lambda: float = setting(0.7, "1 ranks by relevance alone, 0 by variety alone.", between(0, 1))
    rerank: str = setting("", "A model that reads the best hits again: `fastembed:NAME` or `fastembed:/FOLDER`; empty = none.", RERANKER, trusted_only=True)
    rerank_seconds: float = setting(1.5, "How long it may read for one question; the other hits keep their order.", between(0.05, 60))
    mmr_floor: float = setting(0.75, "Texts less similar than this are never treated as copies.", between(0, 1))

class IndexConfig(Values):
    """What is searched besides the profile."""

    path: str = setting("", "A folder for the index, which gets one of its own there; empty: in `.memolith/`.", FOLDER, trusted_only=True)
    backend: str = setting("builtin", "The engine: `builtin`, `chroma` (vectors in Chroma), `qmd` (asks the program QMD, too) or `postgres`.", one_of("builtin", "postgres", "chroma", "qmd"), trusted_only=True)
    url: str = setting("", "Where the engine is: `http://localhost:8000` for Chroma (empty: embedded), `postgresql://…` for PostgreSQL.", ENGINE, trusted_only=True)
    command: str = setting("qmd", "How QMD is started.", trusted_only=True)
    timeout_seconds: float = setting(5.0, "How long Chroma, QMD or PostgreSQL may take to answer.", between(0.05, 600), trusted_only=True)
    chunk_bytes: int = setting(1600, "Length of a piece of prose, about four bytes a token.", between(200, 20000))
    overlap_bytes: int = setting(320, "How much of a piece is repeated in the next, at most half of it.", between(0, 10000))
    extra_paths: tuple[str, ...] = setting((), "Folders whose Markdown is searched too and never written, as `[\"~/notes\"]`.", FOLDER, trusted_only=True)

class FilesConfig(Values):
    """Where the files of a memory are."""

    backend: str = setting("folder", "`folder` on this machine, or `postgres` for servers without a disk of their own; the folder is then a cache.", one_of("folder", "postgres"), trusted_only=True)
    url: str = setting("", "Which database: `postgresql://…`; empty: that of `index.url`.", ENGINE, trusted_only=True)

class EmbedConfig(Values):
    """The model that searches by meaning. The default one is built in and sends nothing anywhere."""

    kind: str = setting("default", "Which model: `default` is built in; `openai` (any compatible server) and `ollama` call a server.", one_of("default", "openai", "ollama"), trusted_only=True)
    url: str = setting("", "Address of that server, such as https://api.openai.com/v1 or http://localhost:11434.", ENDPOINT, trusted_only=True)
    model: str = setting("", "The server's name for the model, or `fastembed:NAME` or `fastembed:/FOLDER`: a stronger model on this machine.", trusted_only=True)
    timeout_seconds: float = setting(20.0, "How long one answer may take.", between(0.05, 600), trusted_only=True)
    retries: int = setting(2, "How often a server that is busy or away is asked again.", between(0, 10), trusted_only=True)

class ContextConfig(Values):
    """What an agent is handed at the start of a session and before an answer."""

    enabled: bool = setting(True, "Whether an agent is handed anything without asking.")
    max_chars: int = setting(32000, "Longest text for the start of a session.", between(500, 1000000))
    long_memory: bool = setting(True, "Whether LONGMEMORY.md is part of the start of a session.")
    citations: str = setting("auto", "Whether quotations for an agent name file and lines: `on`, `off`, or `auto`, not in groups.", one_of("auto", "on", "off"))
    turn_tokens: int = setting(2000, "Budget for the memories that are handed over before an answer.", at_least(50))
    max_results: int = setting(20, "How many memories are considered for an answer.", between(1, 100))
    experiences: int = setting(3, "How many past experiences are handed over before an answer; 0 = none.", between(0, 20))
    deadline_seconds: float = setting(1.5, "After this time an answer goes on with what was found so far.", between(0.01, 60))
    cache_seconds: float = setting(30.0, "How long an answer is fresh; then it is renewed in the background.", between(0, 3600))
    cache_entries: int = setting(256, "How many answers are kept in memory; 0 keeps none.", between(0, 100000))

class TrustConfig(Values):
    """Whose text is an agent's own, and whose came from outside."""

    external: tuple[str, ...] = setting(EXTERNAL_CHANNELS, "Channels whose text is held back from contexts; `*` matches any text.", PATTERN, trusted_only=True)
    allow_secret: bool = setting(False, "Whether an agent or a program that asks for secret records gets them.", trusted_only=True)

class McpConfig(Values):
    """The MCP server, which agents talk to."""

    tools: str = setting("core", "Which tools it offers: `core`, `all`, or names with commas between them.", TOOLS, trusted_only=True)
    session_kind: str = setting("main", "Who is in that session; in a `group`, tools for private sessions are refused.", one_of("main", "dm", "heartbeat", "group"), trusted_only=True)

class ServeConfig(Values):
    """The server of `memolith serve`."""

    host: str = setting("127.0.0.1", "Address to listen on; one that is not this machine's own opens the memory to the network.", HOST, trusted_only=True, restart=True)
    port: int = setting(8788, "Port to listen on; 0 takes any free one.", between(0, 65535), trusted_only=True, restart=True)
    allow: tuple[str, ...] = setting((), "Further host names it answers to (`nas.lan`), and web pages that may call it (`http://localhost:5173`).", ALLOWED, trusted_only=True)

class DreamConfig(Values):
    """Recall tracking and dreaming."""

    enabled: bool = setting(False, "Whether dreams run on schedule.")
    track: bool = setting(True, "Whether it is noted which hits were shown and used; dreaming learns from that.")
    min_score: float = setting(0.3, "Lowest score of a statement to be promoted.", between(0, 1))
    min_recalls: int = setting(2, "How often a statement must have answered; a question counts once a day.", at_least(1))
    min_queries: int = setting(1, "How many questions it must have answered, or on how many days.", at_least(1))
    max_per_run: int = setting(10, "Most statements promoted by one dream.", between(1, 1000))

class ExperiencesConfig(Values):
    """The experience store."""

    enabled: bool = setting(False, "Whether experiences are extracted on schedule.")
    path: str = setting("memory/experiences.md", "File of the experiences; if you change it, move the file yourself.", IN_MEMORY)
    uniqueness: float = setting(0.85, "An experience as similar as this to a stored one is added only if it contains another fact.", between(0, 1))
    max_count: int = setting(5000, "Most experiences; the least valuable go to the archive.", at_least(1))


# fmt: on


class Config(Values):
    """All settings, immutable; built by `load` and handed to each user of a section."""

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
    files: FilesConfig = FilesConfig()
    embed: EmbedConfig = EmbedConfig()
    context: ContextConfig = ContextConfig()
    trust: TrustConfig = TrustConfig()
    mcp: McpConfig = McpConfig()
    serve: ServeConfig = ServeConfig()
    dream: DreamConfig = DreamConfig()
    experiences: ExperiencesConfig = ExperiencesConfig()


DEFAULTS = Config()
SECTIONS: Mapping[str, type[Values]] = {name: type(part) for name, part in vars(DEFAULTS).items()}
SETTINGS: dict[str, Setting] = {}
for _section, _values in SECTIONS.items():
    for _key, _setting in vars(_values).items():
        if isinstance(_setting, Setting):
            _setting.name = f"{_section}.{_key}"
            SETTINGS[_setting.name] = _setting


def setting_value(config: Config, origins: Mapping[str, str], name: str) -> SettingValue:
    """The setting with this full name as people and programs see it."""
    from memolith.reports import SettingValue

    one, value = SETTINGS[name], value_of(config, name)
    return SettingValue(name, value, origins[name], one.default, one.doc, one.restart)


def value_of(config: Config, name: str) -> Value:
    """The value of the setting with this full name.

    >>> value_of(DEFAULTS, "search.mmr_lambda")
    0.7
    """
    value: Value = attrgetter(name)(config)
    return value


def with_values(values: Mapping[str, Value], config: Config = DEFAULTS) -> Config:
    """The config with these checked values put in, by full name.

    >>> with_values({"trim.max_records": 500}).trim.max_records
    500
    """
    for name, value in values.items():
        section, key = name.split(".")
        config = config.replace(**{section: getattr(config, section).replace(**{key: value})})
    return config


# Jobs with a schedule once `enabled`, in the order they run in: those that learn from records come
# before the one that replaces records by summaries.
SCHEDULED = ("experiences", "dream", "compact")


def scheduled_jobs(config: Config) -> list[str]:
    """The jobs that are switched on, in the order they run in when several are due."""
    return [job for job in SCHEDULED if getattr(config, job).enabled]
