"""Conversations from files: OpenAI messages, LoCoMo chats, trajectories of mini-swe-agent."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

from backscroll.demo.conversation import Conversation, Message
from backscroll.demo.facts import Question
from backscroll.engine.validate import ROLES

_KEPT = ("role", "content", "name", "tool_calls", "tool_call_id")
_SESSION = re.compile(r"session_(\d+)$")


def load_conversations(path: Path) -> list[Conversation]:
    """Every conversation of a `.json` or `.jsonl` file, gzipped or not.

    Forms: a list of messages, `{"messages": [...]}` (alone, in a list, or one a line), a message a
    line, and LoCoMo's list of chats. Raises `ValueError` for anything else.
    """
    found = [_conversation(item, f"{path.name}#{n}") for n, item in enumerate(_items(path))]
    if not any(conversation.asked_at for conversation in found):
        raise ValueError(f"{path}: no conversation in which somebody is asked.")
    return found


def asking_lengths(messages: list[Message]) -> tuple[int, ...]:
    """Where a client asks: after a user's or a tool's message that an assistant's or nothing follows."""
    roles = [message["role"] for message in messages]
    return tuple(
        i + 1
        for i, role in enumerate(roles)
        if role in ("user", "tool") and (i + 1 == len(roles) or roles[i + 1] == "assistant")
    )


def _items(path: Path) -> list[Any]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    try:
        content = json.loads(text)
    except ValueError:
        content = _json_lines(path, text)
    if isinstance(content, dict):
        return [content]
    if isinstance(content, list) and content and all(isinstance(i, dict) and "role" in i for i in content):
        return [{"messages": content}]
    return content if isinstance(content, list) else [content]


def _json_lines(path: Path, text: str) -> list[Any]:
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise ValueError(f"{path}: neither JSON nor JSON lines: no conversation.") from error


def _conversation(item: Any, name: str) -> Conversation:
    if isinstance(item, list):
        item = {"messages": item}
    if isinstance(item, dict) and isinstance(item.get("messages"), list):
        messages = _openai_messages(item["messages"])
        return Conversation(item.get("instance_id") or name, messages, asking_lengths(messages))
    if isinstance(item, dict) and "speaker_a" in (item.get("conversation") or {}):
        messages = _locomo_messages(item["conversation"])
        questions = tuple(
            Question(asked["question"], reference=str(asked["answer"]))
            for asked in item.get("qa", [])
            if "answer" in asked
        )
        return Conversation(item.get("sample_id") or name, messages, asking_lengths(messages), questions)
    raise ValueError(f"{name}: no conversation: neither OpenAI messages nor a LoCoMo chat.")


def _openai_messages(raw: list[Any]) -> list[Message]:
    """Without what is not OpenAI's (an agent's `extra`, its `exit` role), and without a call left open."""
    messages = [
        {key: message[key] for key in _KEPT if key in message and (key == "content" or message[key])}
        for message in raw
        if isinstance(message, dict) and message.get("role") in ROLES
    ]
    for message in messages:
        if message.get("content") is None:
            message["content"] = None if message.get("tool_calls") else ""
    while messages and messages[-1].get("tool_calls"):
        messages.pop()
    return messages


def _locomo_messages(chat: dict[str, Any]) -> list[Message]:
    """The first speaker is the user. Names stay in the texts, and a session opens with its date."""
    numbers = sorted(int(m[1]) for key in chat if (m := _SESSION.match(key)) and isinstance(chat[key], list))
    messages: list[Message] = []
    for number in numbers:
        opening = f"[{chat.get(f'session_{number}_date_time', '')}] "
        for turn in chat[f"session_{number}"]:
            shown = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            role = "user" if turn["speaker"] == chat["speaker_a"] else "assistant"
            messages.append({"role": role, "content": f"{opening}{turn['speaker']}: {turn['text']}{shown}"})
            opening = ""
    return messages
