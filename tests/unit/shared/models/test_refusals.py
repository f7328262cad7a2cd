import pytest

from shared.models.refusals import Cause, Refusal, judge, message_of

TOO_LARGE = [
    (413, "Input validation error: `inputs` must have less than 512 tokens. Given: 534"),
    (422, "`inputs` must have less than 8192 tokens. Given: 9718"),
    (413, "Failed to buffer the request body: length limit exceeded"),
    (413, ""),
    (500, "input is too large to process. increase the physical batch size"),
    (
        500,
        "input (992 tokens) is too large to process. increase the physical batch size (current: 512)",
    ),
    (400, "the request exceeds the available context size, try increasing it"),
    (
        400,
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens in the input",
    ),
    (400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192."),
    (400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
    (400, "Input length (5000 tokens) exceeds the maximum allowed length (4090 tokens)"),
    (400, "the input length exceeds the context length"),
    (400, "Requested 400000 tokens, max 300000 tokens per request"),
]
BATCH_TOO_BIG = [
    (422, "batch size 33 > maximum allowed batch size 32", 32),
    (400, "input batch size 136 > maximum allowed batch size 64", 64),
    (400, "Value error, batch size is invalid, it should not be larger than 10.: input.contents", 10),
    (400, "Invalid 'input': array too long. Expected an array with maximum length 2048, but got 3000.", 2048),
    (422, "List should have at most 2048 items after validation, not 3000", 2048),
    (422, "batch size is invalid", None),
]
PASSING = [
    (429, "Model is overloaded"),
    (503, "loading model"),
    (401, "bad key"),
    (403, ""),
    (404, "The model `bge` does not exist."),
    (302, "moved"),
    (502, "prompt too long"),
]


@pytest.mark.parametrize(("status", "message"), TOO_LARGE)
def test_a_text_that_is_too_large_is_recognised(status: int, message: str) -> None:
    assert judge(status, message) == Refusal(Cause.TOO_LARGE)


@pytest.mark.parametrize(("status", "message", "limit"), BATCH_TOO_BIG)
def test_a_batch_of_too_many_texts_names_its_limit(status: int, message: str, limit: int | None) -> None:
    assert judge(status, message) == Refusal(Cause.BATCH_TOO_BIG, limit)


@pytest.mark.parametrize(("status", "message"), PASSING)
def test_what_is_not_the_texts_fault_passes(status: int, message: str) -> None:
    assert judge(status, message) == Refusal(Cause.PASSING)


def test_a_failure_without_a_known_reason_may_be_the_inputs() -> None:
    assert judge(500, "CUDA error") == Refusal(Cause.BROKEN)


def test_any_other_refusal_of_the_input_is_permanent() -> None:
    assert judge(400, "'$.input' is invalid") == Refusal(Cause.REFUSED)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error":"batch size 33 > 32","error_type":"Validation"}', "batch size 33 > 32"),
        (b'{"error":{"code":500,"message":"too large"}}', "too large"),
        (b'{"object":"error","message":"too long"}', "too long"),
        (b'{"detail":[{"msg":"at most 2048","input":"the secret text"}]}', "at most 2048"),
        (b"<html>\n  bad gateway", "<html> bad gateway"),
        (b"[]", ""),
    ],
)
def test_only_the_message_field_is_read(body: bytes, message: str) -> None:
    assert message_of(body) == message


def test_a_message_is_cut() -> None:
    assert len(message_of(b"x" * 5000)) == 300
