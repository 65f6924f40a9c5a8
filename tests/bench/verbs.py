"""How long the verbs that read hold the main thread of a scene of 100,000 prims, and what they say.

``python -m tests.bench.verbs [--prims N] [VERB...]``. The verbs alone on a USD stage, no bridge: a
stretch is what lies between two turns that `track` gives to the host, in milliseconds of the
processor, so that the machine's other work is not in it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final
from unittest.mock import patch

from pxr import Usd, UsdGeom, UsdLux, UsdShade

from dcc_bridge import verbs
from dcc_bridge.hosts.standalone import UsdSession, install
from dcc_bridge.verbs.acts import load
from tests.bench.figures import options, show

BUNDLE: Final = Path(__file__).parents[2] / "plugins" / "standalone"
IN_A_SET: Final = 1000
CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("summary", {}),
    ("list_items", {}),
    ("list_items", {"type": "Cube", "limit": 1000}),
    ("list_items", {"name": "box_*7"}),
    ("list_items", {"where": {"size": ">1"}}),
    ("list_items", {"type": "Cube", "fields": ["at", "material"], "sort": "-name"}),
    ("list_items", {"uses": "/World/Wood"}),
    ("list_items", {"type": "Lite"}),
    ("inspect", {"items": ["/World", "/World/Set_00/box_0007", "@scene"]}),
    ("find_api", {"query": "camera focal length"}),
    ("find_api", {"query": "intensity of a light"}),
    ("check", {}),
    *(("check", {"rules": [it]}) for it in ("scale_applied", "duplicate_names", "empty_groups")),
    ("check", {"rules": ["unused_materials"]}),
    ("check", {"rules": ["usd_geom"]}),
    ("look", {}),
    ("look", {"items": ["/World/Set_00/box_0007"], "view": "front"}),
)


class Turns:
    """Measures the stretches between the turns of the host."""

    def __init__(self) -> None:
        self.stretches: list[float] = []
        self._last = process_time()

    def note(self, *_: object) -> None:
        """End a stretch, and begin the next one."""
        now = process_time()
        self.stretches.append(1000 * (now - self._last))
        self._last = process_time()


def scene(folder: Path, prims: int) -> Path:
    """Write a stage of sets with boxes of one material, and a light in each."""
    file = folder / "many.usda"
    stage = Usd.Stage.CreateNew(str(file))
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    wood = UsdShade.Material.Define(stage, "/World/Wood")
    for number in range(prims):
        path = f"/World/Set_{number // IN_A_SET:02}"
        if number % IN_A_SET == 0:
            UsdLux.SphereLight.Define(stage, f"{path}/Light")
        box = UsdGeom.Cube.Define(stage, f"{path}/box_{number:04}")
        UsdGeom.XformCommonAPI(box).SetTranslate((number % 100 * 3, 0, number // 100 * 3))
        UsdShade.MaterialBindingAPI.Apply(box.GetPrim()).Bind(wood)
    stage.Save()
    return file


def main() -> None:
    """Call each verb once, and print the figures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    sys.path.insert(0, str(BUNDLE))
    chosen = options(__doc__, ("verbs", {"nargs": "*"}), prims=100_000)
    rows: list[list[object]] = []
    with TemporaryDirectory() as folder:
        session = UsdSession(scene(Path(folder), chosen.prims))
        uninstall = install(session)
        acts = load(BUNDLE / "skills", session)
        assert acts is not None
        tools = {tool.name: tool.fn for tool in verbs.tools(acts)}
        for name, arguments in CALLS:
            if not chosen.verbs or name in chosen.verbs:
                rows.append([f"{name}({_words(arguments)})", *_measured(tools[name], arguments)])
                print(*rows[-1], file=sys.stderr, flush=True)
        uninstall()
    columns = ["", "in all (ms)", "longest stretch", "turns", "bytes"]
    show(f"The verbs that read, on {chosen.prims:,} prims", columns, rows)


def _words(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def _measured(fn: Any, arguments: dict[str, Any]) -> list[object]:
    turns = Turns()
    with patch("dcc_bridge.skills.skill._repaint", turns.note):
        told = fn(**arguments)
        turns.note()
    size = sum(
        len(it) if isinstance(it, bytes) else len(json.dumps(it))
        for it in (told if isinstance(told, list) else [told])
    )
    return [sum(turns.stretches), max(turns.stretches), len(turns.stretches), f"{size:,}"]


if __name__ == "__main__":
    main()
