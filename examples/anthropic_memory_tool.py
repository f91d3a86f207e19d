"""Claude with its memory tool: the files it writes are notes of a memory, which you can read and edit.

pip install '.[anthropic]'    # in a clone of Memolith
export ANTHROPIC_API_KEY=...
python anthropic_memory_tool.py "I prefer answers in Spanish, remember that"
python anthropic_memory_tool.py "What is the capital of Peru?"
"""

import os
import sys

from anthropic import Anthropic

from memolith import Memory
from memolith.adapters.anthropic import MemolithMemoryTool


def main() -> None:
    """Let Claude use its memory until it has an answer."""
    with Memory() as memory, Anthropic() as client:
        message = client.beta.messages.tool_runner(
            model=os.environ.get("MODEL", "claude-sonnet-4-5"),
            max_tokens=2000,
            betas=["context-management-2025-06-27"],
            tools=[MemolithMemoryTool(memory)],
            messages=[{"role": "user", "content": " ".join(sys.argv[1:])}],
        ).until_done()
        print("".join(block.text for block in message.content if block.type == "text"))


if __name__ == "__main__":
    main()
