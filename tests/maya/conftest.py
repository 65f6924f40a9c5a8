"""What the tests of Maya's leaf share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.hosts.fakes.maya import Maya


@pytest.fixture
def cmds(maya: Maya) -> Any:
    """The commands of the Maya that the module pretends."""
    return sys.modules["maya.cmds"]
