"""The demo engine: an OpenAI-compatible server with a hard window that reads, but does not write.

It stands in for a real engine where none is configured, in demonstrations and in tests: its window,
its tokenizer, its prefix cache and its refusals are real; its answers are sentences of its prompt.
"""

from backscroll.engine.app import create_engine, engine_of
from backscroll.engine.engine import Engine
from backscroll.engine.validate import validate_messages

__all__ = ["Engine", "create_engine", "engine_of", "validate_messages"]
