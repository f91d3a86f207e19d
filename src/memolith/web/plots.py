"""Plots: how the memory grows, what it is about, how often and how quickly it answers, what is doubtful."""

from __future__ import annotations

import json
from collections import Counter
from itertools import accumulate, combinations
from math import inf
from time import mktime

from starlette.responses import Response

from memolith.jobs.api import Jobs
from memolith.jobs.worker import run_in_process
from memolith.text.terms import concept_tags
from memolith.web.call import Call

_CONCEPTS = 12
_ROUTES = 12
_READ = 5000  # records whose words are counted


def plots(call: Call) -> Response:
    """Everything that is quick to know."""
    days = call.memory.files.days()
    records = call.memory.records(limit=_READ)
    tags = [concept_tags(record.text) for record in records]
    concepts = Counter(tag for found in tags for tag in found).most_common(_CONCEPTS)
    names = [name for name, _ in concepts]
    pairs = Counter(
        pair
        for found in tags
        for pair in combinations(sorted(set(found).intersection(names), key=names.index), 2)
    )
    times = [mktime(one.day.timetuple()) for one in days]
    series = {
        "growth": [
            times,
            list(accumulate(one.records for one in days)),
            list(accumulate(one.notes for one in days)),
            list(accumulate(one.turns for one in days)),
        ],
        "recalls": [times, [one.recalls for one in days]],
    }
    return call.html(
        "plots.html",
        series={name: json.dumps(value) for name, value in series.items()},
        categories=Counter(record.category for record in records).most_common(),
        concepts=concepts,
        names=names,
        pairs=pairs,
        most=max(pairs.values(), default=1),
        latencies=_latencies(call),
        count=len(records),
        asked=sum(one.recalls for one in days),
    )


def _latencies(call: Call) -> list[tuple[str, int, str, str]]:
    """The routes that are asked most: requests, median and 95th percentile. Open streams have none."""
    found = call.metrics.percentiles().items()
    most = sorted(found, key=lambda one: one[1][0], reverse=True)
    return [
        (route, number, _milliseconds(middle), _milliseconds(high))
        for route, (number, middle, high) in most
        if not route.endswith("/events")
    ][:_ROUTES]


def _milliseconds(seconds: float) -> str:
    """A time as people write it.

    >>> _milliseconds(0.0025), _milliseconds(1), _milliseconds(float("inf"))
    ('2.5 ms', '1,000 ms', 'more')
    """
    if seconds == inf:
        return "more"
    return f"{1000 * seconds:,.0f} ms" if seconds >= 0.01 else f"{1000 * seconds:.3g} ms"


def scan(call: Call) -> Response:
    """What is doubtful: this takes as long as the memory is large."""
    report = run_in_process(call.memory.jobs, Jobs.scan)
    kinds = Counter(finding.kind for finding in report.findings)
    return call.html("plots_scan.html", report=report, kinds=kinds.most_common())
