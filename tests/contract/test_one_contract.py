"""The same call gives the same JSON on the command line, over REST and to an agent."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from memolith.cli.main import main
from memolith.jobs.server_files import server_token
from memolith.mcp_server.server import MemoryServer
from memolith.visibility import trust_label
from tests.contract.test_surfaces_agree import PLACES
from tests.contract.transcripts import Names
from tests.mcp_server.conftest import Talk
from tests.rest.conftest import calling

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]
QUESTION = "which cups do guests use?"
REVIEW = {"jobs.review": "ask", "trim.max_records": 5}


def _as_it_is(answer: Json) -> Json:
    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call on each surface; without a command or tool, it is not there.

    `told` is what an agent gets of the answer, `why` the reason if that is not all of it.
    """

    route: str
    command: str = ""
    body: Json | None = None
    tool: str = ""
    arguments: Json | None = None
    told: Callable[[Json], Json] = _as_it_is
    why: str = ""
    part: str = ""  # the key of the command's answer that is what the route answers
    proposal: bool = False  # a trim waits for a decision
    empty: bool = False  # there is no memory yet


def without_chat_words(answer: Json) -> Json:
    return {**answer, "sessions": [{**chat, "text": ""} for chat in answer["sessions"]]}


def with_trust(answer: Json) -> Json:
    records = [
        {**record, "trust": trust_label(record["provenance"]["channel"], ())}
        for record in answer["records"]
    ]
    return {**answer, "records": records}


def acknowledged(answer: Json) -> Json:
    return {"ok": True, **{key: answer[key] for key in ("id", "citation", "reused", "warnings")}}


def of_experiences(answer: Json) -> Json:
    """They were made of a decision on the kiln, and of facts."""
    told = in_names_of_the_seed("sessionId")(answer)
    for one in told["results"]:
        one["category"] = "decision" if "kiln" in one["text"] else "fact"
    return told


def in_names_of_the_seed(*names: str) -> Callable[[Json], Json]:
    """Each hit in the form of the original tool."""

    def told(answer: Json) -> Json:
        mine = {"recordId": "record_id", "sessionId": "session"}
        known = ("text", "category", "dated", "score", "citation", "trust", *names)
        results = [{name: hit[mine.get(name, name)] for name in known} for hit in answer["hits"]]
        return {"results": results, "warnings": answer["warnings"]}

    return told


def grouped(answer: Json) -> Json:
    groups = [
        {
            "name": name,
            "count": len(records),
            "records": with_trust({"records": records[-3:]})["records"],
        }
        for name, records in answer["by_entity"].items()
    ]
    return {"groups": groups, "warnings": answer["warnings"]}


AN_AGENT_WROTE_IT = "an agent knows what it has just written"
SEED = "the form of the original tool, whose callers know it"

