"""The token of the server: whether others could read it."""

from __future__ import annotations

from memolith.errors import StorageError
from memolith.files.folder import Folder
from memolith.files.server_token import read_token
from memolith.jobs.checks.findings import Findings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith.jobs.checks.subject import Subject
    from memolith.reports import Check


def check_server(subject: Subject) -> list[Check]:
    """Whether others could read the token; then the server refuses to start with it."""
    found = Findings("server", "Server token")
    token = ""
    with Folder(subject.root) as folder:
        try:
            token = read_token(folder)
        except StorageError as error:
            found.add("error", error.message, error.hint)
    if token:
        return found.checks("only you can read it")
    return found.checks("none yet; the first start of `memolith serve` makes it", "off")
