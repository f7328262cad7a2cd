"""What is assembled in another dialect and then translated: an engine that judges it refuses nothing."""

import os
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from backscroll.engine.engine import Engine
from services.gateway.dialects import anthropic, responses
from services.gateway.dialects.base import Dialect
from services.gateway.prepare.templates import LENIENT, Template
from services.gateway.translate.translation import Translation, chat_prompt
from shared.errors import ContextLengthExceeded, InvalidRequest
from shared.tokens.prompt import Prompt
from tests.support import histories_anthropic, histories_responses
from tests.support.pipeline import DirectCounter, Pipeline

Message = dict[str, Any]
STRICT = Template(strict_alternation=True, developer_role=False, tool_ids="mistral")
attack = settings(
    max_examples=int(os.environ.get("ATTACKS", "6")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
dialects = pytest.mark.parametrize(
    ("dialect", "drawn"),
    [
        (anthropic, histories_anthropic.histories(size=40)),
        (responses, histories_responses.histories(size=40)),
    ],
    ids=["anthropic", "responses"],
)


@dataclass
class ChatOnlyCounter(DirectCounter):
    template: Template = LENIENT

    async def count(self, prompt: Prompt) -> int | None:
        return await super().count(chat_prompt(prompt, self.template))


@dialects
@pytest.mark.parametrize("blind", [False, True], ids=["counted", "bounded"])
@pytest.mark.parametrize("template", [LENIENT, STRICT], ids=["lenient", "strict"])
@attack
@given(data=st.data(), window=st.sampled_from([2048, 4096, 8192]))
async def test_the_engine_refuses_nothing(
    dialect: Dialect,
    drawn: st.SearchStrategy[list[Message]],
    blind: bool,
    template: Template,
    data: st.DataObject,
    window: int,
) -> None:
    pipeline = Pipeline(window, dialect=dialect, template=template)
    engine = Engine(window, strict=template is STRICT)
    pipeline.counter = ChatOnlyCounter(engine, blind=blind, template=template)
    pipeline.restart()
    try:
        prepared = await pipeline.prepare(data.draw(drawn), **{dialect.MAX_TOKENS[0]: 32})
        translation = Translation(dialect.NAME, prepared.body, template)
    except InvalidRequest:
        # Server tools and references: they are in these histories for engines that know them.
        assume(False)
    except ContextLengthExceeded:
        return
    engine.complete(orjson.loads(translation.body))
