"""The scenes of the host's tests, for those of the leaf."""

from __future__ import annotations

from tests.hosts.conftest import session, shot

__all__ = ["session", "shot"]
