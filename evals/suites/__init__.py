"""Every suite, by name. A module here reads or makes cases; how they are run is said in its line."""

from functools import partial

from evals.suite import Quick, Suite
from evals.suites import agents, beam, chained, drift, locomo, madial, memdaily, needles, scattered

K = 1024
BACKGROUND = "in essays or articles of the evaluation data, where there is any, else in made text"
NO_RERANKER = {"rerank_url": "http://127.0.0.1:9/rerank"}
HISTORIES = (
    Suite(
        "locomo",
        (2048, 4096, 8192),
        load=locomo.load,
        quick=Quick(cases=2, questions=50, budgets=(4096,)),
        note="labels audited",
    ),
    Suite(
        "locomo-unaudited",
        # Nothing but recalled text is in the prompt; with more the history fits the window.
        (3072,),
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
    Suite(
        "memdaily",
        (1024,),
        load=partial(memdaily.load, size=6 * K),
        language="zh",
        ranks=(5,),
        quick=Quick(cases=24, questions=1, budgets=(1024,)),
        note="each history with unrelated text behind it, since it would fit every window",
    ),
    Suite(
        "memdaily-joined",
        (1024, 2048),
        load=partial(memdaily.joined, together=50),
        language="zh",
        quick=Quick(cases=1, questions=50, budgets=(1024,)),
        note="50 histories one after the other: several answer to the words of a question",
    ),
    Suite(
        "madial",
        (1024,),
        load=madial.load,
        language="zh",
        quick=Quick(cases=2, questions=40, budgets=(1024,)),
    ),
    Suite(
        "agents",
        (8192,),
        # A shorter history fits the window that this budget is a part of.
        load=partial(agents.load, which="mini-swe-agent", longer_than=80_000),
        judged="strings",
        vectors=False,
        quick=Quick(cases=1, questions=40, budgets=(8192,), vectors=False),
        note="which earlier message a tool call's argument comes from",
    ),
    Suite(
        "agents-airline",
        (1024,),
        load=partial(agents.load, which="tau-bench", longer_than=14_000),
        judged="strings",
        note="few questions: most runs are short",
    ),
)
MADE = (
    *(
        Suite(
            f"needles-{language}",
            (8192,),
            make=partial(needles.make, language=language, sizes=(128 * K,)),
            language=language,
            quick=Quick(cases=1, questions=5, budgets=(8192,), vectors=False),
            note=BACKGROUND,
        )
        for language in ("en", "zh")
    ),
    *(
        Suite(
            f"needles-{language}-4m",
            (8192,),
            make=partial(needles.make, language=language, sizes=(1024 * K, 4096 * K)),
            language=language,
            vectors=False,
            note=BACKGROUND,
        )
        for language in ("en", "zh")
    ),
    *(
        Suite(
            f"scattered-{language}{condition}",
            (8192,),
            make=partial(scattered.make, language=language, size=64 * K, cases=10),
            language=language,
            vectors=vectors,
            settings=settings,
            quick=Quick(cases=2, questions=7, budgets=(8192,), vectors=False),
            note=BACKGROUND,
        )
        for language in ("en", "zh")
        # The bundled light scorer stands in for a reranker.
        for condition, vectors, settings in (
            ("", True, {}),
            ("-no-reranker", True, NO_RERANKER),
            ("-no-embedder", False, {}),
        )
    ),
    Suite(
        "chained",
        (8192,),
        make=partial(chained.make, size=128 * K, cases=20),
        quick=Quick(cases=3, questions=3, budgets=(8192,), vectors=False),
        note=BACKGROUND,
    ),
    Suite(
        "chained-babi",
        (8192,),
        load=partial(chained.load, size=128 * K, cases=20),
        note="stories of bAbI in essays",
    ),
)
TURN_BY_TURN = (
    Suite(
        "locomo-turns",
        (8192,),
        load=locomo.load,
        mode="turns",
        vectors=False,
        quick=Quick(cases=1, questions=50, budgets=(8192,), vectors=False),
        note="each question once on a fork, half a window and more behind its evidence",
    ),
    Suite("beam-100k-turns", (32_768,), load=partial(beam.load, size="100K"), mode="turns", vectors=False),
    Suite("beam-1m-turns", (262_144,), load=partial(beam.load, size="1M"), mode="turns", vectors=False),
    Suite(
        "agents-turns",
        (32_768,),
        load=partial(agents.load, which="mini-swe-agent", kinds=(agents.ONE,)),
        mode="turns",
        judged="strings",
        vectors=False,
        note="every step of the run; judged where one older message alone holds what the next call uses",
    ),
    Suite(
        "locomo-drift",
        (8192,),
        load=partial(drift.load, of=locomo.load),
        mode="turns",
        vectors=False,
        note="all questions in one conversation that goes on",
    ),
    Suite(
        "beam-100k-drift",
        (32_768,),
        load=partial(drift.load, of=partial(beam.load, size="100K")),
        mode="turns",
        vectors=False,
    ),
    *(
        Suite(
            f"{name}-replay",
            (window,),
            load=partial(agents.load, which=which),
            mode="replay",
            judged="strings",
            vectors=False,
            note="one request in ten comes again, one in ten edited; every embedding is counted",
        )
        for name, which, window in (
            ("agents", "mini-swe-agent", 32_768),
            ("airline", "tau-bench", 4096),
        )
    ),
)
SUITES: dict[str, Suite] = {suite.name: suite for suite in (*HISTORIES, *MADE, *TURN_BY_TURN)}
