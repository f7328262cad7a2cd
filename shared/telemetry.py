"""Logs and metrics of every service.

Logs are JSON lines on stderr (plain lines on a terminal) and never hold content: no message text, no
prompt, no key. Metrics are module-level, so that five services in one process share one registry and
register nothing twice.
"""

import logging
import sys
import traceback
from typing import Any

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, Counter, Gauge, Histogram, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from structlog.typing import EventDict

from shared.errors import BackscrollError
from shared.tracing import trace_id

DEGRADATIONS = Counter(
    "backscroll_degradations", "Requests served without a part; `part` as in X-Backscroll-Degraded.", ["part"]
)
DEAD_LETTERS = Counter("backscroll_dead_letters", "Items given up.", ["service"])
BUS_ERRORS = Counter("backscroll_bus_errors", "Errors that the bus client reported by itself.", ["service"])
REDELIVERIES = Counter("backscroll_redeliveries", "Messages handed back to be delivered again.", ["durable"])
ERASED_DROPPED = Counter(
    "backscroll_erased_dropped", "Events that were under way when their session was erased.", ["durable"]
)
ERASED_SESSIONS = Counter("backscroll_erased_sessions", "Sessions erased.")
EXPIRED_CHUNKS = Counter("backscroll_expired_chunks", "Chunks deleted by `store_max_age_s`.")
HOLDS = Counter(
    "backscroll_holds", "Times a batch was held because a dependency was down.", ["durable", "part"]
)
RPC_SECONDS = Histogram(
    "backscroll_rpc_seconds",
    "From request to reply, at the caller.",
    ["method", "outcome"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 180),
)
CHUNKS = Counter("backscroll_chunks", "Chunks cut.")
EMBEDS_QUEUED = Gauge("backscroll_embeds_queued", "Texts that wait for a vector in this process.")
EMBEDS_DONE = Counter("backscroll_embeds_done", "Texts embedded.")
EMBED_ERRORS = Counter("backscroll_embed_errors", "Embedding calls that failed.")
REQUESTS = Counter(
    "backscroll_requests",
    "Requests: passthrough, assembled, unread (not a conversation) or refused.",
    ["mode", "dialect", "status"],
)
STAGE_SECONDS = Histogram(
    "backscroll_stage_seconds",
    "Time of a request by stage; all but `forward` is what Backscroll adds.",
    ["stage"],
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60),
)
PROMPT_TOKENS = Counter("backscroll_prompt_tokens", "Tokens of prompts by part.", ["part"])
OCCUPANCY = Histogram(
    "backscroll_window_occupancy",
    "Share of what a prompt may cost (the window without slack and output reserve) that it costs.",
    buckets=(0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1),
)
ACTIONS = Counter("backscroll_actions", "Assembled prompts by what was done with the one before.", ["action"])
ENGINE_TOKENS = Counter(
    "backscroll_engine_tokens",
    "Tokens as engines told them: prompt, cached (a part of it), completion.",
    ["kind"],
)
FIRST_TOKEN_SECONDS = Histogram(
    "backscroll_first_token_seconds",
    "From the arrival of a request to the first byte of its answer.",
    ["mode"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300),
)
ENGINE_RETRIES = Counter(
    "backscroll_engine_retries", "Prompts sent once more, smaller, after a refusal as too long.", ["engine"]
)
RECALLED = Histogram(
    "backscroll_recalled_chunks",
    "Chunks of one recall: `found` matched, `chosen` were put into the prompt.",
    ["what"],
    buckets=(0, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500),
)
EMPTY_RECALLS = Counter(
    "backscroll_empty_recalls",
    "Recalls that chose nothing: `none_found`, or `all_filtered` where nothing that matched fit.",
    ["reason"],
)
INDEX_COVERAGE = Histogram(
    "backscroll_index_coverage",
    "Share of a request's older chunks that have a vector.",
    buckets=(0.1, 0.25, 0.5, 0.8, 0.9, 0.99, 1),
)
RERANK_SECONDS = Histogram(
    "backscroll_rerank_seconds",
    "One call of the reranker.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
BATCH_MESSAGES = Histogram(
    "backscroll_batch_messages",
    "Events in one batch of a durable.",
    ["durable"],
    buckets=(1, 2, 4, 8, 16, 32, 64, 128),
)
PENDING = Gauge(
    "backscroll_pending_messages", "Events that wait for a durable, as the server told last.", ["durable"]
)
ENGINE_STREAM_ERRORS = Counter(
    "backscroll_engine_stream_errors", "Answers that turned into an error after their status 200.", ["engine"]
)
ENGINE_OPENED = Counter(
    "backscroll_engine_opened", "Times an engine had failed so often that it was left alone.", ["engine"]
)
CLIENTS_GONE = Counter("backscroll_clients_gone", "Clients that hung up before their answer was complete.")
PREFIX_SHARE = Histogram(
    "backscroll_prefix_share",
    "Share of a prompt that the prompt which it inherits from began with.",
    buckets=(0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1),
)
PREFIX_TOKENS = Counter(
    "backscroll_prefix_tokens", "Tokens of prompts: shared with the one before, or why not.", ["reason"]
)
EXCERPTS_DROPPED = Counter("backscroll_excerpts_dropped", "Excerpts whose digest did not match the request.")


def name_trace(_: Any, __: str, line: EventDict) -> EventDict:
    if (trace := trace_id()) is not None:
        line["trace"] = trace
    return line


def trace_without_content(_: Any, __: str, line: EventDict) -> EventDict:
    """Where an error came from and its type. Locals, and the text of an error that is not ours, may hold
    what a user wrote."""
    given = line.pop("exc_info", None)
    error = given if isinstance(given, BaseException) else sys.exc_info()[1] if given else None
    if isinstance(given, tuple):
        error = given[1]
    if error is not None:
        said = f": {error}" if isinstance(error, BackscrollError) else ""
        frames = [
            f"{frame.filename}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(error.__traceback__)
        ]
        line["exception"] = type(error).__name__ + said
        line["frames"] = frames
    return line


def configure_logging(level: str = "info") -> None:
    """Route structlog and the standard library through one renderer. Safe to repeat."""
    stamp: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        name_trace,
        trace_without_content,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *stamp,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=stamp,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                # A person reads a terminal; everything else is read by a machine.
                structlog.dev.ConsoleRenderer()
                if sys.stderr.isatty()
                else structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # httpx logs every URL at info, uvicorn each start and end, FastStream each task that a stop waits for.
    for name in ("httpx", "httpcore", "uvicorn", "backscroll.bus"):
        logging.getLogger(name).setLevel(logging.WARNING)


async def metrics(_: Request) -> Response:
    """The `/metrics` endpoint, as a Starlette route."""
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
