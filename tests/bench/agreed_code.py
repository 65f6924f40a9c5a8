"""What checkpoints and the trip wire cost agreed code, and what they cost a host that runs none.

``python -m tests.bench.agreed_code [--rounds N]``. Five loops, compiled with checkpoints and
without, with the wire open and closed, each beside the plain way in the same round. Then an audit
event (``os.open`` of a file for reading) before the hook is there, with the hook idle and with a
wire open, and a whole run of one line. Then what the vetoes of a host cost: calls of what is
replaced, beside the same plain, calls of anything where something cannot be replaced, and a run of
one line with all writers of USD. Last, how long 365 lines take to be read, and the longest
that another thread, as a host's main thread is, waits meanwhile for its turn.
"""

from __future__ import annotations

import ast
import operator
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from dcc_bridge.code.code_text import read_code
from dcc_bridge.code.execution import _compiled, _Turns, execute
from dcc_bridge.code.trip_wire import trip_wire
from dcc_bridge.consent.audit_hook import Writer
from dcc_bridge.threads.background import run_in_thread
from dcc_bridge_blender.plain_names import PLAIN
from tests.bench.figures import options, over, paired, show, timed

Rounds = Sequence[Sequence[float]]  # milliseconds
LOOPS: Final = {
    "a plain loop": "for i in range(100_000): x = i + 1",
    "a loop that calls": "def f(i): return i + 1\nfor i in range(50_000): f(i)",
    "a loop over points": "p = [(i, i) for i in range(50_000)]\nfor x, y in p: z = (x * x + y) % 7",
    "a comprehension": "x = [i * 2 for i in range(100_000)]",
    "a loop of C calls": "for i in range(20_000): ','.join(map(str, range(10)))",
}
ROW: Final = """
mat = bpy.data.materials.get('Red') or bpy.data.materials.new('Red')
mat.node_tree.nodes['BSDF'].inputs[0].default_value = (1, 0, 0, 1)
for obj in [o for o in bpy.data.objects if o.type == 'MESH']:
    obj.location.x += 1
"""


def main() -> None:
    """Measure, and print the ratios."""
    rounds: int = options(__doc__, rounds=15).rounds
    events = {"no hook yet": [_events() for _ in range(rounds)]}
    loops = {name: _loop(code, rounds) for name, code in LOOPS.items()}
    events["hook, idle"] = [_events() for _ in range(rounds)]
    with trip_wire([], []):
        events["wire open"] = [_events() for _ in range(rounds)]
    columns = ["median of", "plain (ms)", "checkpoints (ms)", "wire as well (ms)", "ratio", "ratio"]
    show("Agreed code", columns, [_row(name, *ways) for name, ways in loops.items()])
    plain = events["no hook yet"]
    rows = [[name, over(way, 50), _ratio(way, plain)] for name, way in events.items()]
    show("Opening a file to read 100 times, one event each", ["hook", "ms", "ratio"], rows)
    _vetoes(rounds)
    whole = timed(lambda: execute(ast.parse("1"), "1", {}, timeout=9), 100)
    _reading(rounds)
    print(f"\nA run of one line takes {over([whole], 50):.3f} ms. Python {sys.version.split()[0]}")


class _Saves:
    def save(self, path: str) -> str:
        return path


def _vetoes(rounds: int) -> None:
    """Time calls that write nothing, with what would refuse them and without; and USD's writers."""
    from pxr import Usd

    from dcc_bridge.spi import CodeContext
    from dcc_bridge_usd.host import UsdSession
    from dcc_bridge_usd.operations import operations

    saves, calls = "for i in range(2_000): it.save('/dev/null')", LOOPS["a loop that calls"]
    row = (_Saves, "save", lambda _, path: [path])

    def run(code: str, *writers: Any) -> list[float]:
        def work() -> object:
            tree, names = ast.parse(code), {"it": _Saves()}
            return execute(tree, code, names, timeout=9, writers=writers)

        return timed(work, 3)

    plain, vetoed = zip(*((run(saves), run(saves, row)) for _ in range(rounds)), strict=True)
    in_c: Writer = (dict, "popitem", lambda *_: [])
    alone, followed = zip(*((run(calls), run(calls, in_c)) for _ in range(rounds)), strict=True)
    made = operations(UsdSession())
    assert isinstance(made, CodeContext)

    def one(*writers: Any) -> list[float]:
        return timed(lambda: execute(ast.parse("1"), "1", {}, timeout=9, writers=writers), 20)

    none, usd = zip(*((one(), one(*made.writers())) for _ in range(rounds)), strict=True)
    named = f"a line, with USD {Usd.GetVersion()}"
    rows = [
        _row("2,000 calls of a method", plain, vetoed),
        _row("50,000 calls of a function of its own", alone, followed),
        _row(named, none, usd),
    ]
    show("The vetoes of a host", ["median of", "without (ms)", "with (ms)", "ratio"], rows)


def _runner(code: Any) -> Callable[[], object]:
    return lambda: exec(code, {})


def _loop(text: str, rounds: int) -> list[list[list[float]]]:
    """Time it plain, with checkpoints, and with both; the three take turns."""
    turns = _Turns(3600, lambda: None)
    plain, checked = compile(text, "plain", "exec"), _compiled(ast.parse(text), turns)
    ways: list[list[list[float]]] = [[], [], []]
    with turns:
        for _ in range(rounds):
            ways[0].append(timed(_runner(plain), 3))
            ways[1].append(timed(_runner(checked), 3))
            with trip_wire([], []):
                ways[2].append(timed(_runner(checked), 3))
    return ways


def _reading(rounds: int) -> None:
    """Read on this thread, and on another one while this one looks at the clock."""
    text, waits = ROW * 73, list[float]()
    alone = timed(lambda: read_code(text, PLAIN), rounds)
    for _ in range(rounds):
        reading = run_in_thread(lambda: read_code(text, PLAIN), "bench")
        before = longest = 0.0
        while not reading.done():
            now = time.perf_counter()
            longest = max(longest, now - (before or now))
            before = now
            time.sleep(0.001)
        waits.append(1000 * longest)
    lines = len(text.splitlines())
    print(f"\nReading {lines} lines takes {over([alone], 50):.0f} ms (median); on another thread")
    print(f"this one waits {sorted(waits)[len(waits) // 2]:.0f} ms at the longest (median).")


def _open_and_close() -> None:
    for _ in range(100):
        os.close(os.open(__file__, os.O_RDONLY))


def _events() -> list[float]:
    return timed(_open_and_close, 5)


def _row(name: str, *ways: Rounds) -> list[object]:
    """Give each way's median, and its ratio to the first one."""
    ratios = [_ratio(way, ways[0]) for way in ways[1:]]
    return [name, *(over(way, 50) for way in ways), *ratios]


def _ratio(ours: Rounds, theirs: Rounds) -> str:
    return f"{paired(ours, theirs, operator.truediv):.2f} x"


if __name__ == "__main__":
    main()
