"""The four programs whose union Memolith is, and OpenClaw, their ancestor: CursorClaw, ClawCode, Clawless, DevClaw."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from memolith.clock import Clock
from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.chat_log import parse_turn
from memolith.files.front_matter import parse_header
from memolith.files.notes import file_date
from memolith.importers import items
from memolith.importers.items import Item, Line, Place, Skip, moment
from memolith.importers.opening import Source
from memolith.importers.transcripts import sessions
from memolith.index.foreign import read_table
from memolith.results import Turn

# Their names of settings, and ours.
# fmt: off
_CURSORCLAW = {
    "sessionMemoryEnabled": "context.enabled", "sessionMemoryCap": "context.max_chars",
    "memoryMaxRecords": "trim.max_records", "memoryMaxChars": "trim.max_chars",
    "memoryCompactionEnabled": "compact.enabled", "memoryCompactionScheduleCron": "compact.cron",
    "memoryCompactionIntervalMs": "compact.every_hours", "memoryCompactionMaxRecords": "compact.max_records",
    "memoryCompactionMaxChars": "compact.max_chars", "memoryCompactionMinAgeDays": "compact.min_age_days",
    "longMemoryMaxChars": "long_memory.max_chars", "includeLongMemoryInSession": "context.long_memory",
    "experienceStoreEnabled": "experiences.enabled", "experienceUniquenessThreshold": "experiences.uniqueness",
    "experienceMaxCount": "experiences.max_count", "injectExperienceContext": "context.experiences",
}
_CLAWCODE = {
    "memory.citations": "context.citations", "memory.extraPaths": "index.extra_paths", "memory.backend": "index.backend",
    "memory.builtin.temporalDecay": "search.decay", "memory.builtin.halfLifeDays": "search.half_life_days",
    "memory.builtin.mmr": "search.diversify", "memory.builtin.mmrLambda": "search.mmr_lambda",
    "memoryContext.enabled": "context.enabled", "memoryContext.maxResults": "context.max_results",
    "dreaming.enabled": "dream.enabled",
}
_CLAWLESS = {
    "CONVERSATION_HISTORY_ENABLED": "chat.enabled", "CONVERSATION_HISTORY_MAX_ENTRIES": "chat.max_entries",
    "CONVERSATION_HISTORY_MAX_CHARS_PER_ENTRY": "chat.max_chars_per_entry",
    "CONVERSATION_HISTORY_MAX_TOTAL_CHARS": "chat.max_total_chars",
    "CONVERSATION_HISTORY_RECAP_TOP_K": "chat.recap_top_k", "CONVERSATION_SEMANTIC_RECALL_ENABLED": "chat.recall",
    "CONVERSATION_SEMANTIC_TIMEOUT_MS": "chat.timeout_seconds", "MEMORY_MAX_CHARS": "context.max_chars",
}
_DEVCLAW = {
    "memory.enabled": "profile.enabled", "memory.max_results": "context.max_results",
    "memory.cache_ttl": "context.cache_seconds", "token_budget.memory": "context.turn_tokens",
}
# fmt: on
_MEMORIES = ("MEMORY.md", "memory/MEMORY.md")
_ARCHIVE, _EXPERIENCES = "memory/MEMORY-archive.md", "tmp/experience-store.json"
_TEMPLATE = re.compile(
    rb"# MEMORY\.md|This file stores curated memories|\*\*(?:Format|Daily logs):\*\*|---\s*$"
)
_CHATS = "conversation-semantic-memory.db"
_INSTRUCTIONS = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT*.md", "ROADMAP.md")
_STATE = ("memory/crons.json", "memory/heartbeat-state.json", "memory/.dreams/events.jsonl")


def detect_cursorclaw(source: Source) -> bool:
    """Whether the folder is a profile of CursorClaw."""
    is_filled = b'"sourceChannel"' in (source.read("MEMORY.md") or b"")
    return bool(source.names(_EXPERIENCES)) or (is_filled and not source.names(layout.SETTINGS))


def read_cursorclaw(source: Source, _: Clock) -> Iterator[Item]:
    """The records with their ids, dates and channels; then text, experiences and settings."""
    config: dict[str, object] = {}
    for name in source.names("openclaw.json", "cursorclaw.json", "config.json"):
        found = source.json(name).get("continuity")
        config |= found if isinstance(found, dict) else {}
    archive = str(config.get("memoryArchivePath") or _ARCHIVE)
    summaries = str(config.get("longMemoryPath") or layout.LONG_MEMORY)
    files = source.expect(source.names("MEMORY.md", archive, "memory/????-??-??.md"))
    seen: set[str] = set()
    for name in sorted(files, key=lambda name: (name != "MEMORY.md", name != archive, name)):
        place: Place = "memory" if name == "MEMORY.md" else "archive" if name == archive else "log"
        yield from _records(source, name, place, seen)
    for path, name in ((layout.LONG_MEMORY, summaries), (layout.USER, "USER.md")):
        if data := source.read(name):
            yield items.text_file(path, data)
    yield from _experiences(source.json(_EXPERIENCES).get("experiences"))
    for name in source.names(*_INSTRUCTIONS):
        yield Skip("files", f"instructions for the agent, not memory: {name}")
    every = config.get("memoryCompactionIntervalMs")
    if isinstance(every, int):
        config["memoryCompactionIntervalMs"] = every / 3_600_000
        if config.get("memoryCompactionScheduleCron"):  # which wins there; here the interval would
            del config["memoryCompactionIntervalMs"]
    if "injectExperienceContext" in config:
        config["injectExperienceContext"] = 3 if config["injectExperienceContext"] else 0
    yield from items.settings(config, _CURSORCLAW, "continuity")


def _records(source: Source, name: str, place: Place, seen: set[str]) -> Iterator[Item]:
    """The records of a file that are new, and its prose; not the header that the program wrote."""
    data = _without_template(source.read(name) or b"")
    path = name if place == "log" else layout.ROOT_MEMORY
    day = file_date(name)
    otherwise = (
        datetime(day.year, day.month, day.day, 12, tzinfo=UTC) if day else source.modified(name)
    )
    for item in items.parts_of(path, data, place, "cursorclaw", otherwise, name):
        if not isinstance(item, Line):
            yield item
        elif item.record.id not in seen:
            seen.add(item.record.id)
            yield item


def _without_template(data: bytes) -> bytes:
    """The file with empty lines for those of the program's own header; what the user put there stays."""
    if not data.startswith(b"# MEMORY.md"):
        return data
    lines = data.split(b"\n")
    ends = (n for n, line in enumerate(lines, 1) if line.rstrip() == b"---")
    end = next(ends, 1)
    lines[:end] = [b"" if _TEMPLATE.match(line) else line for line in lines[:end]]
    return b"\n".join(lines)


