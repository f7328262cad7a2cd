"""A chat that asks two gateways in turn, and an engine that can be made to wait."""

import asyncio
import threading

import openai
from starlette.types import Receive, Scope, Send

from backscroll.engine import create_engine
from tests.support.talk import LOCK_QUESTION, Message, assistant, user


class HeldEngine:
    """The demo engine; while `held` it begins no answer."""

    def __init__(self, window: int) -> None:
        self._app = create_engine(window)
        self._go_on = threading.Event()
        self._go_on.set()
        self.asked = threading.Event()

    def hold(self) -> None:
        self.asked.clear()
        self._go_on.clear()

    def release(self) -> None:
        self._go_on.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/v1/chat/completions":
            self.asked.set()
            await asyncio.to_thread(self._go_on.wait, 30)
        await self._app(scope, receive, send)


class Chat:
    """Asks the two gateways in turn, and once more at the other where one cannot be reached."""

    def __init__(self, ports: list[int], key: str) -> None:
        self.messages: list[Message] = []
        self.retries = 0
        self._clients = [
            openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=key, max_retries=0)
            for port in ports
        ]
        self.next = 0

    def say(self, *said: Message, question: str = LOCK_QUESTION) -> str:
        self.messages += [*said, user(question)]
        answer = self._ask()
        self.messages.append(assistant(answer))
        return answer

    def _ask(self) -> str:
        client, other = self._clients[self.next], self._clients[1 - self.next]
        self.next = 1 - self.next
        try:
            return _answer(client, self.messages)
        except openai.APIConnectionError:
            self.retries += 1
            return _answer(other, self.messages)

    def close(self) -> None:
        for client in self._clients:
            client.close()


def _answer(client: openai.OpenAI, messages: list[Message]) -> str:
    made = client.chat.completions.create(model="demo-extractive", messages=messages)  # type: ignore[arg-type]
    return made.choices[0].message.content or ""


class Asking(threading.Thread):
    """A turn of the chat beside what the test does."""

    def __init__(self, chat: Chat, *said: Message) -> None:
        super().__init__()
        self._chat, self._said = chat, said
        self.answer: str | BaseException = ""
        self.start()

    def run(self) -> None:
        try:
            self.answer = self._chat.say(*self._said)
        except BaseException as error:
            self.answer = error

    def answered(self) -> str:
        self.join(60)
        assert isinstance(self.answer, str), self.answer
        return self.answer
