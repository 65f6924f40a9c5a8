"""Agreed code ends when it has to, hands back little, and leaves the process as it was."""

from __future__ import annotations

import ast
import atexit
import builtins
import gc
import json
import os
import sys
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from dcc_bridge.code import execution
from dcc_bridge.code.execution import CodeFailed, CodeResult, execute
from dcc_bridge.consent import audit_hook
from dcc_bridge.errors import Cancelled, Stopped
from tests.tiers import sampled

ENDLESS = {
    "while": "while True: pass",
    "for": "for _ in iter(int, 1): pass",
    "nested functions": "def f():\n def g(): h()\n g()\ndef h(): pass\nwhile h() is None: f()",
    "a generator": "def g():\n while True: yield\nfor _ in g(): pass",
    "a generator that C drives": "sum(x for x in iter(int, 1))",
    "a comprehension": "[x for x in iter(int, 1)]",
    "a set of two loops": "{y for x in range(9) for y in iter(int, 1)}",
    "a mapping": "{x: x for x in iter(int, 1)}",
    "a lambda that C calls": "any(map(lambda x: None, iter(int, 1)))",
    "all errors caught inside": "while 1:\n try:\n  while 1: pass\n except BaseException: pass",
    "all errors caught around": "while 1:\n try: 1 / 0\n except: continue",
    "finally": "try:\n while 1: pass\nfinally:\n while 1: pass",
    "a context": "from contextlib import suppress\nwith suppress(BaseException):\n while 1: pass",
    "a recursion that catches": "def f():\n try: f()\n except BaseException: f()\nf()",
    "a coroutine": "async def f():\n while 1: pass\nf().send(None)",
    "a property": "class A:\n @property\n def p(self):\n  while 1: pass\nA().p",
    "its result's text": "class A:\n def __repr__(self):\n  while 1: pass\nA()",
    "its error's text": "class E(Exception):\n def __str__(self):\n  while 1: pass\nraise E",
    "a finalizer": "class A:\n def __del__(self):\n  while 1: pass\nA(); None",
    "a generator that is left": "def g():\n try: yield\n finally:\n  while 1: pass\n"
    "x = g(); next(x)",
    "an object that is left": "class A:\n def __del__(self):\n  while 1: pass\na = A()",
    "its memory": "class A(dict):\n def items(self):\n  while 1: pass\nmemory = A(a=1)",
}
TIMED = [*ENDLESS][::3]
CANCELLED = [*ENDLESS][1::3]
SPIN = """import time
def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end: pass
"""


def run(
    code: str, timeout: float = 20, pause: Callable[[], None] = lambda: None, **names: Any
) -> CodeResult:
    return execute(ast.parse(code), code, names, timeout=timeout, pause=pause)


def fails(code: str, **names: Any) -> CodeFailed:
    with pytest.raises(CodeFailed) as caught:
        run(code, **names)
    return caught.value


@pytest.mark.parametrize("name", sampled(TIMED, ENDLESS))
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_endless_code_ends_at_its_time_out(name: str) -> None:
    with pytest.raises(Stopped, match=r"at line \d after 0.1 s, exceeded its time limit"):
        run(ENDLESS[name], timeout=0.1)


@pytest.mark.parametrize("name", sampled(CANCELLED, ENDLESS))
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_endless_code_ends_where_its_call_is_cancelled(name: str) -> None:
    cancelled = Cancelled("It")
    pauses: list[None] = []

    def pause() -> None:
        pauses.append(None)
        if len(pauses) > 3:
            raise cancelled

    with pytest.raises(Cancelled) as caught:
        run(ENDLESS[name], 30, pause)

    assert caught.value is cancelled


def test_the_window_is_painted_while_code_runs() -> None:
    paints: list[bool] = []

    run(f"{SPIN}while not paints: spin(0.05)", pause=lambda: paints.append(True), paints=paints)

    assert 1 <= len(paints) <= 63


def test_a_window_that_paints_slowly_gets_half_of_the_time() -> None:
    paints: list[float] = []

    def paint() -> None:
        paints.append(time.perf_counter())
        while time.perf_counter() < paints[-1] + 0.1:
            pass

    run(f"{SPIN}spin(0.6)", pause=paint)

    assert len(paints) <= 4


def test_painting_that_calls_the_code_does_not_paint_again() -> None:
    handlers: list[Any] = []
    inside: list[bool] = []
    code = f"{SPIN}handlers.append(lambda: spin(0.05))\nwhile len(inside) < 2: spin(0.05)"

    def paint() -> None:
        assert not any(inside), "painted while it paints"
        inside.append(True)
        handlers[0]()
        inside[-1] = False

    run(code, pause=paint, handlers=handlers, inside=inside)

    assert len(inside) > 1


