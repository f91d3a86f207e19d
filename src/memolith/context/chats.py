"""`Memory.chats`: the conversation history of an agent, logged and recalled."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from memolith.context.recall import Recaller
from memolith.errors import MemolithError
from memolith.files import gate
from memolith.files.chat_log import ChatLog
from memolith.files.folder import Folder
from memolith.results import Recap, Turn
from memolith.store import Store
from memolith.text.quotation import without_fenced
from memolith.visibility import allowed_platform


class Chats:
    """The chats of one memory."""

    def __init__(self, store: Store, channel: str, recaller: Callable[[], Recaller]) -> None:
        self._store = store
        self._channel = channel
        self._recaller = recaller

    def log(
        self,
        user: str,
        assistant: str,
        *,
        chat: str = "main",
        platform: str = "library",
        said: datetime | None = None,
    ) -> Turn | None:
        """Append one exchange of a chat to the conversation history; None if history is off.

        `said` is when it was said, for turns that are imported later; by default now.
        """
        store = self._store
        if not store.config.chat.enabled:
            return None
        gate.check_is_text(user=user, assistant=assistant, chat=chat, platform=platform)
        gate.check_turn(user, assistant, chat, platform)
        log = ChatLog(store.config.chat)
        with store.writing() as transaction:
            turn = Turn(
                created=gate.whole_moment(said) if said is not None else store.clock.now(),
                chat=chat,
                user=log.shorten(without_fenced(gate.whole_characters(user))),
                assistant=log.shorten(without_fenced(gate.whole_characters(assistant))),
                platform=allowed_platform(
                    platform, self._channel, self._store.config.trust.external
                ),
            )
            rotation_is_due = log.append(transaction, turn)
        if rotation_is_due:
            # Housekeeping: the turn is on disk, and the next one tries again.
            with suppress(MemolithError), store.writing() as transaction:
                log.rotate(transaction, store.clock.now())
        return turn

    def turns(self, chat: str | None = None, *, limit: int | None = None) -> tuple[Turn, ...]:
        """The turns of one chat, or of all, oldest first, within the cap of each chat.

        With `limit`, the newest ones, at most this many.
        """
        gate.check_is_text_or_none(chat=chat)
        gate.check_is_number_or_none(limit=limit)
        found = tuple(self._turns_by_line(chat).values())
        return found if limit is None else found[max(0, len(found) - max(0, limit)) :]

    def recap(
        self,
        chat: str = "main",
        *,
        about: str | None = None,
        limit: int | None = None,
        max_chars: int | None = None,
        sources: bool = True,
    ) -> Recap:
        """The newest turns of a chat in the order they were said, as one fenced text.

        With `about`, the turns that answer that question instead: `limit` of them. If not all fit
        into the text, the oldest are left out first; of those that answer, the worst. A turn that is
        not the user's own names its platform, unless `sources` is false.
        """
        from memolith.context.recap import make_recap, make_recap_about, showing, turns_about
        from memolith.files.layout import CONVERSATIONS
        from memolith.search.filters import make_filters

        gate.check_is_text(chat=chat)
        gate.check_is_text_or_none(about=about)
        gate.check_is_number_or_none(limit=limit, max_chars=max_chars)
        config = self._store.config.chat
        room = config.max_total_chars if max_chars is None else max(0, max_chars)
        show = showing(
            self._store.clock, sources=sources, external=self._store.config.trust.external
        )
        if about is None:
            return make_recap(self.turns(chat, limit=limit), room, show)
        most = config.recap_top_k if limit is None else max(0, limit)
        if not config.recall:
            return make_recap(self.turns(chat, limit=most), room, show)
        filters = make_filters(self._store.clock, chat=chat, path=CONVERSATIONS)
        found = self._recaller().recall_in_time(about, 4 * most, filters, config.timeout_seconds)
        best = turns_about(self._turns_by_line(chat), found, most)
        return make_recap_about(best, room, show, found.warnings)

    def _turns_by_line(self, chat: str | None) -> dict[int, Turn]:
        if not self._store.profile.exists:
            return {}
        with Folder(self._store.root) as folder:
            return ChatLog(self._store.config.chat).turns_by_line(folder, chat)
