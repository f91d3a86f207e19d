"""The tool that tidies: dreaming, by `action`."""

from __future__ import annotations

from memolith.jobs.run import DONE
from memolith.mcp_server.finding_tools import TEXT
from memolith.mcp_server.json_shapes import dream_status_json, job_json
from memolith.mcp_server.quoting import quotation, told
from memolith.mcp_server.tool import Answer, Call, Tool
from memolith.text.quotation import fence, quoted


def dream(call: Call) -> Answer:
    """Say what a dream would do, or dream."""
    from memolith.jobs.api import Jobs
    from memolith.jobs.worker import (
        run_in_process,  # few clients dream, and none should wait for it at the start
    )

    action = call.arguments.text("action")
    if action == "status":
        status = run_in_process(call.memory.jobs, Jobs.dream_status)
        return Answer(
            text=f"{status.tracked} statements are tracked; a dream would promote"
            f" {len(status.next)} of them.",
            content=quotation({"action": action, **dream_status_json(status)}),
        )
    report = run_in_process(
        call.memory.jobs, Jobs.dream, progress=call.progress, dry_run=action == "dry-run"
    )
    call.progress(DONE, DONE)
    lines = [*report.lines, *(f"Warning: {warning}" for warning in told(report.warnings))]
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
