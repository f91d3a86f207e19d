"""Gateway RPC: `memory.listLogs`, `memory.getFile` and `memory.writeFile` in their envelope."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from typing import TypeVar

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memolith.errors import MemolithError
from memolith.mcp_server.json_shapes import Json
from memolith.memory import Memory
from memolith.rest.answers import (
    ERRORS,
    RPC_PATH,
    Answer,
    RequestError,
    detail_of,
    rpc_failure,
    status_of,
)
from memolith.rest.asking import JsonBody, TheMemory, secrets
from memolith.rest.mistakes import in_words
from memolith.rest.original_schemas import RpcAnswer, RpcFailure

M = TypeVar("M", bound=BaseModel)
log = logging.getLogger("memolith.rpc")
routes = APIRouter(tags=["rpc"])


class Params(BaseModel):
    """What every method takes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    profileId: str | None = None  # noqa: N815 - the name on the wire


class GetParams(Params):
    """Of `memory.getFile`."""

    path: str
    includeSecret: bool = False  # noqa: N815 - the name on the wire


class WriteParams(Params):
    """Of `memory.writeFile`; `version` is that of the file that was read, "" if there was none."""

    path: str
    content: str
    version: str = ""


class RpcRequest(BaseModel):
    """The envelope of a call."""

    model_config = ConfigDict(strict=True, title="RpcRequest")

    id: str | int | None = None
    version: str | int
    method: str
    params: dict[str, object] = Field(default_factory=dict)


@routes.post(
    RPC_PATH,
    response_model=RpcAnswer,
    responses={status: {"model": RpcFailure} for status in ERRORS},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": RpcRequest.model_json_schema()}},
        }
    },
)
def rpc(body: JsonBody, memory: TheMemory) -> Answer:
    """Call a method: `memory.listLogs`, `memory.getFile` or `memory.writeFile`."""
    audit = str(uuid.uuid4())
    given = _id_of(body)
    try:
        request = _read(RpcRequest, body)
        result = _call(memory, request)
    except (MemolithError, RequestError) as error:
        log.info("msg=rpc audit=%s ok=false kind=%s", audit, error.kind)
        failure = rpc_failure(detail_of(error, memory.root), audit)
        return Answer({**given, **failure}, status_of(error))
    log.info("msg=rpc audit=%s ok=true method=%s", audit, request.method)
    return Answer({**given, "auditId": audit, "ok": True, "result": result})


def _id_of(body: object) -> Json:
    given = body.get("id") if isinstance(body, dict) else None
    return {"id": given} if isinstance(given, str | int) and not isinstance(given, bool) else {}


def _call(memory: Memory, request: RpcRequest) -> Json:
    method = _METHODS.get(request.method)
    if method is None:
        known = ", ".join(_METHODS)
        raise RequestError(
            404, "method-not-found", "There is no such method.", hint=f"Use {known}."
        )
    return method(memory, request.params)


def _list_logs(memory: Memory, params: object) -> Json:
    _check_profile(memory, _read(Params, params))
    files = [{"name": path.rpartition("/")[2], "path": path} for path in memory.files.list()]
    return {"files": files}


def _get_file(memory: Memory, params: object) -> Json:
    wanted = _read(GetParams, params)
    _check_profile(memory, wanted)
    include_secret = secrets(memory, wanted.includeSecret)
    found = memory.files.read(wanted.path, include_secret=include_secret)
    return found.to_dict()


def _write_file(memory: Memory, params: object) -> Json:
    wanted = _read(WriteParams, params)
    _check_profile(memory, wanted)
    report = memory.files.write(wanted.path, wanted.content, wanted.version)
    result: Json = {"ok": True, "version": report.version, "backup": report.backup}
    # The original has no such key: it is there only when something is wrong.
    return {**result, "warnings": list(report.warnings)} if report.warnings else result


_METHODS: Mapping[str, Callable[[Memory, object], Json]] = {
    "memory.listLogs": _list_logs,
    "memory.getFile": _get_file,
    "memory.writeFile": _write_file,
}


def _check_profile(memory: Memory, params: Params) -> None:
    """A server has one profile; a call that means another must not touch this one."""
    if params.profileId not in (None, memory.profile.name):
        raise RequestError(
            404, "profile", "This server serves another profile.", hint="Leave profileId out."
        )


def _read(kind: type[M], content: object) -> M:
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        taken = f"It takes {', '.join(kind.model_fields)}."
        raise RequestError(400, "request", in_words(error.errors()), hint=taken) from None
