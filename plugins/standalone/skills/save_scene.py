"""Save the scene."""

from __future__ import annotations

from dcc_bridge import skill
from dcc_bridge.hosts.standalone import session


@skill(risk="destructive")
def save_scene(path: str | None = None) -> dict[str, str]:
    """Save the open scene with its unsaved sublayers. Files are overwritten; undo does not help.

    The person is asked before.

    Args:
        path: Another file to save it in, ending in .usd, .usda or .usdc, which is the scene's own
            from then on. Leave it out to save it where it is.

    Returns:
        The file that was written.
    """
    try:
        return {"saved": str(session().save(path))}
    except OSError as error:
        raise ValueError(str(error)) from error
