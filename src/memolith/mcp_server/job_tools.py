"""The tool that tidies: dreaming, by `action`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.jobs.run import DONE
from memolith.mcp_server.finding_tools import TEXT
from memolith.mcp_server.quoting import quotation
from memolith.mcp_server.tool import Answer, Tool
from memolith.shapes import dream_status_json, job_json
from memolith.text.quotation import fence, quoted

if TYPE_CHECKING:
    from memolith.mcp_server.tool import Call


def dream(call: Call) -> Answer:
    """Say what a dream would do, or dream."""
    action = call.arguments.text("action")
    if action == "status":
        status = call.memory.jobs.dream_status()
        return Answer(
            text=f"{status.tracked} statements are tracked; a dream would promote"
            f" {len(status.next)} of them.",
            content=quotation({"action": action, **dream_status_json(status)}),
        )
    report = call.memory.jobs.dream(dry_run=action == "dry-run", progress=call.progress)
    call.progress(DONE, DONE)
    lines = [*report.lines, *(f"Warning: {warning}" for warning in report.warnings)]
    head = f"Dream: {report.status}{report.reason and f' ({report.reason})'}"
    body = fence(quoted("\n".join(lines))) if lines else ""
    return Answer(
        text="\n".join(filter(None, (head, body))),
        content=quotation({"action": action, **job_json(report)}),
    )


JOB_TOOLS = (
    Tool(
        name="dream",
        title="Dream",
        run=dream,
        properties={"action": {"enum": ["status", "run", "dry-run"]}},
        required=("action",),
        output={"action": TEXT},
    ),
)