def test_painting_works_at_the_bottom_of_a_deep_recursion() -> None:
    depths: list[int] = []
    code = f"{SPIN}def f():\n try: f()\n except RecursionError: spin(0.1)\nf()\n"
    code += "while not depths: spin(0.01)"  # on a busy machine it may not have been its turn

    def paint(depth: int = 0) -> None:
        paint(depth + 1) if depth < 100 else depths.append(depth)

    run(code, pause=paint, depths=depths)

    assert depths


def test_a_function_that_outlives_the_run_goes_on() -> None:
    handlers: list[Any] = []
    code = "import time\ndef turns(n):\n for i in range(n): pass\n return i\n"
    code += "handlers.append(lambda n: turns(n))\ntime.sleep(0.05)"

    run(code, 0.02, handlers=handlers)  # the call that passes it cannot be cut

    assert handlers[0](3) == 2


@pytest.mark.parametrize(
    "code",
    [
        "while True:\n 1\n 2",
        "for it in iter(int, 1):\n 1\n 2",
        "def g():\n 1\n 2\nwhile True: g()",
        "[it for it\n in iter(int, 1)\n if it]",
        "all(map(lambda x: (1,\n 2,\n 3), iter(int, 1)))",
    ],
)
def test_code_that_is_ended_is_told_to_be_where_its_loop_or_function_begins(code: str) -> None:
    with pytest.raises(Stopped, match="at line 3 after" if "g()" not in code else "at line [36]"):
        run(f"late\n\n{code}", 0.01, late=0)


LEFT = {
    "a generator": "def g():\n try: yield\n finally: end()\nx = g(); next(x)",
    "a generator of an error": "def g():\n try: yield\n finally: end()\n"
    "def f():\n x = g(); next(x); 1 / 0\nf()",
    "a generator of what led to an error": "def g():\n try: yield\n finally: end()\n"
    "def f():\n x = g(); next(x); 1 / 0\ntry: f()\nfinally: nothing",
    "a cycle": "class A:\n def __del__(self): end()\na = A(); a.a = a",
    "a weak reference": "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, end)",
    "memory": "class A:\n def __del__(self): end()\nmemory = {'a': A()}",
    "its last value": "class A:\n def __del__(self): end()\nA()",
    "a line that was printed": "class A(str):\n def __del__(self): end()\n"
    "import sys; sys.stdout.write(A('x'))",
}


@pytest.mark.parametrize("code", LEFT.values(), ids=LEFT.keys())
def test_what_code_leaves_ends_within_its_run(code: str) -> None:
    ended: list[bool] = []
    names: dict[str, Any] = {"end": lambda: ended.append(bool(audit_hook.watches))}

    with suppress(CodeFailed):
        run(code, **names)
    gc.collect()

    assert ended == [True]


def test_what_code_leaves_ends_within_a_run_that_was_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended, clock = list[bool](), [0.0]
    monkeypatch.setattr(execution, "perf_counter", lambda: clock[0])
    code = "def g():\n try: yield\n finally: end()\nx = g(); next(x)\nlate()\nwhile 1:\n 1\n 2"
    names = {"late": lambda: clock.append(clock.pop() + 1.0)}

    with pytest.raises(Stopped, match=r"at line 6 after 0\.5 s"):
        run(code, 0.5, end=lambda: ended.append(bool(audit_hook.watches)), **names)

    assert ended == [True]


def test_what_a_finalizer_raises_fails_the_code() -> None:
    failure = fails("def g():\n try: yield\n finally: 1 / 0\nx = g(); next(x)")

    assert str(failure).startswith("line 3: finally: 1 / 0\nZeroDivisionError: division by zero")


@pytest.mark.parametrize(
    ("code", "text"),
    [("memory['a'] = [1, None]", '{"a": [1, null]}'), ("memory = 3", ""), ("memory = {}", "{}")],
)
def test_memory_comes_out_as_json(code: str, text: str) -> None:
    assert run(code, memory={}).memory == text


@pytest.mark.parametrize("code", ["memory = {'a': {1}}", "memory = {'a': float('nan')}"])
def test_memory_that_json_cannot_carry_fails_the_code(code: str) -> None:
    assert str(fails(code)).startswith("memory holds a value that JSON cannot hold: ")


