"""A host is started so that it finds its own Python."""

from __future__ import annotations

import os
import sys

import pytest

from dcc_bridge.install import probe


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

    env = probe.environment()

    assert env["PATH"].split(os.pathsep) == expected.split(":")
    assert ("VIRTUAL_ENV" in env) == (base == "/venv")
