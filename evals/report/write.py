"""Writes a report: `report.md` with its charts beside it, and `report.html`, which is one file."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from evals.report import gates, tables
from evals.report.figures import Suited, suites_of
from evals.results import Results, Run
from evals.suites import SUITES

TITLE = "Evaluation report"
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; color: #222 }}
table {{ border-collapse: collapse; font-size: 13px; margin: 1rem 0; display: block; overflow-x: auto }}
th, td {{ border-bottom: 1px solid #ddd; padding: .2rem .6rem; white-space: nowrap }}
svg {{ max-width: 100%; height: auto }}
code {{ font-size: 13px }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def write_report(results: Sequence[Results], where: Path, keys: Sequence[str] | None = None) -> Path:
    """`keys`: of the runs that are told; None: the newest of each system on each suite."""
    from markdown_it import MarkdownIt

    from evals.report.charts import chart

    suites = list(suites_of(results, keys))
    where.mkdir(parents=True, exist_ok=True)
    charts = {suited.name: chart(suited) for suited in suites}
    for name, svg in charts.items():
        (where / f"{name}.svg").write_text(svg, encoding="utf-8")
    parts = [_head(suites), *(_section(suited) for suited in suites)]
    (where / "report.md").write_text("\n".join(parts), encoding="utf-8")
    html = MarkdownIt("commonmark").enable("table").render("\n".join(parts))
    for name, svg in charts.items():
        html = html.replace(f'<img src="{name}.svg" alt="{name}" />', svg)
    file = where / "report.html"
    file.write_text(PAGE.format(title=escape(TITLE), body=html), encoding="utf-8")
    return file


def _head(suites: Sequence[Suited]) -> str:
    runs = [filed.run for suited in suites for filed in suited.systems]
    return "\n".join(
        [
            f"# {TITLE}\n",
            *_made(runs),
            "\n## Gates\n",
            "Prompts that fail a gate; every figure must be 0. For determinism a sample is asked again of "
            "fresh services.\n",
            gates.by_system(suites),
            gates.failed(suites),
            "## All evidence found (AEH)\n",
            tables.overview(suites),
        ]
    )


def _made(runs: Sequence[Run]) -> list[str]:
    """Machine, commits, seeds, commands: each that there was."""
    told = [
        ("Machine", {run.made["machine"] for run in runs}),
        ("Commit", {f"`{run.made['commit']}`" for run in runs}),
        ("Seed", {str(run.seed) for run in runs}),
        ("Command", {f"`{run.made['command']}`" for run in runs}),
        ("Time", _times(runs)),
    ]
    return [f"- {name}: {'; '.join(sorted(values))}" for name, values in told]


def _times(runs: Sequence[Run]) -> set[str]:
    times = sorted(run.made["at"] for run in runs)
    return {f"{times[0]} to {times[-1]}"} if times else set()


def _section(suited: Suited) -> str:
    suite = SUITES.get(suited.name)
    notes = [f"{suite.note}." if suite and suite.note else ""]
    if not all(filed.run.vectors for filed in suited.systems):
        notes.append("By terms alone.")
    settings = {
        filed.system: ", ".join(f"`{name}={value}`" for name, value in filed.run.settings.items())
        for filed in suited.systems
        if filed.run.settings
    }
    parts = [f"\n## {suited.name}\n", " ".join(n[:1].upper() + n[1:] for n in notes if n), ""]
    if suited.windows:
        parts.append(tables.played(suited))
    else:
        parts += [tables.recall(suited), tables.by_kind(suited), tables.mechanisms(suited)]
    parts.append(f"![{suited.name}]({suited.name}.svg)\n")
    parts += [f"- {system}: {said}" for system, said in settings.items()]
    return "\n".join(part for part in parts if part or part == "")
