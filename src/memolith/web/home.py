"""Home: what the agent would see now, what was remembered today, whether all is well, what waits."""

from __future__ import annotations

from starlette.responses import Response

from memolith.web.call import Call


def home(call: Call) -> Response:
    """The page; its slower parts come by themselves."""
    start = call.memory.session_start()
    return call.html("home.html", start=start, budget=call.memory.config.context.max_chars)


def today(call: Call) -> Response:
    """What was remembered today, newest first."""
    return call.html("home_today.html", found=call.memory.files.day(call.clock.today()))


def health(call: Call) -> Response:
    """The checks of `doctor` that are quick; what is doubtful is among the plots."""
    report = call.memory.doctor(scan=False)
    return call.html("home_health.html", report=report, held=call.memory.status())


def waiting(call: Call) -> Response:
    """Proposals that wait for a decision."""
    jobs = [job for job in call.memory.jobs.list() if job.status == "proposed"]
    return call.html("home_waiting.html", jobs=jobs)
