"""A LangGraph graph whose store is a memory: what it learns in one thread it knows in the next.

pip install '.[langgraph]'    # in a clone of Memolith
export OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_API_KEY=none MODEL=llama3.2
python langgraph_agent.py "I only drink green tea"
python langgraph_agent.py "What could I drink?"
"""

import os
import sys
import uuid
from typing import TypedDict

import httpx2
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from memolith import Memory
from memolith.adapters.langgraph import MemolithStore

USER = ("users", os.environ.get("USER_NAME", "me"))


class State(TypedDict):
    """What goes through the graph."""

    question: str
    known: list[str]
    answer: str


def recall(state: State, *, store: BaseStore) -> dict[str, list[str]]:
    """Look up what is known about the question."""
    found = store.search(USER, query=state["question"], limit=5)
    return {"known": [item.value["text"] for item in found]}


def answer(state: State) -> dict[str, str]:
    """Ask the model."""
    known = "\n".join(f"- {text}" for text in state["known"])
    response = httpx2.post(
        os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions",
        headers={"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"},
        json={
            "model": os.environ.get("MODEL", "gpt-5-mini"),
            "messages": [
                {"role": "system", "content": f"The user said before:\n{known}"},
                {"role": "user", "content": state["question"]},
            ],
        },
        timeout=60,
    )
    response.raise_for_status()
    return {"answer": response.json()["choices"][0]["message"]["content"]}


def save(state: State, *, store: BaseStore) -> None:
    """Keep what the user said; a real agent would keep what is worth it."""
    store.put(USER, str(uuid.uuid4()), {"text": state["question"]})


def main() -> None:
    """Run the graph once."""
    graph = StateGraph(State)
    for node in (recall, answer, save):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "answer")
    graph.add_edge("answer", "save")
    graph.add_edge("save", END)
    with Memory() as memory:
        app = graph.compile(store=MemolithStore(memory))
        print(app.invoke({"question": " ".join(sys.argv[1:]), "known": [], "answer": ""})["answer"])


if __name__ == "__main__":
    main()
