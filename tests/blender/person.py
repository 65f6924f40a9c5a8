"""What is played in Blender's window besides the plug-in: somebody who does what a file says.

Blender runs it with ``--python``. Main thread, from a timer.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import addon_utils
import bpy
from mathutils import Vector

HOME: Final = Path(os.environ["HOME"])
ORDERS: Final = HOME / "orders"
ADDON: Final = "dcc_bridge_blender"
DIALOG: Final = f"{ADDON}.ui.dialog"
seen: dict[str, Any] = {"renders": [], "torn": False}
obeyed = 0
last = begun = 0.0


def write() -> None:
    """Tell the test what there is to see."""
    new = {
        **seen,
        "objects": sorted(bpy.data.objects.keys()),
        "bridge": str(sys.modules["dcc_bridge"].__file__) if "dcc_bridge" in sys.modules else "",
        "seconds": time.monotonic() - begun,
        **told_of_question(),
    }
    if "PySide6" in sys.modules and (verb := find_verb()) is not None:
        new["verb"] = verb
    part = HOME / "seen.part"
    part.write_text(json.dumps(new), encoding="utf-8")
    os.replace(part, HOME / "seen.json")


def told_of_question() -> dict[str, Any]:
    """Tell which question is drawn by Blender, and what was wrong with its answer."""
    running = sys.modules[f"{ADDON}.plugin"]._running
    panel = sys.modules[f"{ADDON}.ui.panel"]
    dialog: Any = getattr(running.surface.presenter, "dialog", None) if running else None
    is_drawn = dialog is not None and dialog.is_shown
    return {
        "question": dialog.question.id if is_drawn else None,
        "waits": dialog.question.id if dialog is not None else None,
        "notice": sys.modules[f"{ADDON}.ui.notice"]._seen,
        "wrong": dialog.state.wrong if is_drawn else None,
        "work": in_status_bar(),
        "has_panel": any(panel._drawn.get(region.as_pointer()) for region in panel._regions()),
        "text_editor": bpy.data.texts[0].as_string() if bpy.data.texts else "",
        "chosen": dialog.state.chosen if is_drawn else None,
        "takes": is_drawn and time.monotonic() > dialog._opened + sys.modules[DIALOG]._ARM,
        "sidebar": in_sidebar(),
        "undo": in_sidebar(210)[1],  # as wide as it opens
        "caption": dialog.state.verb if is_drawn else None,
        "card": in_card(panel),
        "card_key": bool(getattr(panel.shown, "card", None)),
        "steps": in_steps(panel),
        "card_page": getattr(getattr(panel.shown, "pages", None), "_page", None),
        "problems": list(dialog.state.fields._problems.values()) if dialog else [],
        "clipboard": getattr(bpy.context.window_manager, "clipboard", ""),
        "text": text_of(dialog.state.pages) if is_drawn and dialog.state.pages else "",
        "page": getattr(dialog.state.pages, "_page", None) if is_drawn else None,
        "filled": dialog.state.fields.content(dialog.state.values.group) if dialog else {},
    }


class Noted:
    """A layout that keeps the texts that are drawn on it."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def label(self, text: str, **_: Any) -> None:
        self.texts.append(text)

    def operator(self, _: str, text: str, **__: Any) -> SimpleNamespace:
        self.texts.append(text)
        return SimpleNamespace()

    def box(self, **_: Any) -> Noted:
        return self

    def template_list(self, *words: Any, **_: Any) -> None:
        rows = getattr(words[2], words[3])
        self.texts += [row.name for row in rows]

    def prop(self, data: Any, name: str, text: str = "", **_: Any) -> None:
        self.texts.append(text or f"[{getattr(data, name)}]")

    def menu(self, name: str, **_: Any) -> None:
        self.texts.append(name)

    def separator_spacer(self) -> None:
        """Draw nothing."""

    def split(self, **_: Any) -> Noted:
        return self

    row = column = grid_flow = box


def text_of(pages: Any) -> str:
    """Give what is drawn of the text that a question is about."""
    layout = Noted()
    pages.draw(layout, 120, 40, lambda *_: None)
    return "\n".join(layout.texts)


