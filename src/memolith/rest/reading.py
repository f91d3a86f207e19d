"""Routes for files: lines of any of them, and the whole of those that may be edited."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from memolith.rest.answers import V1, Answer
from memolith.rest.asking import TheMemory, secrets
from memolith.rest.requests import FileQuery, FileRequest, PassageQuery
from memolith.rest.schemas import EditAnswer, FileTextAnswer, LogsAnswer, PassageAnswer

routes = APIRouter(prefix=V1, tags=["files"])


@routes.get("/passage", response_model=PassageAnswer)
def get(memory: TheMemory, query: Annotated[PassageQuery, Query()]) -> Answer:
    """Lines of a Markdown file; lines of secret records are left blank unless asked for."""
    include_secret = secrets(memory, query.include_secret)
    passage = memory.get(query.path, query.first_line, query.lines, include_secret=include_secret)
    return Answer(passage.to_dict())


@routes.get("/logs", response_model=LogsAnswer)
def logs(memory: TheMemory) -> Answer:
    """The daily logs there are, newest first."""
    return Answer({"logs": list(memory.files.list())})


@routes.get("/file", response_model=FileTextAnswer)
def read_file(memory: TheMemory, query: Annotated[FileQuery, Query()]) -> Answer:
    """MEMORY.md or a daily log as a whole, to be edited; a line stands for each secret record."""
    include_secret = secrets(memory, query.include_secret)
    return Answer(memory.files.read(query.path, include_secret=include_secret).to_dict())


@routes.put("/file", response_model=EditAnswer)
def write_file(body: FileRequest, memory: TheMemory) -> Answer:
    """Replace MEMORY.md or a daily log, which must still have the version that was read."""
    return Answer(memory.files.write(body.path, body.content, body.version).to_dict())
