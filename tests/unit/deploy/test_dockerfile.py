"""There is no engine here that could build the image; the rest of it is looked at."""

import re
import shlex
import subprocess
import sysconfig
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from tests.support.dockerfile import ROOT, Stage, environment, ignored, stages

TOOLS = re.compile(r"\b(apt|apt-get|apk|gcc|g\+\+|make|build-essential|curl|wget|git|pip)\b")


def final() -> Stage:
    return stages()[-1]


def test_the_linter_has_nothing_to_say() -> None:
    command = [Path(sysconfig.get_path("scripts")) / "hadolint", ROOT / "Dockerfile"]
    said = subprocess.run(command, capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (0, "")


def test_both_stages_stand_on_one_pinned_base() -> None:
    base = re.search(r"^ARG BASE=(\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert base is not None
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+", base[1])
    assert [stage.base for stage in stages()] == ["${BASE}", "${BASE}"]


def test_what_is_installed_is_what_the_lock_names() -> None:
    installs = [line for line in stages()[0].of("RUN") if " install " in line]
    assert all("--constraint requirements.lock" in line or "--no-deps" in line for line in installs)
    assert len(installs) == 2


def test_the_final_layer_holds_no_tools_and_nobody_is_root_in_it() -> None:
    assert not any(TOOLS.search(line) for line in final().of("RUN"))
    assert final().of("COPY") == ["--from=build /opt/backscroll /opt/backscroll"]
    user = final().of("USER")[-1]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert "--without-pip" in " ".join(stages()[0].of("RUN"))


def test_health_is_asked_by_python() -> None:
    (check,) = final().of("HEALTHCHECK")
    assert shlex.split(check.partition("CMD")[2].strip("[] ").replace(",", " "))[:2] == ["python", "-c"]


def test_everything_that_is_copied_is_let_through_and_nothing_else() -> None:
    wanted = {source for line in stages()[0].of("COPY") for source in line.split()[:-1]}
    assert all((ROOT / source).exists() for source in wanted)
    rules = ignored()
    assert rules[0] == "*"
    assert {rule[1:] for rule in rules if rule.startswith("!")} == wanted
    assert not any(fnmatch(".env", rule[1:]) for rule in rules if rule.startswith("!"))


def test_every_file_of_the_packages_gets_into_the_wheel() -> None:
    """Templates and the like are named one by one, and are missed at run time only."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    named = {
        file
        for package, patterns in told.items()
        for pattern in patterns
        for file in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    there = {
        file
        for package in ("shared", "services", "backscroll")
        for file in (ROOT / package).rglob("*")
        if file.is_file() and file.suffix not in (".py", ".pyc")
    }
    assert there <= named


def test_nothing_is_written_but_data_and_tmp() -> None:
    told = environment()
    assert told["HOME"] == "/tmp"
    assert told["BACKSCROLL_DATA_DIR"] == "/data"
    assert told["PYTHONDONTWRITEBYTECODE"] == "1"
