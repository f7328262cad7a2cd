"""The documents say what the code does: parameters, commands, headers, metrics, names, links."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest
from prometheus_client.metrics import MetricWrapperBase
from pydantic.fields import FieldInfo
from typer.main import get_command

from backscroll.cli import app
from evals.data import ENVIRONMENT
from shared import telemetry
from shared.bus.provisioning import expected
from shared.bus.subjects import DURABLES
from shared.settings import Settings

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ADRS = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
TEXTS = {path: path.read_text() for path in DOCUMENTS}
EVERYTHING = "\n".join(TEXTS.values())

in_every_document = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.relative_to(ROOT).as_posix())


def section(text: str, heading: str) -> str:
    """From a heading to the next of its level or above."""
    level = heading.split(" ", 1)[0]
    after = text.split(f"\n{heading}\n", 1)[1]
    return re.split(rf"^#{{1,{len(level)}}} ", after, maxsplit=1, flags=re.M)[0]


def rows(text: str) -> list[list[str]]:
    """Cells of the body rows of every table."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heads = {i for i, row in enumerate(cells) if i + 1 < len(cells) and set(cells[i + 1][0]) == {"-"}}
    return [row for i, row in enumerate(cells) if i not in heads and set(row[0]) != {"-"}]


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def shown(field: FieldInfo) -> str:
    """A default as the table writes it."""
    if field.default is None:
        return "unset"
    if field.default == "":
        return "empty"
    value = str(field.default)
    return f"`{value.lower() if isinstance(field.default, bool) else value}`"


def groups_of_settings() -> dict[str, list[str]]:
    """The groups that the comments of settings.py make, with the names under each."""
    groups: dict[str, list[str]] = {}
    for line in (ROOT / "shared" / "settings.py").read_text().splitlines():
        if comment := re.match(r"    # ([^.]+)\.", line):
            names = groups[comment[1]] = []
        elif (name := re.match(r"    (\w+): ", line)) and name[1] in Settings.model_fields:
            names.append(name[1])
    return groups


def test_every_parameter_is_in_the_table_of_its_group_with_its_default() -> None:
    parameters = section(TEXTS[README], "## Parameters")
    groups = groups_of_settings()
    for group, names in groups.items():
        table = rows(section(parameters, f"### {group}"))
        want = [[f"`{name}`", shown(Settings.model_fields[name])] for name in names]
        assert [row[:2] for row in table] == want
    assert {name for names in groups.values() for name in names} == Settings.model_fields.keys()


def test_every_parameter_is_explained() -> None:
    meanings = {row[0].strip("`"): row[1:] for row in reversed(rows(section(TEXTS[README], "## Parameters")))}
    for name, field in Settings.model_fields.items():
        default, meaning = meanings[name]
        assert meaning, name
        if get_origin(field.annotation) is Literal:
            assert {f"`{choice}`" for choice in get_args(field.annotation)} <= set(
                re.findall(r"`\w+`", f"{default} {meaning}")
            )


@in_every_document
def test_environment_names_are_parameters(path: Path) -> None:
    known = {f"BACKSCROLL_{name.upper()}" for name in Settings.model_fields} | {
        "BACKSCROLL_CONFIG",
        ENVIRONMENT,
    }
    assert set(re.findall(r"BACKSCROLL_[A-Z_]*[A-Z]", TEXTS[path])) <= known


@in_every_document
def test_commands_exist(path: Path) -> None:
    text = TEXTS[path]
    code = "\n".join(
        [*re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S), *re.findall(r"`([^`\n]+)`", text)]
    )
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"^make (?:\w+=\S+ )?([\w-]+)", code, re.M)) <= targets
    for line in re.findall(r"^(?:\.venv/bin/)?backscroll (\w.*)$", code, re.M):
        command = get_command(app)
        words = line.partition(" #")[0].split()
        while words and hasattr(command, "commands"):
            assert words[0] in command.commands, line
            command = command.commands[words.pop(0)]
        known = {
            option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
        }
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, line
    for module in re.findall(r"python -m ([\w.]+)", code):
        assert find_spec(f"{module}.__main__")


