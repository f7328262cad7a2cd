"""Where and with what a run was made."""

import os
import platform
import shlex
import subprocess
import sys
from functools import cache
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
JUDGING = (
    "evals/*.py",
    "evals/baselines/*.py",
    "evals/suites/*.py",
    "backscroll/engine/*.py",
    "shared/**/*.py",
)
"""What decides how a baseline comes out, and is judged."""
PRODUCT = ("services/**/*.py", "backscroll/*.py")


@cache
def code_version(*, product: bool) -> str:
    """A digest of the code that a result depends on. A baseline does not depend on the services."""
    found = blake2b(digest_size=8)
    for pattern in (*JUDGING, *(PRODUCT if product else ())):
        for file in sorted(ROOT.glob(pattern)):
            found.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


@cache
def commit() -> str:
    """Of the checkout as the process found it, with `+` where product or evaluation differ from it."""
    head = _git("rev-parse", "--short=10", "HEAD")
    changed = _git("status", "--porcelain", "--", "services", "shared", "backscroll", "evals")
    return head + ("+" if changed else "") if head else "unknown"


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            ["git", "-C", str(ROOT), *arguments],  # noqa: S607 - as the developer's shell finds it
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def machine() -> str:
    """Processor, cores, memory, system, Python."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"{_processor()}, {cores} cores, {memory:.0f} GiB, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, "unknown processor")


def command() -> str:
    """As it was typed; where folders lie is left out, being of this machine alone."""
    words = ["DIR" if word.startswith("/") else word for word in sys.argv[1:]]
    return shlex.join(["backscroll", "eval", *(word for word in words if word != "eval")])
