"""What the filler talks about. None of it touches what the facts (facts.py) are about."""

from backscroll.demo.topics.chinese import CHINESE
from backscroll.demo.topics.english_home import HOME
from backscroll.demo.topics.english_out import OUT
from backscroll.demo.topics.topic import Topic

ENGLISH = (*HOME, *OUT)

__all__ = ["CHINESE", "ENGLISH", "Topic"]
