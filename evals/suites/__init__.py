"""Every suite, by name. A module here reads or makes cases; how they are run is said in its line."""

from functools import partial

from evals.suite import Quick, Suite
from evals.suites import beam, locomo

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        Suite(
            "locomo",
            (2048, 4096, 8192),
            load=locomo.load,
            quick=Quick(cases=2, questions=50, budgets=(4096,)),
            note="labels audited",
        ),
        Suite(
            "locomo-unaudited",
            (8192,),
            load=partial(locomo.load, audited=False),
            ranks=(5, 10, 25, 50),
            note="labels as published, for R@k",
        ),
        Suite(
            "beam-100k",
            (8192, 32_768),
            load=partial(beam.load, size="100K"),
            quick=Quick(cases=1, questions=20, budgets=(8192,)),
        ),
        Suite("beam-500k", (32_768,), load=partial(beam.load, size="500K"), vectors=False),
        Suite("beam-1m", (32_768, 262_144), load=partial(beam.load, size="1M"), vectors=False),
    )
}
