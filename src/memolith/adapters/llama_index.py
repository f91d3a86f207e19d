"""A memory block for LlamaIndex: what left the short-term memory is found again (extra: `llama-index`)."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from pydantic import Field, PrivateAttr

from memolith.adapters.agent import for_agent
from memolith.memory import Memory


class MemolithMemoryBlock(BaseMemoryBlock[str]):
    """Give it to `llama_index.core.memory.Memory.from_defaults(memory_blocks=[...])`.

    Messages that leave the short-term memory are logged as a chat; before each answer, what the
    whole memory knows about the user's last message is added to the prompt.
    """

    name: str = Field(default="memolith", description="The name of the block.")
    max_tokens: int | None = Field(default=None, description="How long the added text may be.")
    chat: str = Field(default="llama-index", description="The chat for messages without a session.")
    _memory: Memory = PrivateAttr()

    def __init__(self, memory: Memory, **fields: Any) -> None:
        """`fields` are those of the block, such as `priority`."""
        super().__init__(**fields)
        self._memory = for_agent(memory, "llama-index")

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        """What is worth knowing before the last message of the user is answered, or nothing."""
        asked = [one.content for one in messages or () if one.role == MessageRole.USER]
        if not asked or not asked[-1]:
            return ""
        known = [one.content for one in messages or () if one.content]
        found = await asyncio.to_thread(
            self._memory.context, asked[-1], known=known, max_tokens=self.max_tokens
        )
        return found.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Log the messages of users and assistants; of tools, nothing is kept."""
        for message in messages:
            if message.role in (MessageRole.USER, MessageRole.ASSISTANT) and message.content:
                chat = str(message.additional_kwargs.get("session_id") or self.chat)
                item = {"role": message.role.value, "content": message.content}
                await asyncio.to_thread(
                    self._memory.chats.add_items, [item], chat=chat, platform="llama-index"
                )
