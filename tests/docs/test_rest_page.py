"""The table of routes in docs/rest.md is written from the OpenAPI description; see test_http_example for its curl lines.

To write it anew: python -m tests.docs.test_rest_page
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from memolith import Memory
from memolith.rest.app import build_api

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "rest.md"
BEGIN = "<!-- written by: python -m tests.docs.test_rest_page -->\n"
END = "<!-- end -->\n"


def page_with_routes(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{routes_as_markdown()}\n{END}{rest.partition(END)[2]}"


def routes_as_markdown() -> str:
    with Memory(tempfile.mkdtemp()) as memory:
        api = build_api(memory).openapi()
    rows = [
        f"| `{method.upper()} {path}` | {operation['description'].splitlines()[0]} |"
        f" {taken(operation, api['components']['schemas'])} |"
        for path, methods in api["paths"].items()
        for method, operation in methods.items()
    ]
    return "\n".join(["| route | | takes |", "|---|---|---|", *rows, ""])


def taken(operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    """The names of fields and parameters, those that must be given first and in bold."""
    needed = {
        each["name"]: each.get("required", False)
        for each in operation.get("parameters", [])
        if each["in"] == "query"
    }
    for body in operation.get("requestBody", {}).get("content", {}).values():
        schema = schemas.get(body["schema"].get("$ref", "").rpartition("/")[2], body["schema"])
        needed |= {
            name: name in schema.get("required", ()) for name in schema.get("properties", ())
        }
    names = [f"**`{name}`**" for name in needed if needed[name]]
    return ", ".join([*names, *(f"`{name}`" for name in needed if not needed[name])])


def test_the_page_shows_the_routes_as_they_are() -> None:
    page = PAGE.read_text("utf-8")
    assert page == page_with_routes(page), "run: python -m tests.docs.test_rest_page"


if __name__ == "__main__":
    PAGE.write_text(page_with_routes(PAGE.read_text("utf-8")), "utf-8")
