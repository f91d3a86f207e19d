"""What requests and answers about experiences look like."""

from __future__ import annotations

from pydantic import BaseModel

from memolith.rest.requests import GivenLimit, Page, Parameters, Question, Request
from memolith.rest.schemas import RecordAnswer


class ExperiencesQuery(Parameters):
    """How many of the newest."""

    limit: Page = 20


class ExperienceRequest(Request):
    """What experiences should bear on; of one session, or of all."""

    text: Question
    limit: GivenLimit = 5
    session: str | None = None


class ExperiencesAnswer(BaseModel):
    """Some experiences, and how many there are in all."""

    count: int
    experiences: list[RecordAnswer]


class RelationshipsAnswer(BaseModel):
    """The same records in three kinds of groups."""

    by_category: dict[str, list[RecordAnswer]]
    by_session: dict[str, list[RecordAnswer]]
    by_entity: dict[str, list[RecordAnswer]]
    warnings: list[str]