def state() -> None:
    sys.path.append(str(Path(__file__).parents[2]))
    try:
        from tests.hosts.digests import scene_digest  # which no add-on brings
    finally:
        sys.path.pop()
    host = sys.modules[f"{ADDON}.plugin"]._running.host
    seen["state"] = [scene_digest(host), host.undo_mark().depth]


def turntable() -> None:
    sys.path.append(str(Path(__file__).parents[2]))
    try:
        from tests.blender import turntable as blender_turntable  # which no add-on brings
    finally:
        sys.path.pop()
    blender_turntable.make()


def in_sidebar(width: int = 2000) -> list[str]:
    """Tell what the sidebar's panel draws in so many pixels."""
    layout = Noted()
    panel = sys.modules[f"{ADDON}.ui.panel"]
    region = SimpleNamespace(width=width, as_pointer=lambda: 0)
    context = SimpleNamespace(region=region, preferences=bpy.context.preferences)
    panel.DCC_BRIDGE_PT_agents.draw(SimpleNamespace(layout=layout), context)
    return layout.texts


def in_card(panel: Any) -> list[str]:
    """Tell what the card of the newest call says."""
    if panel.shown is None or not (calls := panel.shown.view.history(1)):
        return []
    layout = Noted()
    panel._draw_card(layout, calls[0], None, 40)
    return layout.texts


def in_steps(panel: Any) -> list[str]:
    """Tell what the list of the steps that go back says, once it was opened."""
    if panel.shown is None or not panel.shown.steps:
        return []
    layout = Noted()
    panel._draw_steps(layout, panel.shown.view.undo_list(panel.shown.steps))
    return layout.texts


def in_status_bar() -> list[str]:
    """Tell what the status bar says of the call that works."""
    layout = Noted()
    working = sys.modules[f"{ADDON}.ui.working"]
    if working.shown is not None:
        working.shown.draw(layout)
    return layout.texts


def sidebar() -> None:
    window: Any = bpy.context.window_manager
    areas = [area for area in window.windows[0].screen.areas if area.type == "VIEW_3D"]
    areas[0].spaces.active.show_region_ui = True


def text() -> None:
    """Put an empty text in the place of the 3D view."""
    window: Any = bpy.context.window_manager
    areas = [area for area in window.windows[0].screen.areas if area.type == "VIEW_3D"]
    seen["text_editors_drawn"] = 0
    areas[0].type = "TEXT_EDITOR"
    areas[0].spaces.active.text = bpy.data.texts.new("Notes")


def card() -> None:
    panel = sys.modules[f"{ADDON}.ui.panel"]
    operators: Any = bpy.ops
    newest = next(call for call in panel.shown.view.history(12) if call.is_code)
    operators.dcc_bridge.code("INVOKE_DEFAULT", key=newest.id)


def untick_cube() -> None:
    """Leave an item out, as its check box does."""
    windows: Any = bpy.context.window_manager
    windows.dcc_bridge_items["Cube"].is_kept = False


def show_list() -> None:
    """Press the button that leads from the dialog to the sidebar."""
    operators: Any = bpy.ops
    operators.dcc_bridge.press("INVOKE_DEFAULT", answer="show_list")


def story() -> None:
    """Click on the newest row of the history."""
    panel = sys.modules[f"{ADDON}.ui.panel"]
    operators: Any = bpy.ops
    newest = panel.shown.view.history(1)[0]
    operators.dcc_bridge.code("INVOKE_DEFAULT", key=newest.id)


def oldest() -> None:
    """Click on the oldest row of the history that can be undone with all after it."""
    view = sys.modules[f"{ADDON}.ui.panel"].shown.view
    undoable = [call for call in view.history(100) if view.undo_list(call.id).acts]
    operators: Any = bpy.ops
    operators.dcc_bridge.code("INVOKE_DEFAULT", key=undoable[-1].id)


def press_pending(verb: str) -> None:
    """Press a button of the edits that asked nothing."""
    row = sys.modules[f"{ADDON}.ui.panel"].shown.view.pending
    press(verb, row.key)


