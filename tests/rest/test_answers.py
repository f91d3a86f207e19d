"""What the description says of an answer is what is sent: the same keys at every level, on every route."""

from __future__ import annotations

from typing import Any

from memolith import Memory
from tests.rest.conftest import calling
from tests.rest.test_secrets import CALLS, filled, ids  # noqa: F401 - a fixture

# They answer in another form: the text of metrics, and the envelopes of the seeds, whose keys are optional.
OTHERS = {"GET /metrics", "POST /rpc", "POST /api/memory/semantic-recall"}

# What others ask of a secret record is not found; these are of one that is shown.
MORE: dict[str, dict[str, Any]] = {
    "GET /api/v1/records/{record_id}": {"url": "/api/v1/records/<shown>"},
    "POST /api/v1/used": {"json": {"citation_or_id": "<shown>"}},
    "PUT /api/v1/file": {"json": {"path": "memory/2020-01-01.md", "content": "Tea at four.\n"}},
}


def check(answer: Any, schema: dict[str, Any], schemas: dict[str, Any], at: str) -> None:
    """Each object has exactly the keys of its schema."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        [schema] = [one for one in schema["anyOf"] if fits(answer, one)][:1]
        check(answer, schema, schemas, at)
    elif isinstance(answer, list):
        for item in answer:
            check(item, schema["items"], schemas, f"{at}[]")
    elif isinstance(answer, dict) and "properties" in schema:
        assert set(answer) == set(schema["properties"]), at
        for name, value in answer.items():
            check(value, schema["properties"][name], schemas, f"{at}.{name}")
    elif isinstance(answer, dict) and isinstance(schema.get("additionalProperties"), dict):
        for name, value in answer.items():
            check(value, schema["additionalProperties"], schemas, f"{at}.{name}")


def fits(answer: Any, schema: dict[str, Any]) -> bool:
    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    named = schema.get("type", "object")
    return named == kinds.get(type(answer), named if named in ("integer", "number") else "")


def test_every_answer_has_the_keys_of_its_schema(
    root: str,
    ids: dict[str, str],  # noqa: F811 - the fixture
) -> None:
    seen = set()
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        memory.remember("Ana lives in Berlin")
        names = {**ids, "shown": memory.remember("Ana lives in Paris").id}
        description = client.get("/api/v1/openapi.json").json()
        for operation, several in CALLS.items():
            method, path = operation.split(" ")
            if operation in OTHERS:
                continue
            for given in (*several, *([MORE[operation]] if operation in MORE else [])):
                answer = client.request(method, **filled({"url": path, **given}, names))
                if answer.is_success:
                    seen.add(operation)
                    said = description["paths"][path][method.lower()]["responses"]
                    schema = said[str(answer.status_code)]["content"]["application/json"]["schema"]
                    assert "$ref" in schema, operation
                    check(answer.json(), schema, description["components"]["schemas"], operation)
    # No proposal waits, and nothing was asked for often enough to be explained.
    proposal = "POST /api/v1/jobs/{job_id}"
    missing = CALLS.keys() - OTHERS - seen
    assert missing <= {f"{proposal}/apply", f"{proposal}/decline", "GET /api/v1/dream/explain"}