def test_what_cannot_be_compared_is_put_back() -> None:
    code = "import builtins\nclass A:\n def __eq__(self, other): 1 / 0\nbuiltins.open = A()"
    before = changed_state()

    run(code)

    assert changed_state() == before


def test_no_name_leads_to_the_checkpoint() -> None:
    code = "def f():\n for x in (): pass\nf()\nsorted(globals())"

    assert run(code).result == ["__builtins__", "__name__", "f"]


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("1 + 1", 2),
        ("x = 3", None),
        ("result = {1: (2, None)}\n'unused'", {"1": [2, None]}),
        ("def f():\n 'doc'\n return f.__doc__\nf()", "doc"),
        ("[float('nan'), float('inf'), 2.5, True]", ["nan", "inf", 2.5, True]),
        ("10 ** 5000", "an integer of 16,610 bits"),
        ("10 ** 20", "100000000000000000000"),
        ("a = [1]; a.append(a); a", [1, "…"]),
        ("[[[[[[[[]]]]]]]]", [[[[[["…"]]]]]]),
        ("list(range(500))", [*range(200), "… and 300 more"]),
        ("{(1, 2): {3}, None: b'x'}", {"(1, 2)": [3], "None": "b'x'"}),
        ("'\\ud800'", "\\ud800"),
        ("class A:\n def __repr__(self): 1 / 0\nA()", "instance"),
        ("class A:\n def __len__(self): return 5000\nA()", "<__agreed__.A of 5,000 items>"),
        ("class A(dict):\n def items(self): 1 / 0\nA(a=1)", {"a": 1}),
        ("__name__", "__agreed__"),
    ],
)
def test_the_result_is_what_json_carries(code: str, result: object) -> None:
    value = run(code).result

    json.dumps(value, allow_nan=False).encode()
    assert value == result or (result == "instance" and "A instance at" in value)


@pytest.mark.parametrize(
    "code",
    [
        "'x' * 10**7",
        "'\\0' * 10**6",
        "'ü😀' * 10**6",
        "[['x' * 1000] * 200] * 200",
        "{i: {j: 'y' * 50 for j in range(200)} for i in range(200)}",
        "[[[[[1.23456789012345] * 50] * 50] * 50] * 9] * 9",
        "[[[[[None] * 50] * 50] * 50] * 9] * 9",
    ],
)
def test_a_result_is_64_kb_at_most(code: str) -> None:
    assert len(json.dumps(run(code).result)) <= 32_000


def test_output_keeps_its_head_and_its_tail() -> None:
    tracemalloc.start()
    code = "print('begin')\nfor _ in range(1000): print('x' * 100_000)\nprint('end')"
    printed = run(code, 60).stdout
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert printed.startswith("begin\nx")
    assert printed.endswith("x\nend\n")
    assert "characters left out" in printed
    assert len(printed.encode()) < 64_200
    assert peak < 4_000_000


def test_prints_of_other_threads_go_where_they_went(capsys: pytest.CaptureFixture[str]) -> None:
    go, gone = threading.Event(), threading.Event()

    def other() -> None:
        go.wait(10)
        print("other")
        warnings.showwarning("other", UserWarning, "f", 1)
        gone.set()

    thread = threading.Thread(target=other)
    thread.start()
    with warnings.catch_warnings(record=True) as caught:
        result = run("go.set()\nwhile not gone.is_set(): pass\nprint('mine')", go=go, gone=gone)
    thread.join()

    assert (result.stdout, result.stderr) == ("mine\n", "")
    assert (capsys.readouterr().out, len(caught)) == ("other\n", 1)


def test_warnings_stand_in_stderr() -> None:
    code = (
        "import warnings, sys\nwarnings.warn('old', DeprecationWarning)\nsys.stderr.write('1\\n')"
    )

    assert run(code).stderr == "line 2: DeprecationWarning: old\n1\n"


def test_nobody_types_into_code() -> None:
    assert run("import sys; sys.stdin.read()").result == ""


def test_output_works_in_a_host_without_a_console(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)

    assert run("print(1)").stdout == "1\n"


