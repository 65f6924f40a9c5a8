"""Skills that no person would want: they fail, wait and look, for tests."""

import threading

import bpy

from dcc_bridge import confirm_sync, elicit_form_sync, skill
from dcc_bridge.elicitation.details import Details
from dcc_bridge_blender.loop import in_window

_NAME = {
    "type": "object",
    "properties": {"name": {"type": "string", "title": "Name"}},
    "required": ["name"],
}


@skill(risk="edit")
def add_object(name: str) -> str:
    """Add an empty."""
    made = bpy.data.objects.new(name, None)
    bpy.data.scenes[0].collection.objects.link(made)
    return made.name


@skill(risk="edit")
def break_off(name: str) -> None:
    """Add an object, and fail."""
    add_object(name)
    raise ValueError("halfway")


@skill(risk="edit")
def name_object(seconds: float | None = None) -> str:
    """Ask for a name, and add an object of that name."""
    answer = elicit_form_sync("What is it called?", _NAME, timeout=seconds)
    return add_object(answer.data["name"]) if answer.accepted else f"{answer.message}"


@skill(risk="edit")
def save_anyway(name: str) -> None:
    """Add an object, and save without a word."""
    add_object(name)
    bpy.ops.wm.save_mainfile()


@skill(risk="edit")
def open_anyway(path: str) -> None:
    """Open another file without a word."""
    bpy.ops.wm.open_mainfile(filepath=path)


@skill(risk="destructive", confirms=True)
def delete_more() -> None:
    """Ask for one, and delete another one as well."""
    confirm_sync("Delete it?", items=["Light"], verb="Delete")
    bpy.data.batch_remove([bpy.data.objects["Light"], bpy.data.objects["Cube"]])


@skill(risk="read")
def has_window() -> bool:
    """Tell whether there is a current window, as operators need one."""
    return bpy.context.window is not None


@skill(risk="edit", tried=False)  # a thread is not started twice
def push_beside_a_thread(times: int) -> None:
    """Run an operator again and again, while another thread runs Python."""
    ended: list[bool] = []

    def run() -> None:
        while not ended:
            str(ended)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        for _ in range(times):
            with in_window():
                bpy.ops.ed.undo_push(message="Pushed")
    finally:
        ended.append(True)
        thread.join()


@skill(risk="destructive", confirms=True)
def agree_to_text() -> None:
    """Ask about a text of two pages, in which a line differs and one is marked."""
    lines = [f"bpy.data.objects['cam_{n:03}'].location.x = {n / 7:.6f}" for n in range(30)]
    before = "\n".join(lines)
    lines[24] = (
        "bpy.data.objects.remove(bpy.data.objects['WWWWWWWW'], do_unlink=True)  # " + "M" * 80
    )
    text = "\n".join(lines)
    marks = ((25, "removes objects"),)
    confirm_sync("Run 30 lines?", verb="Run", details=Details(text, marks, before))
