"""Routes that look after a memory: trim, backups, index, doctor, settings."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request

from memolith.config.edit import set_setting as change_setting
from memolith.config.load import known_setting
from memolith.config.sections import SETTINGS, value_of
from memolith.config.setting import ARGUMENT
from memolith.files.transaction import rewrite_file
from memolith.jobs.trim import trim_report
from memolith.mcp_server.json_shapes import Json
from memolith.memory import Memory
from memolith.rest.answers import V1, Answer, RequestError
from memolith.rest.asking import TheMemory
from memolith.rest.requests import SettingRequest
from memolith.rest.schemas import (
    BackupsAnswer,
    DoctorAnswer,
    IndexAnswer,
    InitAnswer,
    ReconfigurationAnswer,
    RestoreAnswer,
    SettingAnswer,
    SettingsAnswer,
    SyncAnswer,
    TrimAnswer,
)
from memolith.text.commands import leading_to

routes = APIRouter(prefix=V1, tags=["upkeep"])


@routes.post("/init", response_model=InitAnswer)
def init(memory: TheMemory) -> Answer:
    """Make the first files of the memory from templates."""
    return Answer({"made": list(memory.init())})


@routes.post("/trim", response_model=TrimAnswer)
def trim(memory: TheMemory) -> Answer:
    """Bring MEMORY.md under its limits; the oldest records go to the archive."""
    return Answer(trim_report(memory.jobs.trim(), memory.config.trim.archive_path).to_dict())


@routes.get("/backups", response_model=BackupsAnswer)
def backups(memory: TheMemory) -> Answer:
    """The backups that can be restored, oldest first."""
    return Answer({"backups": [backup.to_dict() for backup in memory.files.backups()]})


@routes.post("/backups/{name}/restore", response_model=RestoreAnswer)
def restore(name: str, memory: TheMemory) -> Answer:
    """Put the files of a backup back; what stands there now is saved first."""
    return Answer(memory.files.restore(name).to_dict())


@routes.post("/sync", response_model=SyncAnswer)
def sync(memory: TheMemory) -> Answer:
    """Bring the index in line with the files; every search does this too."""
    return Answer(memory.index.sync().to_dict())


@routes.post("/reindex", response_model=SyncAnswer)
def reindex(memory: TheMemory) -> Answer:
    """Throw the index away and make it again from the files."""
    return Answer(memory.index.rebuild().to_dict())


@routes.get("/index", response_model=IndexAnswer)
def index_status(memory: TheMemory) -> Answer:
    """How the index stands to the files; looking at it changes neither."""
    status = memory.index.status()
    return Answer({**status.to_dict(), "current": status.current})


@routes.get("/doctor", response_model=DoctorAnswer)
def doctor(memory: TheMemory) -> Answer:
    """Look for anything wrong, by file and line; nothing is changed."""
    return _doctored(memory, fix=False)


@routes.post("/doctor/fix", response_model=DoctorAnswer)
def doctor_fix(memory: TheMemory) -> Answer:
    """Mend what can be mended without touching anybody's words, then look again."""
    return _doctored(memory, fix=True)


@routes.get("/config", response_model=SettingsAnswer)
def settings(memory: TheMemory) -> Answer:
    """Every setting, its value, and where that comes from."""
    return Answer({"settings": [_setting(memory, name) for name in SETTINGS]})


@routes.get("/config/{name}", response_model=SettingAnswer)
def setting(name: str, memory: TheMemory) -> Answer:
    """One setting."""
    known_setting(name, "request")
    return Answer(_setting(memory, name))


@routes.put("/config/{name}", response_model=ReconfigurationAnswer)
def set_setting(name: str, body: SettingRequest, memory: TheMemory, request: Request) -> Answer:
    """Write a setting into the profile's memolith.toml; those that are the user's alone are refused."""
    known = known_setting(name, "request")
    value = body.value
    text = ", ".join(value) if isinstance(value, list) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    if known.trusted_only or known.needs_trust(known.check(text, ARGUMENT)):
        raise RequestError(
            403,
            "config",
            f"{name} is the user's alone to set.",
            hint=f"The user may: memolith config set {name} VALUE",
        )
    change = change_setting(memory.profile, name, text)
    rewrite_file(change.path, change.apply, memory.config.store)
    return _reloaded(memory, request)


@routes.post("/reload", response_model=ReconfigurationAnswer)
def reload(memory: TheMemory, request: Request) -> Answer:
    """Read the settings anew; broken ones leave all as it was, and are said."""
    return _reloaded(memory, request)


def _doctored(memory: Memory, *, fix: bool) -> Answer:
    report = memory.doctor(fix=fix)
    checks = [
        replace(check, hint=check.hint and leading_to(memory.root, check.hint))
        for check in report.checks
    ]
    report = replace(report, checks=tuple(checks))
    return Answer({**report.to_dict(), "healthy": report.healthy})


def _reloaded(memory: Memory, request: Request) -> Answer:
    report = memory.reconfigure()
    request.app.state.on_reload(report)
    return Answer(report.to_dict())


def _setting(memory: Memory, name: str) -> Json:
    known = SETTINGS[name]
    return {
        "name": name,
        "value": value_of(memory.config, name),
        "origin": memory.origins[name],
        "default": known.default,
        "doc": known.doc,
        "restart": known.restart,
    }
