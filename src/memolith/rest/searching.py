"""The route for searching."""

from __future__ import annotations

from fastapi import APIRouter

from memolith.mcp_server.json_shapes import search_json
from memolith.rest.answers import V1, Answer
from memolith.rest.asking import TheMemory, secrets
from memolith.rest.requests import SearchRequest
from memolith.rest.schemas import SearchAnswer
from memolith.results import SearchResult

routes = APIRouter(prefix=V1, tags=["search"])


@routes.post("/search", response_model=SearchAnswer)
def search(body: SearchRequest, memory: TheMemory) -> Answer:
    """Find what answers a question, by words and by meaning, best first."""
    return found(
        memory.search(
            body.text,
            body.limit,
            category=body.category,
            session=body.session,
            chat=body.chat,
            keyword=body.keyword,
            metadata=body.metadata,
            since=body.since,
            until=body.until,
            path=body.path,
            include_secret=secrets(memory, body.include_secret),
            as_of=body.as_of,
            explain=body.explain,
        )
    )


def found(result: SearchResult) -> Answer:
    """The answer to a search."""
    return Answer(search_json(result))
