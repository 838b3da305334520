"""Every dependency says from which version on it works, and that version is one that `make test-lowest` installs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def requirements() -> list[str]:
    """Those of pyproject.toml, read without tomllib, which Python 3.10 lacks."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = text.partition("[project.scripts]")[0].partition("dependencies = [")[2]
    return [r for r in re.findall(r'"([A-Za-z][^"]*)"', project) if not r.startswith("orderless[")]


@pytest.mark.parametrize("requirement", requirements())
def test_every_dependency_has_a_lower_bound_and_no_upper_one(requirement: str) -> None:
    if requirement.startswith("types-"):
        return
    assert re.fullmatch(r"[A-Za-z0-9_.\-]+(\[[a-z]+\])?>=[0-9][0-9.]*", requirement), requirement


def test_the_lowest_versions_are_those_of_the_metadata() -> None:
    """`make test-lowest` derives its constraints from pyproject.toml; here it is run for its list."""
    import subprocess
    import sys

    listed = subprocess.run(
        [sys.executable, ROOT / "tests" / "reliability" / "lowest.py"], capture_output=True, text=True, check=True
    ).stdout
    assert "pillow==" in listed
    assert "torch==" not in listed.replace("torchmetrics==", "")


def test_pinned_versions_satisfy_the_bounds() -> None:
    pinned = dict(
        line.strip().lower().replace("_", "-").split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line and not line.startswith("#")
    )

    def numbers(version: str) -> tuple[int, ...]:
        return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0]))

    for requirement in requirements():
        name, _, bound = requirement.lower().replace("_", "-").partition(">=")
        name = name.partition("[")[0]
        if bound and name in pinned:
            assert numbers(pinned[name]) >= numbers(bound), requirement