def _experiences(stored: object) -> Iterator[Item]:
    for one in stored if isinstance(stored, list) else ():
        about = {"category": one.get("category"), "source": one.get("recordId")}
        metadata = {key: value for key, value in about.items() if isinstance(value, str)}
        kept = {**one, "category": "experience", "metadata": metadata}
        record = items.record_from(kept, "cursorclaw")
        yield Line(record, "experiences") if record else Skip("experiences", "without a text")


def detect_clawcode(source: Source) -> bool:
    """Whether the folder is a workspace of ClawCode."""
    return bool(source.names("agent-config.json", "memory/.memory.sqlite"))


def read_clawcode(source: Source, _: Clock) -> Iterator[Item]:
    """The Markdown under the same names; recalls and dreams, if this memory has none yet."""
    yield from _workspace(source, "")
    config = source.json("agent-config.json")
    memory = config.get("memory")
    if isinstance(memory, dict) and isinstance(paths := memory.get("extraPaths"), list):
        named = (os.path.expanduser(str(path)) for path in paths)
        memory["extraPaths"] = [os.path.normpath(os.path.join(source.path, path)) for path in named]
    yield from items.settings(config, _CLAWCODE, "agent-config.json")


def detect_openclaw(source: Source) -> bool:
    """Whether the folder is that of OpenClaw, or its workspace."""
    return bool(source.names("openclaw.json", "memory/.dreams/short-term-recall.json"))


