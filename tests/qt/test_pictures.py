"""What is drawn is whole and can be read: three sizes, dark and light, and from right to left."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("PIL", reason="tests.pictures saves its pictures with pillow")

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication

from dcc_bridge.qt.question_dialog import QuestionDialog
from tests.pictures import form_question
from tests.tiers import sampled

from .contrasts import LOOKS
from .measure import card_question, problems
from .stage import armed, drawn, until

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(ROOT / "resources" / "guide").iterdir()]
ELSEWHERE = {"blender.png", "figure.jpg", "latency.svg"}
"""Pictures of another application's own window, and of what a benchmark measured."""
SCREEN = {"name": "large", "x": 0, "y": 0, "width": 3200, "height": 2600}
SCREEN |= {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
ROWS = {
    "consent": ["Decline", "Not now", "Delete 127 cameras"],
    "card": ["Decline", "Not now", "Delete 100 of 127 cameras"],
    "url": ["Decline", "Not now", "Open in the browser"],
    "code": ["Decline", "Not now", "Run"],
    "form": ["Decline", "Not now", "Render"],
    "notice": ["Go to it"],
    "chip": ["Answer here", "Cancel"],
    "panel": ["Show", "Cancel"],
    "history": ["Undo: Ran 17 lines of code"],
    "text": [],
    "bar": ["Keep all", "Undo last", "Undo all"],
    "steps": ["Undo 2 steps", "Cancel"],
}
"""The row of buttons that matters in each picture, from left to right."""


def measured(folder: Path, look: str, direction: str, scale: float) -> dict[str, Any]:
    """Have the pictures drawn by a process of its own, and give what it says of them."""
    screens = folder / "screens.json"
    screens.write_text(json.dumps({"screens": [SCREEN]}))
    platform = {
        "QT_QPA_PLATFORM": f"offscreen:configfile={screens}",
        "QT_SCALE_FACTOR": str(scale),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.qt.measure", look, direction, str(folder)],
        cwd=ROOT,
        env={**os.environ, **platform},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize(
    ("direction", "look", "scale"),
    [
        *sampled([("LeftToRight", "light", 1.5)], ["LeftToRight"], ["dark", "light"], [1, 1.5, 2]),
        *sampled([("LeftToRight", "ours", 1)], ["LeftToRight"], ["ours"], [1]),
        *sampled([("LeftToRight", "contrast", 1)], ["LeftToRight"], ["contrast"], [1, 2]),
        *sampled([("RightToLeft", "dark", 1)], ["RightToLeft"], ["dark", "light"], [1]),
    ],
)
def test_nothing_is_cut_covered_or_faint_and_from_right_to_left_all_is_mirrored(
    tmp_path: Path, direction: str, look: str, scale: float
) -> None:
    report = measured(tmp_path, look, direction, scale)

    step = 1 if direction == "LeftToRight" else -1
    assert {name: drawing["problems"] for name, drawing in report.items()} == {
        name: [] for name in ROWS
    }
    assert {name: drawing["buttons"][::step] for name, drawing in report.items()} == ROWS
    assert {drawing["scale"] for drawing in report.values()} == {scale}
    assert all((tmp_path / f"{name}.png").stat().st_size for name in ROWS)


@pytest.fixture
def palettes(app: QApplication) -> Iterator[Callable[[str], None]]:
    """Changes the palette, as a desktop does while the application runs."""
    style, palette = app.style().name(), app.palette()
    app.setStyle("Fusion")
    yield lambda look: app.setPalette(LOOKS[look]())
    app.setStyle(style)
    app.setPalette(palette)


@pytest.mark.parametrize("kind", ["card", "form"])
def test_a_question_that_is_open_follows_the_colours_of_the_desktop(
    palettes: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    large = SimpleNamespace(availableSize=lambda: QSize(1600, 1400))
    monkeypatch.setattr(QuestionDialog, "screen", lambda _: large)
    palettes("dark")
    dialog, _ = drawn({"card": card_question, "form": form_question}[kind]())
    until(lambda: not dialog.body.verticalScrollBar().isVisible())
    if kind == "card":
        armed(dialog)

    found = {}
    for look in ("light", "contrast", "dark"):
        palettes(look)
        QApplication.processEvents()
        found[look] = problems(dialog)

    assert found == {"light": [], "contrast": [], "dark": []}


@pytest.mark.real
@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed")
def test_the_pictures_of_the_pages_can_be_taken_again(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "tests/pictures.py", "--to", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    shown = {file.name for file in (ROOT / "resources" / "pictures").iterdir()}
    sizes = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert sizes.keys() == shown - ELSEWHERE
    assert {name: size for name, size in sizes.items() if not 5_000 < size < 200_000} == {}
    texts = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert all(f"pictures/{name})" in texts for name in shown)
    assert len(shown - {"figure.jpg", "latency.svg"}) <= 5
