"""Charts of a suite as SVG: recall against budget, recall by kind of question, and what it costs."""

import io
from statistics import median
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evals.metrics import aeh, all_found, interval
from evals.report.figures import Suited
from evals.turns.turn import cached_share

# Text stays text, and ids are the same each time, so that a report made again differs only in figures.
STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "backscroll", "font.size": 8.0, "axes.titlesize": 9.0}
COLOURS = ("#1f5fa8", "#d1672c", "#8c8c8c", "#3f9142", "#8a5fb0", "#b3903a", "#c0476b", "#4aa3a3")
HEIGHT, WIDTH = 2.9, 3.6
"""Inches, of one panel."""


def chart(suited: Suited) -> str:
    """One figure a suite, as an SVG element."""
    with mpl.rc_context(STYLE):
        if suited.windows:
            figure, axes = _panels(1)
            _price(axes[0], suited)
        elif len(suited.kinds) > 1:
            figure, axes = _panels(3)
            _by_budget(axes[0], suited)
            _cost(axes[1], suited)
            _by_kind(axes[2], suited)
        else:
            figure, axes = _panels(2)
            _by_budget(axes[0], suited)
            _cost(axes[1], suited)
        return _svg(figure)


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(WIDTH * count, HEIGHT), layout="constrained")
    return figure, [figure.add_subplot(1, count, n + 1) for n in range(count)]


def _by_budget(axes: Axes, suited: Suited) -> None:
    for filed, colour in zip(suited.systems, _colours(suited), strict=True):
        points = [(b, judged) for b in suited.budgets if (judged := filed.at(b))]
        values = [aeh(judged) for _, judged in points]
        bounds = [interval(judged, all_found) for _, judged in points]
        below = [max(v - low, 0.0) for v, (low, _) in zip(values, bounds, strict=True)]
        above = [max(high - v, 0.0) for v, (_, high) in zip(values, bounds, strict=True)]
        axes.errorbar(
            [b for b, _ in points], values, yerr=[below, above], fmt="o-", ms=3, lw=1, capsize=2,
            color=colour, label=filed.system,
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_xticks(suited.budgets, [f"{b:,}" for b in suited.budgets])
    axes.minorticks_off()
    axes.set(title="All evidence found, by budget (tokens)", ylim=(-0.03, 1.03))
    axes.legend(frameon=False, fontsize=7)


def _by_kind(axes: Axes, suited: Suited) -> None:
    budget = suited.budgets[len(suited.budgets) // 2]
    width = 0.8 / len(suited.systems)
    for number, (filed, colour) in enumerate(zip(suited.systems, _colours(suited), strict=True)):
        values = [aeh(judged) if (judged := filed.at(budget, kind)) else 0.0 for kind in suited.kinds]
        places = [place + (number + 0.5) * width - 0.4 for place in range(len(suited.kinds))]
        axes.barh(places, values, height=width, color=colour)
    axes.set_yticks(range(len(suited.kinds)), suited.kinds)
    axes.invert_yaxis()
    axes.set(title=f"All evidence found at {budget:,}, by kind", xlim=(0, 1))


def _cost(axes: Axes, suited: Suited) -> None:
    """Up and to the left is better."""
    for filed, colour in zip(suited.systems, _colours(suited), strict=True):
        judged = filed.judged
        for budget in suited.budgets:
            if here := [j for j in judged if j.budget == budget]:
                tokens = sum(j.tokens for j in here) / len(here)
                size = 12 + 60 * min(median(j.seconds for j in here), 2.0)
                axes.scatter([tokens], [aeh(here)], s=size, color=colour, alpha=0.8, linewidths=0)
    axes.set(title="All evidence found against prompt tokens\n(larger: slower)", ylim=(-0.03, 1.03))


def _price(axes: Axes, suited: Suited) -> None:
    for filed, colour in zip(suited.systems, _colours(suited), strict=True):
        for window in suited.windows:
            over = [turn for turn in filed.turns if turn.window == window and turn.over]
            shares = [each.share for turn in over for each in turn.found]
            if over and shares:
                axes.scatter(
                    [cached_share(over)], [sum(shares) / len(shares)], color=colour, label=filed.system
                )
    axes.set(title="Evidence found (ER) against cached share", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axes.legend(frameon=False, fontsize=7)


def _colours(suited: Suited) -> list[str]:
    return [COLOURS[number % len(COLOURS)] for number, _ in enumerate(suited.systems)]


def _svg(figure: Figure) -> str:
    written = io.StringIO()
    figure.savefig(written, format="svg", metadata={"Date": None})
    text = written.getvalue()
    return text[text.index("<svg") :]
