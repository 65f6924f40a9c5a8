"""A question that is open for a minute: the application's own event loop comes round all the time.

The skill that asks is a plain function in the middle of its body, on the main thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.application import ROOT, Application, started, until
from tests.hosts.heart import BEATS, EVERY
from tests.hosts.qt_host import build
from tests.live import status

pytestmark = [pytest.mark.real, pytest.mark.long, pytest.mark.timeout(400)]
_HERE = Path(__file__).parent
_WAITS = 60.0
_GAP = 1.0  # seconds; a machine on which other tests run takes some of it
_qt_host = pytest.mark.skipif(build.missing() is not None, reason=str(build.missing()))


def usd(folder: Path) -> AbstractContextManager[Application]:
    ours = {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    return started([sys.executable, _HERE.parent / "usd" / "start.py"], folder, **ours)


def qt_host(folder: Path) -> AbstractContextManager[Application]:
    start = _HERE / "qt_host" / "start.py"
    return started([build.built(), start], folder, **build.environment(None))


@pytest.mark.parametrize(
    ("host", "before", "deletion"),
    [
        (usd, None, ("delete", {"pattern": "*", "type": "Camera"})),
        pytest.param(
            qt_host,
            ("add_nodes", {"names": ["cam1"]}),
            ("delete_nodes", {"prefix": "cam"}),
            marks=_qt_host,
        ),
    ],
    ids=["usd", "C++ host"],
)
def test_the_application_goes_on_for_a_minute_and_its_own_dialog_ends_well(
    host: Callable[[Path], AbstractContextManager[Application]],
    before: tuple[str, dict[str, Any]] | None,
    deletion: tuple[str, dict[str, Any]],
    tmp_path: Path,
) -> None:
    with host(tmp_path) as window, ThreadPoolExecutor(1) as agent:
        until(lambda: window.instance.state == "ready")
        if before is not None:
            window.call(*before)

        called = agent.submit(window.call, *deletion)
        window.order("read", "beat", "modal")
        with pytest.raises(TimeoutError):
            called.result(_WAITS)
        window.order("note", "modal", "accept")
        result = called.result(30)
        window.order("close")
        code = window.end()

    beats, longest = map(float, (tmp_path / BEATS).read_text(encoding="utf-8").split())
    assert status(result) == "done"
    assert beats > _WAITS * 1000 / EVERY / 3
    assert longest < _GAP
    assert code == 0, window.output