@in_every_document
def test_links_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", without_code(TEXTS[path])):
        if re.match(r"https?://", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def anchors(path: Path) -> Iterator[str]:
    """As GitHub makes them."""
    for heading in re.findall(r"^#+ (.+)$", without_code(path.read_text()), re.M):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@in_every_document
def test_files_that_are_named_exist(path: Path) -> None:
    for name in re.findall(r"`((?:services|shared|backscroll|tests|docs)/[\w./*]+)`", TEXTS[path]):
        assert list(ROOT.glob(name.rstrip("/"))), name


@in_every_document
def test_tables_are_even(path: Path) -> None:
    for table in re.findall(r"(?:^\|.*\n)+", TEXTS[path], re.M):
        assert len({line.count("|") for line in table.splitlines()}) == 1, table


@pytest.mark.parametrize("service", sorted(p.parent.name for p in ROOT.glob("services/*/__main__.py")))
def test_the_architecture_names_every_file_of_a_service(service: str) -> None:
    heading = re.search(rf"^### services/{service}\b.*$", TEXTS[ROOT / "ARCHITECTURE.md"], re.M)
    assert heading
    named = {row[0].strip("`") for row in rows(section(TEXTS[ROOT / "ARCHITECTURE.md"], heading[0]))}
    root = ROOT / "services" / service
    directories = {name for name in named if name.endswith("/")}
    files = {str(path.relative_to(root)) for path in root.rglob("*.py") if path.name != "__init__.py"}
    told_apart = {name for name in files if not name.startswith(tuple(directories))}
    assert named - directories == told_apart - {"__main__.py", "bootstrap.py"}
    assert all((ROOT / "services" / service / name).is_dir() for name in directories)


def test_every_decision_is_listed_with_its_status() -> None:
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", TEXTS[ROOT / "docs" / "adr" / "README.md"])
    assert listed == [adr.name for adr in ADRS]
    for number, adr in enumerate(ADRS, start=1):
        text = TEXTS[adr]
        assert text.startswith(f"# {number:04d} ")
        assert adr.name.startswith(f"{number:04d}-")
        assert re.search(r"^Status: (accepted|superseded by \[)", text, re.M)
        assert re.findall(r"^## (.+)$", text, re.M) == ["Context", "Decision", "Consequences"]


def test_decisions_that_the_code_cites_exist() -> None:
    code = [f for top in ("services", "shared", "backscroll") for f in (ROOT / top).rglob("*.py")]
    cited = {number for f in code for number in re.findall(r"ADR (\d{4})", f.read_text())}
    assert cited <= {adr.name[:4] for adr in ADRS}


def test_headers_and_degradations_are_those_of_the_code() -> None:
    code = [f.read_text() for top in ("services", "shared") for f in (ROOT / top).rglob("*.py")]
    headers = {h for text in code for h in re.findall(r'"(x-backscroll-\w+)"', text)}
    told = rows(section(TEXTS[README], "### What the response headers say"))
    assert {row[0].strip("`").lower() for row in told} == headers
    parts = {
        p
        for text in code
        for p in re.findall(r'"(\w+_(?:unavailable|estimated|incomplete|refused|truncated|cut))"', text)
    }
    listed = {row[2].strip("`") for row in rows(section(TEXTS[README], "## When a part is down"))}
    assert listed - {""} == parts - {"engine_unavailable", "dependency_unavailable"}


def test_the_operator_finds_every_metric() -> None:
    metrics = [m for m in vars(telemetry).values() if isinstance(m, MetricWrapperBase)]
    names = {family.name for m in metrics for family in m.collect()}
    told = rows(section(TEXTS[ROOT / "docs" / "operations.md"], "## Metrics"))
    assert {row[0].strip("`").removesuffix("_total") for row in told} == names


def test_streams_buckets_and_durables_are_told() -> None:
    text = section(TEXTS[ROOT / "ARCHITECTURE.md"], "## The bus")
    names = [str(stream.name) for stream in expected(Settings()).streams] + [d.name for d in DURABLES]
    assert [name for name in names if f"`{name}`" not in text] == []
