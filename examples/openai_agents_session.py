"""An agent of the OpenAI Agents SDK whose session is a chat of a memory.

pip install '.[openai-agents]'    # in a clone of Memolith
export OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_API_KEY=none MODEL=llama3.2
python openai_agents_session.py "What is the weather in Lima?"
python openai_agents_session.py "And tomorrow?"
"""

import os
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from memolith import Memory
from memolith.adapters.openai_agents import MemolithSession


@function_tool
def weather(city: str, day: str) -> str:
    """The weather in a city on a day."""
    return f"It is sunny in {city} {day}."


def main() -> None:
    """Run the agent once, with the history of the chat."""
    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel(
        model=os.environ.get("MODEL", "gpt-5-mini"), openai_client=AsyncOpenAI()
    )
    question = " ".join(sys.argv[1:])
    with Memory() as memory:
        agent = Agent(
            name="Assistant",
            # What the whole memory knows, beyond this chat.
            instructions=f"You are a helpful assistant.\n\n{memory.context(question).text}",
            tools=[weather],
            model=model,
        )
        session = MemolithSession("weather", memory)
        print(Runner.run_sync(agent, question, session=session).final_output)


if __name__ == "__main__":
    main()
