"""What was shown, used and learned: the store with its experiences and its log of recalls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memolith.editing import EditableStore
from memolith.errors import FileChangedError, NotFoundError
from memolith.files import gate
from memolith.files.layout import EXPERIENCES
from memolith.files.lookup import find_record
from memolith.files.record_format import RecordFormatError, parse_line
from memolith.types import Citation, Hit, Passage, Record, Relationships
from memolith.visibility import visible

if TYPE_CHECKING:
    from memolith.reports import ForgetReport

_FORGET_ATTEMPTS = 20


def _only_record(passage: Passage) -> str:
    """The id of the record that the lines are: it stands in a second file too, and may be tracked there."""

    try:
        record = parse_line(passage.text.encode(errors="replace"))
    except RecordFormatError:
        return ""
    return record.id if record is not None else ""


class TrackedStore(EditableStore):
    """The store, which notes what is shown and used so that dreaming can learn from it."""

    def get(
        self,
        path: str,
        first_line: int = 1,
        lines: int | None = None,
        *,
        include_secret: bool = False,
    ) -> Passage:
        """Lines of a Markdown file as they stand there now; `path` may be a citation.

        Lines of secret records are left blank unless asked for. Reading lines that a search has
        shown counts as using them.
        """
        passage = super().get(path, first_line, lines, include_secret=include_secret)
        if lines is not None or "#L" in path:
            self._note_used(passage.citation, _only_record(passage))
        return passage

    def used(self, citation_or_id: str) -> bool:
        """Say that a hit helped: by its citation or the id of its record. Dreaming counts it.

        False if nothing is noted, because `dream.track` is off; what is not there is an error.
        """
        from memolith.files.passages import parse_citation

        gate.check_is_text(citation_or_id=citation_or_id)
        place = parse_citation(citation_or_id)
        with self._existing() as folder:
            record_id = "" if place else find_record(folder, citation_or_id).id
        if place and not super().get(citation_or_id).text:
            raise NotFoundError(
                f"No line stands at {citation_or_id}.",
                name=citation_or_id,
                hint="Use the citation of a hit as it was shown.",
            )
        return self._note_used(place, record_id)

    def experiences(self) -> tuple[Record, ...]:
        """Every stored experience whose source still holds, oldest first; none is secret."""
        from memolith.files.retold import still_held
        from memolith.jobs.relationships import stored_experiences

        if not self.profile.exists:
            return ()
        with self._existing() as folder:
            stored = stored_experiences(folder.read(EXPERIENCES))
            archive = self.config.trim.archive_path
            found = still_held(folder, stored, self._clock.now(), archive)
        return tuple(record for record in found if visible(record, include_secret=False))

    def relationships(self) -> Relationships:
        """Experiences and preferences in groups: by category, by session and by name."""
        from memolith.jobs.relationships import relationships

        return relationships(self.records(), self.experiences())

    def forget(self, record_id: str) -> ForgetReport:
        """Remove a record from every file, archive and backup, so that it does not come back.

        The log of recalls is written without a lock, so it may have moved on meanwhile.
        """
        from memolith.files.recall_log import LOG, OLDER_LOG

        for _ in range(_FORGET_ATTEMPTS):
            try:
                return super().forget(record_id)
            except FileChangedError as error:
                if error.path not in (LOG, OLDER_LOG):
                    raise
        return super().forget(record_id)

    def _note_shown(self, hits: Sequence[Hit], question: str, surface: str) -> None:
        """Note what was shown; every method that answers with hits calls this once."""
        if hits and self.config.dream.track:
            from memolith.files.recall_log import note_shown

            note_shown(self.root, hits, question, surface, self._clock)

    def _note_used(self, place: Citation | None, record_id: str = "") -> bool:
        if not self.config.dream.track:
            return False
        from memolith.files.recall_log import note_used

        note_used(self.root, place, record_id, self._clock)
        return True