def filter_history(kind: str = "all", text: str = "") -> None:
    windows: Any = bpy.context.window_manager
    windows.dcc_bridge_history.kind = kind
    windows.dcc_bridge_history.text = text


def dismiss() -> None:
    """Close the question that waits, if a test has left one."""
    dialog = sys.modules[f"{ADDON}.plugin"]._running.surface.presenter.dialog
    if dialog is not None:
        reply = sys.modules["dcc_bridge.elicitation.question"].Reply
        dialog.answered(reply("cancel"))


def go() -> None:
    """Go to the question that waits, as its key and its button in the top bar do."""
    operators: Any = bpy.ops
    if operators.dcc_bridge.go.poll():
        operators.dcc_bridge.go()


def press(verb: str, key: str = "") -> None:
    operators: Any = bpy.ops
    operators.dcc_bridge.act(key=key, verb=verb)


def cancel_call() -> None:
    """Press the button of the oldest call that runs."""
    running = sys.modules[f"{ADDON}.plugin"]._running
    oldest = next(it for it in running.bridge.recent.records() if it.state == "running")
    press("cancel", oldest.id)


def find_verb() -> list[int] | None:
    """Give the place on the screen of the button that deletes, once it takes a click."""
    from PySide6.QtWidgets import QApplication, QPushButton  # only where Qt was started

    for button in QApplication.allWidgets():
        if not (isinstance(button, QPushButton) and "elete" in button.text()):
            continue
        if button.isVisible() and button.isEnabled():
            at = button.mapToGlobal(button.rect().center())
            return [at.x(), at.y()]
    return None


def reload() -> None:
    addon_utils.disable(ADDON)
    addon_utils.enable(ADDON)


def disable() -> None:
    """Switch the add-on off for good, as in the preferences."""
    bpy.ops.preferences.addon_disable(module=ADDON)
    bpy.ops.wm.save_userpref()


def count() -> None:
    global begun, last
    begun = last = time.monotonic()
    seen.update(ticks=0, frames=0, gap=0.0)


def rest() -> None:
    global begun
    begun = 0.0


def tick() -> None:
    """Have the 3D view drawn, and see how long that took."""
    global last
    now = time.monotonic()
    seen.update(ticks=seen["ticks"] + 1, gap=max(seen["gap"], now - last))
    last = now
    window: Any = bpy.context.window_manager
    for area in window.windows[0].screen.areas:
        if area.type == "VIEW_3D":
            area.tag_redraw()


def text_editor_drawn() -> None:
    seen["text_editors_drawn"] = seen.get("text_editors_drawn", 0) + 1


def frame() -> None:
    seen["frames"] = seen.get("frames", 0) + 1


def render() -> None:
    """Begin a render as F12 does, that takes some seconds and shows no window."""
    seen.update(renders=[], torn=False)
    preferences.view.render_display_type = "NONE"
    scene: Any = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1 << 20
    scene.cycles.time_limit = 5
    scene.cycles.use_denoising = False  # Debian's is built without
    scene.render.resolution_x = scene.render.resolution_y = 64
    bpy.ops.render.render("INVOKE_DEFAULT")


def button() -> None:
    operators: Any = bpy.ops
    operators.person.button()


class Button(bpy.types.Operator):
    """Asks, as a button of a studio's own would."""

    bl_idname = "person.button"
    bl_label = "Ask"

    def execute(self, context: bpy.types.Context) -> Any:
        from dcc_bridge import confirm_sync

        try:
            confirm_sync("Go on?")
        except Exception as error:  # noqa: BLE001 - the test reads it
            seen["told"] = str(error)
        return {"FINISHED"}


