"""A list of Chat Completions messages as strict engines want it, built from another dialect's items.

Content that is text alone is one string, since small servers read nothing else. Neighbouring items of the
assistant become one message, so that calls stand in front of their results. A tool message can only hold
text: images of a result go to the user message after it.
"""

from dataclasses import dataclass, field

from services.gateway.translate.shape import Object

Parts = list[Object]


def text_part(text: str) -> Object:
    return {"type": "text", "text": text}


def image_part(url: str, detail: object = None) -> Object:
    image = {"url": url, "detail": detail} if isinstance(detail, str) else {"url": url}
    return {"type": "image_url", "image_url": image}


def call(identity: str, name: str, arguments: str) -> Object:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def content_of(parts: Parts) -> str | Parts:
    if all(part["type"] == "text" for part in parts):
        # As vLLM joins text parts.
        return "\n".join(part["text"] for part in parts)
    return parts


@dataclass
class Messages:
    _built: list[Object] = field(default_factory=list)
    _waiting: set[str] = field(default_factory=set)
    """Calls of the last assistant message whose results have not come."""
    _of_results: Parts = field(default_factory=list)
    """Images of the results just added, for the next user message."""

    def system(self, text: str) -> None:
        """One message with a system message right before: many templates take a single one."""
        self._end_results()
        if not text:
            return
        if self._built and self._built[-1]["role"] == "system":
            text = f"{self._built.pop()['content']}\n\n{text}"
        self._add({"role": "system", "content": text})

    def user(self, parts: Parts) -> None:
        parts = [*self._of_results, *parts]
        self._of_results = []
        if parts:
            self._add({"role": "user", "content": content_of(parts)})

    def assistant(self, parts: Parts, calls: list[Object]) -> None:
        """Nothing where there is neither text nor call, as of an item that was thinking alone."""
        if not self._waiting:
            self._end_results()
        if not parts and not calls:
            return
        # A result that came while the model still spoke: chat has the results after all of the calls.
        if self._waiting or (self._built and self._built[-1]["role"] == "assistant"):
            message = next(m for m in reversed(self._built) if m["role"] == "assistant")
            said = message["content"]
            parts = [*([text_part(said)] if isinstance(said, str) else said or []), *parts]
        else:
            message = {"role": "assistant"}
            self._add(message)
        message["content"] = content_of(parts) if parts else None
        if calls:
            message["tool_calls"] = [*message.get("tool_calls", []), *calls]
            self._waiting |= {call["id"] for call in calls}

    def tool(self, identity: str, parts: Parts) -> None:
        texts = [part for part in parts if part["type"] == "text"]
        self._of_results += [part for part in parts if part["type"] != "text"]
        self._built.append({"role": "tool", "tool_call_id": identity, "content": content_of(texts)})
        self._waiting.discard(identity)

    def done(self) -> list[Object]:
        self._end_results()
        return self._built

    def _add(self, message: Object) -> None:
        self._waiting.clear()
        self._built.append(message)

    def _end_results(self) -> None:
        self.user([])
