"""Templates to answers. Everything is escaped, nothing comes from elsewhere, no script runs."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
from starlette.responses import HTMLResponse, Response

from services.gateway.http.access import INSPECTOR
from shared.bus import subjects

HERE = Path(__file__).parent
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

STATIC = {"cache-control": "max-age=86400", "x-content-type-options": "nosniff"}


class Pages:
    def __init__(self) -> None:
        self.style = (HERE / "style.css").read_bytes()
        self.icon = (HERE / "icon.svg").read_bytes()
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= {
            "n": lambda value: f"{value:,}",
            "percent": lambda value: f"{100 * value:.1f}%",
            "seconds": seconds,
            "when": when,
            "id": subjects.id_of,
            "part": lambda value: f"{value:.3f}".rstrip("0").rstrip("."),
        }
        self._environment.globals |= {
            "root": INSPECTOR,
            "version": hashlib.blake2b(self.style, digest_size=6).hexdigest(),
        }

    def text(self, template: str, **values: Any) -> str:
        return self._environment.get_template(template).render(values)

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        return HTMLResponse(self.text(template, **values), status, HEADERS)


def when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"