def load() -> None:
    file = str(HOME / "other.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file, copy=True)
    bpy.ops.wm.open_mainfile(filepath=file)


def open_slowly() -> None:
    """Open another file, and end the timer's turn only when a call waits."""
    main = sys.modules[f"{ADDON}.plugin"]._running.loop.main
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    (HOME / "opened").touch()
    limit = time.monotonic() + 20
    while not main.waiting and time.monotonic() < limit:
        time.sleep(0.01)
    seen["waited"] = main.waiting


def fill() -> None:
    """Put a circle of cameras around a monkey's head, each looking at it, up in the left."""
    bpy.data.objects["Cube"].scale.z = 0.2
    context: Any = bpy.context
    for number in range(12):
        angle = math.tau * number / 12
        place = (5 * math.cos(angle), 5 * math.sin(angle), 1.5)
        turned = (math.radians(86), 0, (angle + math.pi / 2) % math.tau)
        bpy.ops.object.camera_add(location=place, rotation=turned)
        context.object.name = f"shot_{number + 1:02}0_cam"
    bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 1.2), rotation=(0, 0, math.radians(40)))
    areas = context.window_manager.windows[0].screen.areas
    (view,) = [area.spaces.active.region_3d for area in areas if area.type == "VIEW_3D"]
    view.view_distance = 24
    view.view_location = view.view_rotation @ Vector((4, -3, 0))
    bpy.ops.ed.undo_push(message="Fill")


def pictured() -> Any:
    """Import what no add-on brings."""
    sys.path.append(str(Path(__file__).parents[2]))
    try:
        from tests.hosts import pictured
    finally:
        sys.path.pop()
    return pictured


def pictures() -> None:
    """Write down the pictures of the question that waits."""
    running = sys.modules[f"{ADDON}.plugin"]._running
    assert pictured().note(running.bridge.broker.open, HOME)


WORDS: Final[dict[str, Callable[[], object]]] = {
    "reload": reload,
    "disable": disable,
    "render": render,
    "load": load,
    "open_slowly": open_slowly,
    "write": write,
    "take_time": lambda: pictured().take_time(),
    "pictures": pictures,
    "state": state,
    "fill": fill,
    "turntable": turntable,
    "count": count,
    "rest": rest,
    "button": button,
    "sidebar": sidebar,
    "card": card,
    "text": text,
    "untick_cube": untick_cube,
    "show_list": show_list,
    "story": story,
    "oldest": oldest,
    "keep": lambda: press_pending("keep"),
    "undo_last": lambda: press_pending("undo_last"),
    "list_failed": lambda: filter_history("failed"),
    "search_nothing": lambda: filter_history(text="no such words"),
    "list_all": filter_history,
    "go": go,
    "dismiss": dismiss,
    "cancel_call": cancel_call,
    "pause": lambda: press("pause"),
    "find_clients": lambda: press("look", "local/"),
    "connect_cursor": lambda: press("add", "local/cursor"),
    "take_back": lambda: press("undo", sys.modules[f"{ADDON}.ui.panel"].shown.view.undo_label),
    "new": lambda: bpy.ops.wm.read_homefile(use_factory_startup=True),
    "close": bpy.ops.wm.quit_blender,
}


def look() -> float:
    global obeyed
    if begun:
        tick()
    if bpy.app.is_job_running("RENDER") and "Cube" not in bpy.data.objects:
        seen["torn"] = True
    orders = ORDERS.read_text(encoding="utf-8").splitlines() if ORDERS.exists() else []
    if len(orders) > obeyed:
        order = orders[obeyed]
        obeyed += 1
        with open(HOME / "done", "a", encoding="utf-8") as out:
            try:
                WORDS[order]()
            except Exception:  # noqa: BLE001 - the test reads it
                traceback.print_exc()
            out.write(f"{order}\n")
    return 0.05


faulthandler.enable()
preferences: Any = bpy.context.preferences
preferences.view.show_splash = False
bpy.utils.register_class(Button)
bpy.types.SpaceView3D.draw_handler_add(frame, (), "WINDOW", "POST_PIXEL")
bpy.types.SpaceTextEditor.draw_handler_add(text_editor_drawn, (), "WINDOW", "POST_PIXEL")
for told, word in (("render_complete", "complete"), ("render_cancel", "cancel")):
    getattr(bpy.app.handlers, told).append(
        bpy.app.handlers.persistent(lambda *_, word=word: seen["renders"].append(word))
    )
bpy.app.timers.register(look, persistent=True)