def read_openclaw(source: Source, _: Clock) -> Iterator[Item]:
    """The same of each workspace below the folder of OpenClaw; and the chats of its agents."""
    found = {name.rpartition("MEMORY.md")[0] for name in source.names("workspace*/MEMORY.md")}
    for start in sorted(found) or [""]:
        yield from _workspace(source, start)
    known = [source.json(name) for name in source.names("*sessions/sessions.json")]
    keys = [(key, value) for one in known for key, value in one.items() if isinstance(value, dict)]
    groups = {
        str(value.get("sessionId")) for key, value in keys if re.search(":(group|channel):", key)
    }
    chats = source.names("agents/*/sessions/*.jsonl", "sessions/*.jsonl")
    yield from sessions(source, chats, "openclaw", groups)


def _workspace(source: Source, start: str) -> Iterator[Item]:
    patterns = (*_MEMORIES, "USER.md", "DREAMS.md", "memory/*.md", "memory/.dreams/*.json")
    for name in source.expect(source.names(*(start + pattern for pattern in patterns))):
        data, path = source.read(name) or b"", name.removeprefix(start)
        if path in _MEMORIES:
            text = data.decode(errors="replace")
            yield from items.blocks(layout.ROOT_MEMORY, text, skip=("# Memory", "# MEMORY.md"))
        else:
            yield items.File(path, data) if path.endswith(".json") else items.text_file(path, data)
    for name in source.names(*(start + pattern for pattern in _STATE)):
        yield Skip("files", f"state of the program, not memory: {name}")


def detect_clawless(source: Source) -> bool:
    """Whether the folder is the home of Clawless."""
    return bool(source.names(layout.CONVERSATIONS, _CHATS)) and not source.names(layout.SETTINGS)


def read_clawless(source: Source, _: Clock) -> Iterator[Item]:
    """Notes, then turns with chat, speaker and date, those in both stores once; then settings."""
    text = (source.read("MEMORY.md") or b"").decode(errors="replace")
    title, _mark, rest = text.partition("\n## ")
    is_template = title.lstrip().startswith("# Clawless Memory") and rest
    yield from items.blocks(layout.ROOT_MEMORY, f"## {rest}" if is_template else text)
    seen: set[tuple[datetime, str, str]] = set()
    for name in source.expect(source.names(layout.CONVERSATIONS)):
        for number, line in enumerate(source.lines(name), 1):
            if not line.strip():
                continue
            turn = parse_turn(line)
            where = f"{name} line {number}"
            yield turn or Skip("turns", "line that is not a turn", where=where)
            if turn is not None:
                seen.add((turn.created, turn.chat, turn.platform))
    for row in read_table(source.on_disk(_CHATS), "semantic_memory_entries"):
        turn = Turn(
            created=moment(row.get("timestamp")) or source.modified(_CHATS),
            chat=items.one_name(str(row.get("chat_id") or ""), "main"),
            user=str(row.get("user_message") or ""),
            assistant=str(row.get("bot_response") or ""),
            platform=items.one_name(str(row.get("platform") or ""), "clawless"),
        )
        if (turn.created, turn.chat, turn.platform) not in seen:
            yield turn
    yield from items.settings(dict(_assignments(source)), _CLAWLESS, "Clawless")


def _assignments(source: Source) -> Iterator[tuple[str, object]]:
    """The keys of config.json and of an environment file, spelled as in the environment; not its tokens."""
    lines = [f"{key}={value}" for key, value in source.json("config.json").items()]
    for name in source.names(".env", "env", "*.env"):
        lines += (source.read(name) or b"").decode(errors="replace").split("\n")
    for line in lines:
        key, equals, value = line.partition("#")[0].strip().removeprefix("export ").partition("=")
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key.strip()).upper()
        if equals and name.startswith(("CONVERSATION_", "MEMORY_")):
            text = value.strip().strip("\"'")
            yield name, int(text) / 1000 if name.endswith("_MS") and text.isdigit() else text