# By the ability in PLACES; behind a colon, one of several calls of it.
CALLS: dict[str, Call] = {
    "search": Call(
        command=f"search '{QUESTION}' --limit 7",
        route="POST /search",
        body={"text": QUESTION, "limit": 7},
        tool="memory_search",
        arguments={"query": QUESTION, "maxResults": 7},
        told=without_chat_words,
        why="the words of chats are in the hits already",
    ),
    "search: of an agent's dispatcher": Call(
        command=f"search '{QUESTION}' --limit 3 --category fact",
        route="POST /search",
        body={"text": QUESTION, "limit": 3, "category": "fact"},
        tool="memory",
        arguments={"action": "search", "query": QUESTION, "limit": 3, "category": "fact"},
    ),
    "recall": Call(
        route="POST /recall",
        body={"question": QUESTION, "limit": 4},
        tool="recall_memory",
        arguments={"query": QUESTION, "top_k": 4},
        told=in_names_of_the_seed("recordId"),
        why=SEED,
    ),
    "context": Call(
        command=f"context '{QUESTION}'",
        route="POST /context",
        body={"message": QUESTION},
        tool="memory_context",
        arguments={"message": QUESTION},
    ),
    "session_start": Call(
        command="session-start",
        route="GET /session-start",
        tool="session_start",
        told=lambda answer: {key: answer[key] for key in ("text", "left_out", "warnings")},
        why="how the text is made of layers is for programs",
    ),
    "records": Call(
        command="list --limit 5 --category fact",
        route="GET /records?limit=5&category=fact",
        tool="memory",
        arguments={"action": "list", "limit": 5, "category": "fact"},
        told=with_trust,
        why="a model must know whose words it reads",
    ),
    "get": Call(
        command="get MEMORY.md --from 3 --lines 4",
        route="GET /passage?path=MEMORY.md&first_line=3&lines=4",
        tool="memory_get",
        arguments={"path": "MEMORY.md", "from": 3, "lines": 4},
    ),
    "get_record": Call(command="get <record>", route="GET /records/<record>"),
    "remember": Call(
        command="remember 'Tea at five' --category fact",
        route="POST /records",
        body={"text": "Tea at five", "category": "fact"},
        tool="remember_this",
        arguments={"text": "Tea at five", "category": "fact"},
        told=acknowledged,
        why=AN_AGENT_WROTE_IT,
    ),
    "save_note": Call(
        command="save 'Tea at five' --category fact",
        route="POST /notes",
        body={"text": "Tea at five", "category": "fact"},
        tool="memory",
        arguments={"action": "save", "content": "Tea at five", "category": "fact"},
        told=acknowledged,
        why=AN_AGENT_WROTE_IT,
    ),
    "update": Call(
        command="update <record> --text 'Shelf 0 is empty'",
        route="PATCH /records/<record>",
        body={"text": "Shelf 0 is empty"},
    ),
    "supersede": Call(
        command="supersede <record> 'Shelf 0 is empty'",
        route="POST /records/<record>/supersede",
        body={"text": "Shelf 0 is empty"},
        tool="remember_this",
        arguments={"text": "Shelf 0 is empty", "supersedes": "<record>"},
        told=acknowledged,
        why=AN_AGENT_WROTE_IT,
    ),
    "forget": Call(
        command="forget <record> --yes",
        route="DELETE /records/<record>",
        tool="memory",
        arguments={"action": "delete", "id": "<record>", "confirm": True},
        told=lambda answer: {**answer, "id": answer["record_id"]},
        why="the argument is called id",
    ),
    "init": Call(command="init", route="POST /init", empty=True),
    "status": Call(command="status", route="GET /status"),
    "doctor": Call(command="doctor", route="GET /doctor"),
    "chats.log": Call(
        command="log --user hello --assistant 'good day' --platform web",
        route="POST /turns",
        body={"user": "hello", "assistant": "good day", "platform": "web"},
    ),
    "chats.recap": Call(command="recap --chat kitchen", route="GET /recap?chat=kitchen"),
    "chats.turns": Call(command="log --limit 3", route="GET /turns?limit=3"),
    "files.backups": Call(command="restore", route="GET /backups"),
    "files.restore": Call(command="restore <backup>", route="POST /backups/<backup>/restore"),
    "index.status": Call(command="status", route="GET /index", part="index"),
    "index.sync": Call(command="sync", route="POST /sync"),
    "index.rebuild": Call(
        command="sync --rebuild",
        route="POST /reindex",
        tool="memory",
        arguments={"action": "index"},
    ),
    "jobs.list": Call(command="jobs list", route="GET /jobs"),
    "jobs.receipts": Call(command="receipts --limit 5", route="GET /receipts?limit=5"),
    "jobs.show": Call(command="jobs show last", route="GET /jobs/last"),
    "jobs.diff": Call(command="jobs diff --last", route="GET /jobs/last/diff"),
    "jobs.undo": Call(command="jobs undo --last", route="POST /jobs/last/undo"),
    "jobs.apply": Call(command="jobs apply --last", route="POST /jobs/last/apply", proposal=True),
    "jobs.decline": Call(
        command="jobs decline --last", route="POST /jobs/last/decline", proposal=True
    ),
    "jobs.trim": Call(command="trim", route="POST /trim"),
    "jobs.compact": Call(
        command="compact --dry-run", route="POST /jobs", body={"job": "compact", "dry_run": True}
    ),
    "jobs.dream": Call(
        command="dream --dry-run",
        route="POST /jobs",
        body={"job": "dream", "dry_run": True},
        tool="dream",
        arguments={"action": "dry-run"},
    ),
    "jobs.dream_status": Call(
        command="dream status", route="GET /dream", tool="dream", arguments={"action": "status"}
    ),
    "jobs.explain": Call(command="dream explain <asked>", route="GET /dream/explain?key=<asked>"),
    "jobs.extract_experiences": Call(
        command="experiences extract", route="POST /jobs", body={"job": "experiences"}
    ),
    "jobs.experiences": Call(
        command="experiences list --limit 5", route="GET /experiences?limit=5"
    ),
    "jobs.query_experiences": Call(
        command="experiences query 'what of the kiln?' --limit 5",
        route="POST /experiences/query",
        body={"text": "what of the kiln?", "limit": 5},
        tool="query_experiences",
        arguments={"query": "what of the kiln?"},
        told=of_experiences,
        why=f"{SEED}, with the category of the source",
    ),
    "jobs.relationships": Call(
        command="relationships",
        route="GET /relationships",
        tool="relationships",
        told=grouped,
        why="the newest of one way to group: the rest would fill a context",
    ),
    "jobs.scan": Call(command="scan", route="GET /scan"),
    "jobs.flush": Call(
        command="flush 'user: We decided to ship on Friday.'",
        route="POST /flush",
        body={"turns": "user: We decided to ship on Friday."},
    ),
    # Of the settings, which are no methods of the library.
    "config: all": Call(command="config show", route="GET /config"),
    "config: one": Call(
        command="config get search.mmr_lambda", route="GET /config/search.mmr_lambda"
    ),
    "config: change": Call(
        command="config set search.mmr_lambda 0.2",
        route="PUT /config/search.mmr_lambda",
        body={"value": 0.2},
    ),
}
# On two surfaces, but not as a call with an answer.
PASSED_OVER = {"close", "reconfigure", "via", "used", "remember_many", "index.on_progress"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A memory with something of every kind, and the names of some of it."""
    root = tmp_path_factory.mktemp("contract") / "memory"
    with Memory(root, channel="cli") as memory:
        for number in range(14):
            memory.remember(f"Shelf {number} holds the cups of guest {number % 9}", category="fact")
        memory.remember("The kiln failed until Ana cleared its vent", category="decision")
        memory.remember("The door code is 4711", sensitivity="secret")
        memory.save_note("Guests drink tea from blue cups", title="guests")
        for chat in ("kitchen", "42"):
            memory.chats.log("Which cups are for guests?", f"The blue ones, says {chat}", chat=chat)
        memory.jobs.extract_experiences()
        asked = memory.search("why did the kiln fail?").hits[0]
        memory.used(str(asked.citation))
        server_token(memory.root, memory.config.store)
        names = {
            "record": memory.records(category="fact")[-1].id,
            "asked": str(asked.record_id),
            "backup": memory.files.backups()[-1].name,
        }
    return root, names


def by_command(root: str, call: Call) -> Any:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        main([*shlex.split(call.command), "--json", "--root", root])
    assert out.getvalue(), err.getvalue()
    answer = json.loads(out.getvalue())
    return answer[call.part] if call.part else answer


def by_route(root: str, call: Call) -> Any:
    method, path = call.route.split(" ")
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        answer = client.request(method, f"/api/v1{path}", json=call.body)
        assert answer.is_success, answer.text
        return answer.json()


def by_tool(root: str, call: Call) -> Any:
    with Memory(root, channel="mcp", settings={"mcp.tools": "all"}) as memory:
        said = Talk(MemoryServer(memory), "legacy")(call.tool, **call.arguments or {})
    assert not said.failed, said.text
    return said.values


def same(answer: Any, names: Names) -> Any:
    """The answer without what differs between any two runs."""
    match answer:
        case str():
            return re.sub("^(cli|rest|mcp)$", "<surface>", names.plain(answer))
        case float():
            return round(answer, 3)  # what is older than a moment ago is worth less
        case dict():
            return {
                names.plain(key): "<n>" if key == "seconds" else same(value, names)
                for key, value in sorted(answer.items())  # so that ids are met in the same order
            }
        case list():
            return [same(item, names) for item in answer]
    return answer


@pytest.mark.parametrize("name", CALLS)
def test_a_call_has_the_same_answer_on_every_surface(
    name: str, filled: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    template, known = filled
    call = CALLS[name]
    words = json.dumps([call.command, call.route, call.body, call.arguments])
    for each, real in known.items():
        words = words.replace(f"<{each}>", real.replace("#", "%23"))
    command, route, body, arguments = json.loads(words)
    call = replace(call, command=command, route=route, body=body, arguments=arguments)
    answers = {}
    for ask, is_there in ((by_command, call.command), (by_route, True), (by_tool, call.tool)):
        if is_there:
            root = tmp_path / ask.__name__ / "memory"
            if not call.empty:
                shutil.copytree(template, root)
            if call.proposal:
                with Memory(root, settings=REVIEW) as memory:
                    assert memory.jobs.trim().status == "proposed"
            answers[ask] = ask(str(root), call)

    def plain(ask: Callable[[str, Call], Json], answer: Json) -> Any:
        return same(answer, Names(str(tmp_path / ask.__name__ / "memory")))

    expected = answers[by_route]
    assert expected, "an empty answer shows nothing"
    if call.command:
        assert plain(by_command, answers[by_command]) == plain(by_route, expected)
    if call.tool:
        told = {key: value for key, value in answers[by_tool].items() if key != "action"}
        assert told.pop("notice").startswith("Quoted from memory")
        wanted = {"warnings": [], **call.told(expected)}
        assert plain(by_tool, told) == plain(by_route, wanted)
        assert bool(call.why) == (call.told(expected) != expected)


def test_every_ability_on_two_surfaces_is_compared() -> None:
    shared = {
        ability
        for ability, places in PLACES.items()
        if sum(not place.startswith("—") for place in places) > 1
    }
    compared = {name.partition(":")[0] for name in CALLS} - {"config"}
    assert shared - PASSED_OVER == compared
