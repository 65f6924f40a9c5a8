"""Plays a skill in a test: in a real scene or a pretended one, before a person who has a script.

Nothing of the consent is pretended: the skill is tried, its losses are asked about, and a refusal
undoes it, as in an application. No server runs. The thread of the test is the main thread::

    from dcc_bridge.testing import agree, opened, play


    def test_the_cameras_go_once_the_person_agrees() -> None:
        with opened("usd", SHOT) as host:
            played = play(delete_cameras, {"below": "/World"}, host=host, answers=[agree()])

            assert played.status == "done"
            assert played.asked[0].items == ("/World/Cam1", "/World/Cam2")
            assert host.undo_mark().depth == 1

A module is imported when one of its names is first used: `PretendedHost` needs no bridge.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcc_bridge.testing.calling import Played, opened, play
    from dcc_bridge.testing.person import Answer, Asked, agree, close, decline, fill
    from dcc_bridge.testing.pretended_host import PretendedHost
else:
    _MODULES = ("pretended_host", "person", "calling")

    def __getattr__(name: str) -> Any:
        if name in __all__:
            for place in _MODULES:
                module = import_module(f"{__name__}.{place}")
                if hasattr(module, name):
                    return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Answer", "Asked", "Played", "PretendedHost"]
__all__ += ["agree", "close", "decline", "fill", "opened", "play"]
