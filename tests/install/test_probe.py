"""An application is asked which version and which Python it has."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dcc_bridge.cli import interpreter
from dcc_bridge.install.locations import APPLICATIONS, Facts, UnknownLocation


@pytest.mark.parametrize(
    ("base", "expected"), [("/usr", "/usr/bin"), ("/venv", "/venv/bin:/usr/bin")]
)
def test_our_virtual_environment_is_not_on_a_hosts_path(
    base: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Blender of a distribution takes the first Python there; ours without one stays."""
    monkeypatch.setattr(sys, "prefix", "/venv")
    monkeypatch.setattr(sys, "base_prefix", base)
    monkeypatch.setattr(sys, "executable", "/venv/bin/python")
    monkeypatch.setenv("PATH", os.pathsep.join(("/venv/bin", "/usr/bin")))
    monkeypatch.setenv("VIRTUAL_ENV", "/venv")

    env = interpreter.environment()

    assert env["PATH"].split(os.pathsep) == expected.split(":")
    assert ("VIRTUAL_ENV" in env) == (base == "/venv")


@pytest.mark.parametrize(
    ("host", "version", "python"),
    [
        ("maya", "2025", "3.11"),
        ("maya", "2026", "3.11"),
        ("maya", "2027", None),
        ("houdini", "20.5", "3.11"),
        ("houdini", "22.0", "3.13"),
        ("blender", "4.5", "3.11"),
        ("blender", "5.2", "3.13"),
        ("freecad", "1.0", "3.11"),
        ("freecad", "0.20", None),
        ("blender", "3.4", None),
    ],
)
def test_which_python_a_version_has(host: str, version: str, python: str | None) -> None:
    """Where a distribution builds it with its own, nobody can tell: then the person must."""
    application = APPLICATIONS[host]
    if python is None:
        with pytest.raises(UnknownLocation, match="--python"):
            application.complete(Facts(), version, None)
        assert application.complete(Facts(), version, "3.11").python == "3.11"
    else:
        assert application.complete(Facts(), version, None).python == python


def test_what_the_program_says_counts_for_its_own_version_only() -> None:
    """Somebody who names another version does not get the Python of the one on PATH."""
    application, facts = APPLICATIONS["maya"], Facts("2025.3", "3.11", program=Path("/mayapy"))

    assert application.complete(facts, "2025", None) == facts
    assert application.complete(facts, "2026", None).program is None


@pytest.mark.parametrize("host", APPLICATIONS)
def test_a_version_is_asked_for_where_it_tells_the_python_too(host: str) -> None:
    """Python alone would not tell Blender's and Houdini's folders; a version tells both."""
    application = APPLICATIONS[host]

    with pytest.raises(UnknownLocation, match=f"--version {application.example}"):
        application.complete(Facts(), None, None)

    assert application.complete(Facts(), application.example, None).python
