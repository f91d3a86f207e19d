"""Routes for experiences: list them, ask them, and what is known in groups."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from memolith.mcp_server.json_shapes import record_json, relationships_json
from memolith.rest.answers import V1, Answer
from memolith.rest.asking import TheMemory
from memolith.rest.experience_schemas import (
    ExperienceRequest,
    ExperiencesAnswer,
    ExperiencesQuery,
    RelationshipsAnswer,
)
from memolith.rest.schemas import SearchAnswer
from memolith.rest.searching import found

routes = APIRouter(prefix=V1, tags=["experiences"])


@routes.get("/experiences", response_model=ExperiencesAnswer)
def experiences(memory: TheMemory, query: Annotated[ExperiencesQuery, Query()]) -> Answer:
    """The newest experiences, newest first, and how many there are."""
    kept = memory.jobs.experiences()
    newest = [record_json(record) for record in kept[::-1][: query.limit]]
    return Answer({"count": len(kept), "experiences": newest})


@routes.post("/experiences/query", response_model=SearchAnswer)
def query_experiences(body: ExperienceRequest, memory: TheMemory) -> Answer:
    """Past experiences that bear on a text, best first."""
    return found(memory.jobs.query_experiences(body.text, body.limit, session=body.session))


@routes.get("/relationships", response_model=RelationshipsAnswer)
def relationships(memory: TheMemory) -> Answer:
    """Experiences, preferences and decisions in groups: by category, by session and by name."""
    return Answer(relationships_json(memory.jobs.relationships()))
