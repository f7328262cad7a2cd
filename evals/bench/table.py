"""Figures for people, and for files."""

import os
from dataclasses import asdict
from pathlib import Path
from statistics import median

import orjson
from rich.console import Console
from rich.table import Table

from evals.bench.measure import Results, Sample

STAGES = ("read", "tip", "publish", "assemble", "rpc retrieve", "rpc rerank", "render", "count", "forward")
INSIDE = {"rpc retrieve", "rpc rerank"}
"""Parts of `assemble`, told apart from it."""


def by_action(samples: list[Sample]) -> dict[str, list[Sample]]:
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.action, []).append(sample)
    return found


def show(results: Results, console: Console) -> None:
    console.print(_small(results))
    console.print(_cold(results))
    console.print(_known(results))
    console.print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


def _small(results: Results) -> Table:
    table = Table(title="Pass-through: a small body", title_justify="left")
    for column in ("way", "median ms", "90% ms", "added ms"):
        table.add_column(column, justify="left" if column == "way" else "right")
    direct = median(results.small["engine alone"])
    for name, taken in results.small.items():
        high = sorted(taken)[len(taken) * 9 // 10]
        added = median(taken) - direct
        table.add_row(name, _ms(median(taken)), _ms(high), _ms(added))
    return table


def _cold(results: Results) -> Table:
    cold = results.cold
    table = Table(title="First request of a long history", title_justify="left", show_header=False)
    if cold is None:
        return table
    table.add_row("messages", f"{cold.messages:,}")
    table.add_row("body", f"{cold.bytes / 1e6:.1f} MB")
    table.add_row("answered by terms", f"{cold.seconds:.1f} s")
    table.add_row("the prompt held what was asked for", "yes" if cold.found else "NO")
    table.add_row("degraded", cold.degraded or "nothing")
    table.add_row("last vector", f"{cold.vectors_s:.1f} s")
    table.add_row("parsing and hashing alone", f"{_ms(cold.alone)} ms")
    return table


def _known(results: Results) -> Table:
    table = Table(title="Further requests, medians in ms", title_justify="left")
    groups = by_action(results.known)
    table.add_column("stage")
    for action, samples in groups.items():
        table.add_column(f"{action} ({len(samples)})", justify="right")
    for stage in STAGES:
        name = f"  {stage}" if stage in INSIDE else stage
        table.add_row(name, *(_ms(median(s.stages.get(stage, 0.0) for s in g)) for g in groups.values()))
    table.add_section()
    table.add_row("end to end", *(_ms(median(s.seconds for s in g)) for g in groups.values()))
    table.add_row("parsing and hashing alone", *(_ms(median(s.alone for s in g)) for g in groups.values()))
    medians = (median(s.seconds for s in g) / median(s.alone for s in g) for g in groups.values())
    table.add_row("end to end / alone", *(f"{ratio:.1f}" for ratio in medians))
    table.add_section()
    # On a machine with other work the fastest is the nearest to what the work itself takes.
    table.add_row("fastest end to end", *(_ms(min(s.seconds for s in g)) for g in groups.values()))
    least = min(s.alone for s in results.known)
    table.add_row("fastest alone", *(_ms(least) for _ in groups))
    table.add_row("fastest / alone", *(f"{min(s.seconds for s in g) / least:.1f}" for g in groups.values()))
    return table


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f}"


def write(results: Results, path: Path) -> None:
    """JSON lines: one a way of the small request, one for the first long request, one a further one."""
    lines: list[dict[str, object]] = [
        {"figure": "small", "way": name, "seconds": taken} for name, taken in results.small.items()
    ]
    if results.cold:
        lines.append({"figure": "first"} | asdict(results.cold))
    lines += [{"figure": "further"} | asdict(sample) for sample in results.known]
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
