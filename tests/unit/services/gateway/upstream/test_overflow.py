import orjson
import pytest

from services.gateway.upstream.overflow import Overflow, parse_overflow, stopped_by_window

WORDINGS: list[tuple[str, str, Overflow]] = [
    (
        "vllm",
        "This model's maximum context length is 4096 tokens. However, your prompt contains at "
        "least 4097 input "
        "tokens, which is more than the model can take.",
        Overflow(4096, 4097),
    ),
    (
        "vllm, output and prompt",
        "This model's maximum context length is 4096 tokens. However, you requested 100 output "
        "tokens and your "
        "prompt contains at least 3997 input tokens, for a total of at least 4097 tokens.",
        Overflow(4096, 3997, asked=100),
    ),
    (
        "vllm, characters",
        "This model's maximum context length is 4096 tokens. However, your prompt contains "
        "900000 characters (more "
        "than 524288 characters, which is the upper bound for 4096 input tokens).",
        Overflow(4096, None),
    ),
    (
        "vllm, max_tokens",
        "max_tokens=9000 cannot be greater than max_model_len=4096.",
        Overflow(4096, None),
    ),
    (
        "vllm, decoder prompt",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make "
        "sure that ...",
        Overflow(4096, 5000, exact=True),
    ),
    ("vllm, nothing left", "max_tokens must be at least 1, got -186.", Overflow(None, None, beyond=186)),
    (
        "vllm, passed and requested",
        "You passed 5000 input tokens and requested 100 output tokens. However, the model's "
        "context length is only "
        "4096 tokens, resulting in a maximum input length of 3996 tokens.",
        Overflow(4096, 5000, asked=100, exact=True),
    ),
    (
        "vllm, older",
        "This model's maximum context length is 6144 tokens. However, you requested 6616 tokens (568 in the "
        "messages, 6048 in the completion). Please reduce the length of the messages or completion.",
        Overflow(6144, 568, asked=6048, exact=True),
    ),
    (
        "vllm, too large",
        "'max_tokens' or 'max_completion_tokens' is too large: 6048. This model's maximum "
        "context length is 6144 "
        "tokens and your request has 568 input tokens (6048 > 6144 - 568).",
        Overflow(6144, 568, asked=6048, exact=True),
    ),
    (
        "sglang",
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
        Overflow(4096, 5000, exact=True),
    ),
    (
        "sglang, total",
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You "
        "requested a total of "
        "5000 tokens: 4000 tokens from the input messages and 1000 tokens for the completion. "
        "Please reduce ...",
        Overflow(4096, 4000, asked=1000, exact=True),
    ),
    (
        "sglang, total alone",
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You "
        "requested a total of "
        "5000 tokens: ...",
        Overflow(4096, None),
    ),
    (
        "sglang, allowed",
        "Input length (5000 tokens) exceeds the maximum allowed length (4090 tokens). Use a "
        "shorter input ...",
        Overflow(4090, 5000, exact=True),
    ),
    (
        "llama.cpp",
        "request (6024 tokens) exceeds the available context size (4096 tokens), try increasing it",
        Overflow(4096, 6024, exact=True),
    ),
    (
        "tgi",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: "
        "4000 `inputs` tokens "
        "and 200 `max_new_tokens`",
        Overflow(4096, 4000, asked=200, exact=True),
    ),
    (
        "tgi, cut off",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 ...",
        Overflow(4096, 4000, exact=True),
    ),
    (
        "tgi, inputs",
        "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
        Overflow(4095, 5000, exact=True),
    ),
    (
        "ollama",
        "the prompt is longer than the context length currently available to the model",
        Overflow(None, None),
    ),
    (
        "lm studio",
        "Trying to keep the first 111490 tokens when context the overflows. However, the model "
        "is loaded with "
        "context length of only 32768 tokens, which is not enough.",
        Overflow(32768, 111490, exact=True),
    ),
    (
        "openai",
        "This model's maximum context length is 16385 tokens. However, your messages resulted "
        "in 33625 tokens. "
        "Please reduce the length of the messages.",
        Overflow(16385, 33625, exact=True),
    ),
    ("anthropic", "prompt is too long: 208310 tokens > 200000 maximum", Overflow(200000, 208310, exact=True)),
    (
        "anthropic, with max_tokens",
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease "
        "input length ...",
        Overflow(200000, 178959, asked=64000, exact=True),
    ),
    (
        "tensorrt-llm",
        "The sum of prompt length (9351.0), query length (0) should not exceed max_num_tokens (8192)",
        Overflow(8192, 9351, exact=True),
    ),
    (
        "lmdeploy",
        "Input length (5000) must be smaller than the model context length (4096).",
        Overflow(4096, 5000, exact=True),
    ),
]
ids = [name for name, _, _ in WORDINGS]
rows = pytest.mark.parametrize(("message", "told"), [(m, t) for _, m, t in WORDINGS], ids=ids)


@rows
def test_every_wording_in_every_shape(message: str, told: Overflow) -> None:
    shapes: list[object] = [
        {"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}},
        {"object": "error", "message": message, "type": "BadRequestError", "code": 400},
        {"error": message, "error_type": "validation"},
        {"type": "error", "error": {"type": "invalid_request_error", "message": message}},
        {"error": {"message": f"Error code: 400 - {message}"}},
        {"error": {"message": f"litellm.ContextWindowExceededError: BadRequestError: {message}"}},
    ]
    assert [parse_overflow(orjson.dumps(shape)) for shape in shapes] == [told] * len(shapes)


@rows
def test_an_echo_of_the_wording_is_no_refusal(message: str, told: Overflow) -> None:
    echoes: list[object] = [
        {"error": {"message": f"Invalid 'messages[0].content': {message}", "code": 400}},
        {"error": {"message": f"1 validation error: input: 'why does it say: {message}'"}},
        {"error": {"message": "bad template", "input": message}},
        {"detail": [{"msg": "extra fields not permitted", "input": message}]},
        {"choices": [{"message": {"role": "assistant", "content": message}}]},
        message,
        [message],
    ]
    assert [parse_overflow(orjson.dumps(echo)) for echo in echoes] == [None] * len(echoes)


def test_what_is_no_json_is_no_refusal() -> None:
    assert parse_overflow(b"prompt is too long: 2 tokens > 1 maximum") is None
    assert parse_overflow(b"") is None


def test_an_answer_that_the_window_ended() -> None:
    reason = "model_context_window_exceeded"
    assert stopped_by_window({"type": "message", "stop_reason": reason})
    assert stopped_by_window({"type": "message_delta", "delta": {"stop_reason": reason}})
    assert not stopped_by_window({"stop_reason": "end_turn", "content": [{"text": reason}]})
    assert not stopped_by_window({"delta": {"text": reason}})
