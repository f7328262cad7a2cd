"""Every error that Backscroll raises on purpose.

    BackscrollError
    ├── InvalidRequest            400  the client's body is wrong; names the field
    │   └── TooLarge              413  it is larger than is read
    ├── Unauthorized              401  no API key, or none that is in force
    ├── TooManyRequests           429  as many as the tenant may have are running; tells when to come again
    ├── ContextLengthExceeded     400  head and last step cannot fit any prompt
    ├── EngineUnavailable         502  the engine cannot be reached, or broke off
    │   ├── EngineTimeout         504  it is silent, or takes too long
    │   └── EngineOpen            503  it failed too often just now; tells when to come again
    ├── NotFound                  404
    │   └── ModelNotFound         404  no engine is set for this model
    ├── DependencyUnavailable     503  retryable: a part is down or too slow; hold and try again
    │   └── BadAnswer             503  it answered, but with nothing usable: perhaps because of the input
    └── PermanentFault            500  not retryable: this item can never succeed; dead letter
        └── TextTooLarge          500  not as it is: a model server calls the input too large; split it

``retryable`` decides between a delayed redelivery and a dead letter (shared/bus/settle.py);
``status`` is what an HTTP client sees.
"""

from typing import ClassVar


class BackscrollError(Exception):
    retryable: ClassVar[bool] = False
    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    retry_after_s: int | None = None
    """Told to HTTP clients as `Retry-After`."""


class InvalidRequest(BackscrollError):
    status = 400
    code = "invalid_request_error"

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class TooLarge(InvalidRequest):
    status = 413
    code = "request_too_large"


class Unauthorized(BackscrollError):
    status = 401
    code = "invalid_api_key"


class TooManyRequests(BackscrollError):
    status = 429
    code = "rate_limit_exceeded"

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ContextLengthExceeded(BackscrollError):
    status = 400
    code = "context_length_exceeded"


class EngineUnavailable(BackscrollError):
    status = 502
    code = "engine_unavailable"


class EngineTimeout(EngineUnavailable):
    status = 504
    code = "engine_timeout"


class EngineOpen(EngineUnavailable):
    status = 503
    code = "engine_open"

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class NotFound(BackscrollError):
    status = 404
    code = "not_found"


class ModelNotFound(NotFound):
    code = "model_not_found"


class DependencyUnavailable(BackscrollError):
    """A server that Backscroll needs did not answer, or answered with an error that will pass.

    ``part`` is a value of the ``X-Backscroll-Degraded`` header, e.g. ``embed_unavailable``.
    """

    retryable = True
    status = 503
    code = "dependency_unavailable"

    def __init__(self, part: str, message: str) -> None:
        super().__init__(message)
        self.part = part


class BadAnswer(DependencyUnavailable):
    code = "bad_answer"


class PermanentFault(BackscrollError):
    code = "permanent_fault"


class TextTooLarge(PermanentFault):
    code = "text_too_large"