@pytest.mark.parametrize(
    ("code", "text", "name"),
    [
        ("x = 1\nx.foo()", "line 2: x.foo()\nAttributeError: 'int' object has no", "foo"),
        ("nothing", "NameError: name 'nothing' is not defined", "nothing"),
        ("import nothing", "ModuleNotFoundError: No module named 'nothing'", "nothing"),
        ("from os import nothing", "ImportError: cannot import name 'nothing'", "nothing"),
        ("import os\nos.listdir(nope=1)", "TypeError", "listdir"),
        ("import math\nmath.sqrt('x')", "line 2: math.sqrt('x')\nTypeError", "sqrt"),
        ("import json\njson.loads('{')", "line 2: json.loads('{')\nJSONDecodeError", ""),
        ("def f():\n  1 / 0\nf()", "line 3: f()\nline 2: 1 / 0\nZeroDivisionError: division", ""),
        ("return 3", "line 1: return 3\nSyntaxError: 'return' outside function", ""),
        ("def f():\n f()\nf()", "RecursionError: maximum recursion depth exceeded", ""),
        ("raise SystemExit(3)", "line 1: raise SystemExit(3)\nSystemExit: 3", ""),
        ("exit()", "SystemExit", ""),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("raise GeneratorExit", "GeneratorExit", ""),
        ("class E(Exception):\n def __str__(self): 1 / 0\nraise E", "line 3: raise E\nE", ""),
        ("class E(Exception):\n __class__ = property(lambda _: 1 / 0)\nraise E", "failed", ""),
        ("raise ValueError('x' * 10**6)", "ValueError: xxx", ""),
    ],
)
def test_an_error_shows_the_codes_own_lines(code: str, text: str, name: str) -> None:
    failure = fails(code)

    assert text in str(failure)
    assert "dcc_bridge" not in str(failure)
    assert len(str(failure)) < 4000
    assert failure.name_missing == name


def test_an_error_shows_what_led_to_it_three_deep() -> None:
    code = "def f(n):\n try: f(n - 1) if n else 1 / 0\n except Exception: raise ValueError(n)\nf(9)"

    text = str(fails(code))

    assert text.startswith("line 4: f(9)\nline 3:")
    assert text.count("and before that:") == 2


def test_what_was_printed_before_an_error_is_there() -> None:
    assert fails("print('so far')\n1 / 0").stdout == "so far\n"


def test_each_run_has_builtins_of_its_own() -> None:
    run("__builtins__['open'] = len = None")

    assert run("open is not None and len('abc')").result == 3


def changed_state() -> list[object]:
    files = [os.getcwd(), dict(os.environ), [*sys.path]]
    python = [sys.getrecursionlimit(), gc.isenabled(), dict(vars(builtins))]
    return [sys.stdin, sys.stdout, sys.stderr, *files, *python]


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import os; os.chdir('/')", "the working folder"),
        ("import os; os.environ['A_NEW_ONE'] = 'x'; del os.environ['PATH']", "the environment"),
        ("import sys; sys.path.insert(0, '/nowhere')", "sys.path"),
        ("import builtins; builtins.open = builtins.new = None", "Python's builtins"),
        ("import sys; sys.setrecursionlimit(5000)", "the recursion limit"),
        ("import sys, io; sys.stdout = io.StringIO()", "sys.stdout"),
        ("import gc; gc.disable()", "the garbage collector"),
    ],
)
def test_the_process_is_put_back_and_that_is_told(code: str, what: str) -> None:
    before = changed_state()

    told = run(code).stderr

    assert changed_state() == before
    assert f"Restored after the code ended: {what}" in told


def test_what_stays_is_told() -> None:
    told = run("import atexit\natexit.register(print)").stderr
    atexit.unregister(print)

    assert "Still registered: 1 to be called when the host quits" in told


def test_a_failure_puts_the_process_back_as_well() -> None:
    before = changed_state()

    assert "the working folder" in fails("import os; os.chdir('/')\n1 / 0").stderr
    assert changed_state() == before


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("import dataclasses\n@dataclasses.dataclass\nclass A:\n x: int = 1\nA()", "A(x=1)"),
        ("import enum\nclass E(enum.Enum):\n a = 1\nE.a", "<E.a: 1>"),
        ("from __future__ import annotations\ndef f(x: nothing): return x\nf(1)", 1),
        ("def f():\n global g\n g = 1\nf()\ng", 1),
        ("(lambda *a, k=2: (a, k))(1)", [[1], 2]),
        ("[(x, y) for x in range(3) if x for y in 'ab' if y == 'a']", [[1, "a"], [2, "a"]]),
        ("def g():\n x = yield 1\n return x\n[*g()]", [1]),
        ("n = 0\nwhile n < 3: n += 1\nelse: n = 9\nn", 9),
        ("class A:\n a = [i for i in range(2)]\n def f(self): return super().b\nA.a", [0, 1]),
    ],
)
def test_checkpoints_change_nothing_of_what_code_means(code: str, wanted: object) -> None:
    assert run(code).result == wanted
