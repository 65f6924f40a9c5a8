"""Random bodies of skills, run by the real runner, and judged by the scene and the files alone.

A body is a tree of acts, plain data made of a seed, so that it can be printed and shrunk. There are
two kinds. A *marked* one says what it does, asks or does not, and comes too late; it is not tried.
A *tried* one is undecorated: the loop of consent tries it, and asks about what it lost.
"""

from typing import Any, Final

from tests.hosts.bodies.judge import Judge
from tests.hosts.bodies.marked_judge import MarkedJudge
from tests.hosts.bodies.tried_judge import TriedJudge

JUDGES: Final[dict[str, type[Judge[Any, Any]]]] = {"marked": MarkedJudge, "tried": TriedJudge}
