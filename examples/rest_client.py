"""A program that uses a memory over HTTP: in any language, this is all there is to it.

memolith serve &
MEMOLITH_TOKEN=$(memolith token) python rest_client.py
"""

import os

import httpx2


def main() -> None:
    """Remember, search, correct, and ask what is worth knowing."""
    with httpx2.Client(
        base_url=os.environ.get("MEMOLITH_URL", "http://127.0.0.1:8788") + "/api/v1",
        headers={"Authorization": f"Bearer {os.environ['MEMOLITH_TOKEN']}"},
        timeout=30,
    ) as client:

        def call(method: str, path: str, **body: object) -> dict:
            response = client.request(method, path, json=body)
            if response.is_error:
                problem = response.json()["error"]
                raise SystemExit(f"{problem['message']} {problem.get('hint') or ''}")
            return response.json()

        record = call("POST", "/records", text="Ana owns the release key", category="fact")
        print("saved", record["citation"])
        for hit in call("POST", "/search", text="who can release?", limit=3)["hits"]:
            print("found", hit["citation"], hit["text"])
        call("POST", f"/records/{record['id']}/supersede", text="Ben owns the release key")
        print(call("POST", "/context", message="Who owns the release key now?")["text"])


if __name__ == "__main__":
    main()
