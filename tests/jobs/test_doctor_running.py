"""`doctor` looks at what runs: the server's token, the model, and jobs that failed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from pytest_httpserver import HTTPServer

from memolith import Memory
from memolith.errors import EmbeddingError
from memolith.jobs.reports import ScheduledRun
from memolith.jobs.run import run_unattended
from memolith.jobs.scheduler import note_run
from memolith.jobs.server_files import ADDRESS, server_token
from tests.jobs.damage import findings

if TYPE_CHECKING:
    from pathlib import Path

    from memolith.jobs.reports import JobReport


def test_who_stands_at_the_port_of_the_server_is_said(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memolith.jobs.checks.running._SECONDS", 300)  # a busy machine

    def said(port: int) -> str:
        with Memory(files, settings={"serve.port": port}) as memory:
            [check] = [check for check in memory.doctor().checks if check.id == "server"]
        return check.message

    with HTTPServer() as server:
        server.expect_request("/healthz").respond_with_data('{"ok":true}')
        assert "none yet" in said(server.port)
        server_token(str(files), Memory(files).config.store)
        assert f"a server answers at port {server.port}" in said(server.port)
    with HTTPServer() as other:
        assert "does not answer like Memolith" in said(other.port)
    assert "no server runs" in said(other.port)


def test_a_model_that_is_not_set_up_is_a_warning(files: Path) -> None:
    with Memory(files, settings={"embed.kind": "ollama"}) as memory:
        [found] = findings(memory, "model")
    assert found.status == "warn"
    assert "words only" in found.message


def test_a_job_that_failed_last_is_a_warning_until_its_schedule_ran_again(
    files: Path, memory: Memory
) -> None:
    def fail() -> JobReport:
        raise EmbeddingError("The model is gone.")

    failed = run_unattended(memory.jobs.store, "compact", fail)
    [found] = findings(memory, "jobs")
    assert (found.status, failed.id in found.hint) == ("warn", True)
    note_run(memory._store, ScheduledRun(job="compact", at=failed.created))  # the run that failed
    assert len(findings(memory, "jobs")) == 1
    note_run(memory._store, ScheduledRun(job="compact", at=failed.created + timedelta(hours=1)))
    assert findings(memory, "jobs") == []


@pytest.mark.parametrize(
    "noted", [b"", b"tea", b"127.0.0.1 99999\n", b"\xff \xfe", b"127.0.0.1 -1"]
)
def test_a_spoilt_address_of_a_server_is_no_address(files: Path, noted: bytes) -> None:
    memory = Memory(files, settings={"serve.port": 0})
    server_token(str(files), memory.config.store)
    (files / ADDRESS).write_bytes(noted)
    assert findings(memory, "server") == []
