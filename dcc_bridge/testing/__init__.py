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
"""

from dcc_bridge.testing.person import Answer, Asked, agree, close, decline, fill
from dcc_bridge.testing.play import Played, opened, play
from dcc_bridge.testing.pretended_host import PretendedHost

__all__ = ["Answer", "Asked", "Played", "PretendedHost"]
__all__ += ["agree", "close", "decline", "fill", "opened", "play"]
