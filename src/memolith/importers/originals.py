"""The four programs whose union Memolith is, and OpenClaw, their ancestor: CursorClaw, ClawCode, Clawless, DevClaw."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from memolith.files import layout
from memolith.files.chat_log import parse_turn
from memolith.files.front_matter import parse_header
from memolith.files.notes import file_date
from memolith.files.record_format import RecordFormatError
from memolith.importers import items
from memolith.importers.foreign import read_table
from memolith.importers.items import File, Item, Place, Skip, moment
from memolith.importers.opening import Source
from memolith.importers.transcripts import sessions
from memolith.results import Turn

_MEMORIES = ("MEMORY.md", "memory/MEMORY.md")
_CHATS = "conversation-semantic-memory.db"
# What CursorClaw itself has written at the top of MEMORY.md.
_TEMPLATE = re.compile(
    rb"# MEMORY\.md.*|This file stores curated memories.*|\*\*(Format|Daily logs):\*\*.*|---\s*"
)


def read_cursorclaw(source: Source) -> Iterator[Item]:
    """The records with their ids, dates and channels; then text, experiences and settings."""
    config: dict[str, object] = {}
    for name in source.names("openclaw.json", "cursorclaw.json", "config.json"):
        found = source.json(name).get("continuity")
        config |= found if isinstance(found, dict) else {}
    archive = str(config.get("memoryArchivePath") or "memory/MEMORY-archive.md")
    logs = [name for name in source.names("memory/????-??-??.md") if name != archive]
    files = [*source.names("MEMORY.md"), *source.names(archive), *logs]
    for name in source.expect(files):
        place: Place = "memory" if name == "MEMORY.md" else "archive" if name == archive else "log"
        yield from _records(source, name, place)
    summaries = str(config.get("longMemoryPath") or layout.LONG_MEMORY)
    for path, name in ((layout.LONG_MEMORY, summaries), (layout.USER, "USER.md")):
        if data := source.read(name):
            yield File(path, data)
    stored = source.json("tmp/experience-store.json").get("experiences")
    for one in stored if isinstance(stored, list) else ():
        names = {"category": "category", "source": "recordId"}
        metadata = {key: one[name] for key, name in names.items() if one.get(name)}
        kept = {**one, "category": "experience", "metadata": metadata}
        yield items.line_of(kept, "cursorclaw", place="experiences")
    if config.get("memoryCompactionScheduleCron"):  # it wins there; here the interval would
        config.pop("memoryCompactionIntervalMs", None)
    if "injectExperienceContext" in config:
        config["injectExperienceContext"] = 3 if config["injectExperienceContext"] else 0
    yield from items.settings("cursorclaw", config)


def _records(source: Source, name: str, place: Place) -> Iterator[Item]:
    """The records of a file, and its prose; not the header that the program wrote."""
    day = file_date(name)
    date = datetime(day.year, day.month, day.day, 12, tzinfo=UTC) if day else source.modified(name)
    lines, prose = items.records_of(name, source.read(name) or b"", place, "cursorclaw", date)
    yield from lines
    own = b"".join(one for one in prose.splitlines(True) if not _TEMPLATE.fullmatch(one.rstrip()))
    if own.strip():
        yield File(name if place == "log" else layout.ROOT_MEMORY, own)


def read_clawcode(source: Source) -> Iterator[Item]:
    """The Markdown under the same names; recalls and dreams, if this memory has none yet."""
    yield from _workspace(source, "")
    config = source.json("agent-config.json")
    memory = config.get("memory")
    if isinstance(memory, dict) and isinstance(paths := memory.get("extraPaths"), list):
        named = (os.path.expanduser(str(path)) for path in paths)
        memory["extraPaths"] = [os.path.normpath(os.path.join(source.path, path)) for path in named]
    yield from items.settings("clawcode", config)


def read_openclaw(source: Source) -> Iterator[Item]:
    """The same of each workspace below the folder of OpenClaw; and the chats of its agents."""
    found = {name.rpartition("MEMORY.md")[0] for name in source.names("workspace*/MEMORY.md")}
    for start in sorted(found) or [""]:
        yield from _workspace(source, start)
    groups = set()
    for name in source.names("*sessions/sessions.json"):
        for key, value in source.json(name).items():
            if re.search(":(group|channel):", key) and isinstance(value, dict):
                groups.add(str(value.get("sessionId")))
    chats = source.names("agents/*/sessions/*.jsonl", "sessions/*.jsonl")
    yield from sessions(source, chats, "openclaw", groups)


def _workspace(source: Source, start: str) -> Iterator[Item]:
    patterns = (*_MEMORIES, "USER.md", "DREAMS.md", "memory/*.md", "memory/.dreams/*.json")
    for name in source.expect(source.names(*(start + pattern for pattern in patterns))):
        path = name.removeprefix(start)
        place = layout.ROOT_MEMORY if path in _MEMORIES else path
        yield File(place, source.read(name) or b"")


def read_clawless(source: Source) -> Iterator[Item]:
    """Notes, then turns with chat, speaker and date, those in both stores once; then settings."""
    if data := source.read("MEMORY.md"):
        yield File(layout.ROOT_MEMORY, data)
    for name in source.expect(source.names(layout.CONVERSATIONS)):
        for number, line in enumerate(source.lines(name), 1):
            if line.strip():
                where = f"{name} line {number}"
                yield parse_turn(line) or Skip("turns", "line that is not a turn", where)
    for row in read_table(source.on_disk(_CHATS), "semantic_memory_entries"):
        yield Turn(
            created=moment(row.get("timestamp")) or source.modified(_CHATS),
            chat=items.one_name(row.get("chat_id"), "main"),
            user=str(row.get("user_message") or ""),
            assistant=str(row.get("bot_response") or ""),
            platform=items.one_name(row.get("platform"), "clawless"),
        )
    yield from items.settings("clawless", dict(_assignments(source)))


def _assignments(source: Source) -> Iterator[tuple[str, object]]:
    """The keys of config.json and of an environment file, spelled as in the environment; not its tokens."""
    lines = [f"{key}={value}" for key, value in source.json("config.json").items()]
    for name in source.names(".env", "env", "*.env"):
        lines += (source.read(name) or b"").decode(errors="replace").split("\n")
    for line in lines:
        key, equals, value = line.partition("#")[0].strip().removeprefix("export ").partition("=")
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key.strip()).upper()
        if equals and name.startswith(("CONVERSATION_", "MEMORY_")):
            yield name, value.strip().strip("\"'")


_LINE = re.compile(
    r"- (?P<stale>\[stale\] )?\[(?P<when>\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?)\] \[(?P<category>[\w-]+)\] "
    r"(?:\[expires:(?P<expires>\d{4}-\d\d-\d\d)\] )?(?:\[meta:(?P<meta>[\w+/=-]+)\] )?(?P<text>.*)"
)
_DEVCLAW_TEMPLATE = ("# DevClaw Memory", "Long-term facts and preferences.")
_META = {"i": "importance", "p": "pinned", "o": "origin", "mt": "memory_type", "s": "replaces"}


def read_devclaw(source: Source) -> Iterator[Item]:
    """Notes, then what the database has besides, then the lines of MEMORY.md, daily logs and settings."""
    kinds = ("fact", "preference", "event", "summary")
    notes = (f"{start}{kind}/*.md" for start in ("", "*/") for kind in kinds)
    for name in source.expect(source.names(*notes)):
        path = "memory/" + "/".join(name.split("/")[-2:])
        yield items.note_of(path, source.read(name) or b"", "devclaw", source.modified(name))
    for name in source.names("*.db"):
        for row in read_table(source.on_disk(name), "memories"):
            kept = {key: _json(row.get(key)) for key in ("keywords", "metadata")}
            kept |= {"text": str(row.get("content") or "").strip(), "category": row.get("category")}
            yield items.line_of(kept, "devclaw", moment(row.get("created_at"), source.clock))
    for name in source.names("MEMORY*.md", "*/MEMORY*.md"):
        yield from _bracket_lines(source, name)
    for name in source.names("*????-??-??.md", "*pre-compact-*.md"):
        yield File("memory/" + name.rpartition("/")[2], source.read(name) or b"")
    for name in source.names("*.yaml", "*.yml"):
        try:
            values = parse_header(source.read(name) or b"{}")
        except RecordFormatError:
            yield Skip("settings", f"{name} cannot be read")
        else:
            yield from items.settings("devclaw", values)


def _bracket_lines(source: Source, name: str) -> Iterator[Item]:
    prose = []
    for line in re.split("\r?\n", (source.read(name) or b"").decode(errors="replace")):
        found = _LINE.fullmatch(line)
        if found is None:
            prose.append(line)
            continue
        text = found["text"].replace("[expires\\:", "[expires:").replace("[meta\\:", "[meta:")
        about = _json(f"{found['meta'] or ''}===", is_packed=True)
        known = about.items() if isinstance(about, dict) else ()
        metadata = {_META[key]: value for key, value in known if key in _META}
        kept = {"expires": found["expires"], "metadata": metadata, "category": found["category"]}
        place: Place = "archive" if found["stale"] or "archive" in name.lower() else "memory"
        created = moment(found["when"], source.clock)
        yield items.line_of({**kept, "text": text}, "devclaw", created, place)
    if any(line and line not in _DEVCLAW_TEMPLATE for line in prose):
        yield File(layout.ROOT_MEMORY, "\n".join(prose).encode())


def _json(value: object, *, is_packed: bool = False) -> object:
    try:
        if is_packed:
            value = base64.b64decode(str(value), altchars=b"-_")
        return json.loads(value) if isinstance(value, str | bytes) else None
    except (ValueError, RecursionError):
        return None
