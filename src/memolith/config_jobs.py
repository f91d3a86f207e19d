"""The settings of the jobs that tidy a memory; `config.py` puts them beside the others."""

from __future__ import annotations

from datetime import UTC, datetime

from memolith.settings import Limit, Section, Value, at_least, between, one_of, setting


def _is_cron(value: Value) -> bool:
    if value == "0 3 * * *":
        return True  # the default, without the import

    from cronsim import CronSim, CronSimError

    try:
        next(CronSim(str(value), datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration):
        return False
    return True


def _is_endpoint(value: Value) -> bool:
    """Text of a memory may leave this machine only encrypted."""
    if not value:
        return True
    from urllib.parse import urlsplit

    try:
        url = urlsplit(str(value))
        local = url.hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False
    allowed = ("http", "https") if local else ("https",)
    return url.scheme in allowed and bool(url.hostname) and not url.username and not url.query


ENDPOINT = Limit(
    'the https address of an OpenAI-compatible API (http only on this machine), or "" for none',
    _is_endpoint,
)
KEY = Limit(
    'env:NAME, the variable that holds the key, or "" for none',
    lambda value: not value or (str(value).startswith("env:") and str(value)[4:].isidentifier()),
)
CRON = Limit("a cron expression such as 0 3 * * * (minute hour day month weekday)", _is_cron)


class JobsConfig(Section):
    """Jobs that tidy a memory: how they run, and what is kept of them."""

    review: str = setting(
        "auto",
        "`ask` keeps every plan as a proposal until you apply it; `auto` applies it at once.",
        one_of("auto", "ask"),
    )
    kept: int = setting(
        200, "How many reports of jobs to keep; older jobs cannot be undone.", at_least(1)
    )


class CompactConfig(Section):
    """Compaction: old records of MEMORY.md become summaries; the records go to the archive."""

    enabled: bool = setting(False, "Whether old records are compacted on schedule.")
    cron: str = setting("0 3 * * *", "When, as a cron expression in your time zone.", CRON)
    every_hours: float = setting(
        0.0, "Every so many hours instead of `cron`. 0 = off.", at_least(0)
    )
    after_append: bool = setting(
        True,
        "Also within about a minute after MEMORY.md has passed its limits and nothing was remembered for half a minute.",
    )
    max_records: int = setting(
        200,
        "More records than this in MEMORY.md, and old ones are compacted. 0 = off.",
        at_least(0),
    )
    max_chars: int = setting(
        32000,
        "More characters than this in MEMORY.md, and old records are compacted. 0 = off.",
        at_least(0),
    )
    min_age_days: float = setting(
        7.0, "Records younger than this are never compacted.", at_least(0)
    )
    categories: str = setting(
        "",
        "Categories to compact, with commas between; empty means all that are not protected.",
    )
    protected: str = setting(
        "", "Further categories that are never compacted, with commas between."
    )


class LongMemoryConfig(Section):
    """LONGMEMORY.md: what happened month by month, written by compaction."""

    enabled: bool = setting(True, "Whether compaction writes LONGMEMORY.md.")
    max_chars: int = setting(
        16000, "Most characters it may have; the oldest months go to the archive.", at_least(1000)
    )
    block_chars: int = setting(1500, "Most characters of one month.", at_least(200))


class LlmConfig(Section):
    """A language model that writes summaries. Without one, rules do, and nothing is sent anywhere."""

    url: str = setting(
        "",
        "Address of an OpenAI-compatible API, such as http://localhost:11434/v1; empty = rules.",
        ENDPOINT,
        trusted_only=True,
    )
    model: str = setting("default", "The name of the model.", trusted_only=True)
    key: str = setting("", "Where the key is, such as env:OPENAI_API_KEY.", KEY, trusted_only=True)
    timeout_seconds: float = setting(
        60.0,
        "How long one answer may take; then the rules write instead, for the rest of the job.",
        between(0.1, 3600),
        trusted_only=True,
    )
    price: float = setting(
        0.0,
        "What a million tokens cost, in whichever currency: reports then tell the price. 0 = not known.",
        at_least(0),
        trusted_only=True,
    )
    max_questions: int = setting(
        200,
        "How often one job may ask, retries included; then the rules write the rest.",
        at_least(1),
        trusted_only=True,
    )
    retries: int = setting(
        2, "How often a busy endpoint is asked again.", between(0, 10), trusted_only=True
    )


class DreamConfig(Section):
    """Recall tracking and dreaming."""

    enabled: bool = setting(False, "Whether dreams run on schedule.")
    cron: str = setting("0 3 * * *", "When, as a cron expression in your time zone.", CRON)
    track: bool = setting(
        True, "Whether it is noted which hits were shown and used; dreaming learns from that."
    )
    min_score: float = setting(0.3, "Lowest score of a statement to be promoted.", between(0, 1))
    min_recalls: int = setting(
        2, "How often a statement must have answered; a question counts once a day.", at_least(1)
    )
    min_queries: int = setting(
        1, "How many questions it must have answered, or on how many days.", at_least(1)
    )
    max_age_days: int = setting(
        30, "What was not recalled for so many days is not promoted. 0 = no limit.", at_least(0)
    )
    max_per_run: int = setting(10, "Most statements promoted by one dream.", between(1, 1000))
    max_chars: int = setting(
        8000,
        "Most characters of MEMORY.md that promoted facts may take; the oldest make room.",
        at_least(0),
    )


class ExperiencesConfig(Section):
    """The experience store."""

    enabled: bool = setting(False, "Whether experiences are extracted on schedule.")
    cron: str = setting("0 3 * * *", "When, as a cron expression in your time zone.", CRON)
    uniqueness: float = setting(
        0.85,
        "What is as similar as this to a stored experience is taken in only if it tells another fact.",
        between(0, 1),
    )
    max_count: int = setting(
        5000, "Most experiences; the least valuable go to the archive.", at_least(1)
    )
