"""A session of the OpenAI Agents SDK: its items are kept in a chat (extra: `openai-agents`)."""

from __future__ import annotations

import asyncio

from agents.items import TResponseInputItem
from agents.memory import SessionABC, SessionSettings

from memolith.adapters.agent import for_agent
from memolith.memory import Memory


class MemolithSession(SessionABC):
    """The history of one chat, for `Runner.run(agent, text, session=...)`.

    Items come back as they were added; what was said in them is found by `memory.search`.
    """

    def __init__(
        self, session_id: str, memory: Memory, *, session_settings: SessionSettings | None = None
    ) -> None:
        """`session_id` is the name of the chat."""
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._chats = for_agent(memory, "openai-agents").chats

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items of the chat, oldest first; with `limit`, the newest ones."""
        limit = self.session_settings.limit if limit is None else limit
        return list(await asyncio.to_thread(self._chats.items, self.session_id, limit=limit))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items to the chat."""
        await asyncio.to_thread(
            self._chats.add_items, items, chat=self.session_id, platform="openai-agents"
        )

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove and return the newest item of the chat; None if it is empty."""
        return await asyncio.to_thread(self._chats.pop, self.session_id)

    async def clear_session(self) -> None:
        """Remove the chat."""
        await asyncio.to_thread(self._chats.clear, self.session_id)