_MAX_YAML = 1_000_000
_NOTES = ("fact", "preference", "event", "summary")
_LINE = re.compile(
    r"- (?P<stale>\[stale\] )?\[(?P<when>\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?)\] \[(?P<category>[\w-]+)\] "
    r"(?:\[expires:(?P<expires>\d{4}-\d\d-\d\d)\] )?(?:\[meta:(?P<meta>[\w+/=-]+)\] )?(?P<text>.*)"
)
_META = {"i": "importance", "p": "pinned", "o": "origin", "mt": "memory_type", "s": "replaces"}


def detect_devclaw(source: Source) -> bool:
    """Whether the folder holds the data of DevClaw."""
    memory = source.read("MEMORY.md") or source.read("memory/MEMORY.md") or b""
    known = (
        "memory.db",
        "*/memory.db",
        "devclaw.y*ml",
        *(f"{name}/????-??-??-*.md" for name in _NOTES),
    )
    return memory.startswith(b"# DevClaw Memory") or bool(source.names(*known))


def read_devclaw(source: Source, clock: Clock) -> Iterator[Item]:
    """Notes, then what the database has besides, then the lines of MEMORY.md, daily logs and settings."""
    seen: set[tuple[str, str]] = set()
    notes = (f"{start}{name}/*.md" for start in ("", "*/") for name in _NOTES)
    for name in source.expect(source.names(*notes)):
        path = "memory/" + "/".join(name.split("/")[-2:])
        note = items.note_of(path, source.read(name) or b"", "devclaw", source.modified(name))
        if note is not None:
            seen.add((note.category, note.text))
            yield Line(note, "note")
    for name in source.names("*.db"):
        for row in read_table(source.on_disk(name), "memories"):
            category, text = (
                str(row.get("category") or "fact"),
                str(row.get("content") or "").strip(),
            )
            if (category, text) in seen:
                continue
            created, words = moment(row.get("created_at"), clock), _json(row.get("keywords"))
            more = {"keywords": words, "metadata": _json(row.get("metadata"))}
            yield Line(items.make_record(text, "devclaw", created, category, **more))
    for name in source.names("MEMORY*.md", "*/MEMORY*.md"):
        yield from _bracket_lines(source, name, clock)
    for name in source.names("*????-??-??.md", "*pre-compact-*.md"):
        yield items.text_file("memory/" + name.rpartition("/")[2], source.read(name) or b"")
    for name in source.names("*.yaml", "*.yml"):
        yield from _yaml(name, source.read(name) or b"")


def _bracket_lines(source: Source, name: str, clock: Clock) -> Iterator[Item]:
    prose = []
    for line in (
        (source.read(name) or b"").decode(errors="replace").replace("\r\n", "\n").split("\n")
    ):
        found = _LINE.fullmatch(line)
        if found is None:
            prose.append(line)
            continue
        text = found["text"].replace("[expires\\:", "[expires:").replace("[meta\\:", "[meta:")
        more = {"expires": found["expires"], "metadata": _meta(found["meta"] or "")}
        created = moment(found["when"], clock)
        record = items.make_record(text, "devclaw", created, found["category"], **more)
        yield Line(record, "archive" if found["stale"] or "archive" in name.lower() else "memory")
    skip = ("# DevClaw Memory", "Long-term facts and preferences.")
    yield from items.blocks(layout.ROOT_MEMORY, "\n".join(prose), skip=skip)


def _meta(text: str) -> dict[str, object]:
    try:
        content = json.loads(
            base64.b64decode(f"{text}===", altchars=b"-_" if "_" in text else None)
        )
    except (ValueError, RecursionError):
        return {}
    known = content.items() if isinstance(content, dict) else ()
    return {_META[key]: value for key, value in known if key in _META}


def _json(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str | bytes) else None
    except (ValueError, RecursionError):
        return None


def _yaml(name: str, data: bytes) -> Iterator[Item]:
    try:
        values = parse_header(data[:_MAX_YAML] or b"{}")
    except MemolithError:
        yield Skip("settings", f"{name} cannot be read")
        return
    memory = values.get("memory")
    if isinstance(memory, dict) and isinstance(ttl := memory.get("cache_ttl"), str):
        memory["cache_ttl"] = ttl.removesuffix("s")
    ours = {key: value for key, value in values.items() if key in ("memory", "token_budget")}
    yield from items.settings(ours, _DEVCLAW, name)
