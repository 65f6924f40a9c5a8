"""The person's switch: while it is on, no skill that may edit begins. Any thread.

What runs already goes on, and can be cancelled; reading is always allowed.
"""

from __future__ import annotations

from dcc_bridge.errors import Paused
from dcc_bridge.skills.skill import Skill


class Pause:
    """Whether edits are held off.

    Attributes:
        is_on: They are.
    """

    def __init__(self, host: str) -> None:
        """Begin with it off.

        Args:
            host: What the application is called.
        """
        self._host = host
        self.is_on = False

    def refusal(self, skill: Skill) -> Paused | None:
        """Give what a skill that may not begin now is told, or None where it may."""
        held = self.is_on and skill.metadata.risk != "read"
        return Paused(self._host) if held else None
