"""Renders pictures of a saved file, in a Blender without a window.

``blender -b --python render_process.py -- FOLDER``: the folder has the file and the job. The bridge
is not running here, and nothing of it is imported. What the process that waits has to know is
written to a file of its own, a JSON object a line: `{"done": 1}`, `{"note": "..."}`,
`{"error": "..."}`, `{"ended": true}`. This process ends with the one that has started it.

No script of the file runs: the person may not trust the file, and a text that an agent has written
into it would run without a question.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import threading
from pathlib import Path
from typing import Any, Final

import bpy
from mathutils import Matrix

FILE: Final = "scene.blend"
JOB: Final = "job.json"
FORMATS: Final = {".png": "PNG", ".jpg": "JPEG", ".exr": "OPEN_EXR", ".tif": "TIFF"}
"""Blender's name of each format, by the suffix."""
TOLD: Final = "told.jsonl"
_QUALITIES: Final = (90, 75, 60, 45, 30, 15)  # of a JPEG that has to be small
_NO_DENOISER: Final = "without OpenImageDenoise"  # in the error of Debian's Blender
_REMOVALS: Final = 5  # of the folder, into which the other thread may write meanwhile
_OURS: Final = "dcc_bridge render"


class Teller:
    """Tells the process that waits what has happened."""

    def __init__(self, folder: Path) -> None:
        """Tell it in a file of a folder."""
        self._file = folder / TOLD

    def tell(self, **facts: Any) -> None:
        """Write a line."""
        with self._file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(facts) + "\n")


def main(folder: Path) -> None:
    """Render what a folder's job says, and end this process."""
    is_alone = threading.Event()
    watch = threading.Thread(target=_end_with_parent, args=(folder, is_alone), daemon=True)
    watch.start()
    code = 1
    try:
        _render_and_tell(folder)
        code = 0
    finally:
        if is_alone.is_set():
            watch.join()  # the end of this process, once the folder is gone
        # At its usual end Python, or Blender 4.5, would wait for the thread that reads.
        os._exit(code)


def _end_with_parent(folder: Path, is_alone: threading.Event) -> None:
    """End once the process that waits is gone, which holds the other end of stdin."""
    while os.read(0, 1):
        pass
    is_alone.set()
    for _ in range(_REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _render_and_tell(folder: Path) -> None:
    teller = Teller(folder)
    try:
        _render_all(folder, teller)
    except Exception as error:  # noqa: BLE001 - whatever Blender raises is told
        teller.tell(error=str(error).strip())
    teller.tell(ended=True)


def _render_all(folder: Path, teller: Teller) -> None:
    job = json.loads((folder / JOB).read_text(encoding="utf-8"))
    bpy.ops.wm.open_mainfile(filepath=str(folder / FILE), load_ui=False, use_scripts=False)
    scene = bpy.data.scenes.get(job["scene"]) or bpy.context.scene
    assert scene is not None  # Blender always has one
    if not _name(scene):
        scene.name = "Scene"  # in the copy, for the operator takes a name
    _prepare(scene, job, teller)
    own_camera = scene.camera
    for number, picture in enumerate(job["pictures"], 1):
        scene.frame_set(picture["frame"])
        _aim(scene, picture, own_camera)
        _render(scene, picture, folder, job["max_bytes"], teller)
        teller.tell(done=number)
    if bpy.app.autoexec_fail:
        teller.tell(note="The scripts and Python drivers of the file do not run in a render.")


def _prepare(scene: Any, job: dict[str, Any], teller: Teller) -> None:
    """Set how the scene is rendered."""
    render = scene.render
    render.resolution_x, render.resolution_y = job["size"]
    render.resolution_percentage = 100
    render.use_border = False
    render.use_file_extension = True
    render.use_overwrite = True
    render.use_multiview = False
    if hasattr(render.image_settings, "media_type"):  # since 5.0
        render.image_settings.media_type = "IMAGE"
    muted = _mute_outputs()
    if muted:
        teller.tell(note=f"The compositor wrote no files: nodes that would have: {muted}.")
    if render.engine != "CYCLES" and not _has_display() and hasattr(scene, "cycles"):
        teller.tell(note=f"There is no display for {render.engine}: Cycles rendered it.")
        render.engine = "CYCLES"
        scene.cycles.device = "CPU"
    if job["samples"]:
        _set_samples(scene, job["samples"])


def _mute_outputs() -> int:
    """Have no compositor write files, and return how many nodes would have.

    The person was asked about none of these files. Other scenes may be rendered as strips.
    """
    trees = [*bpy.data.node_groups]
    for scene in bpy.data.scenes:
        trees.append(getattr(scene, "node_tree", None))  # until 5.0
    muted = 0
    for tree in trees:
        for node in tree.nodes if tree else ():
            if node.type == "OUTPUT_FILE" and not node.mute:
                node.mute = True
                muted += 1
    return muted


def _has_display() -> bool:
    """Return whether what draws with the graphics card can work here."""
    return sys.platform != "linux" or bool({"DISPLAY", "WAYLAND_DISPLAY"} & {*os.environ})


def _set_samples(scene: Any, samples: int) -> None:
    if scene.render.engine == "CYCLES":
        scene.cycles.samples = samples
    elif hasattr(scene, "eevee"):
        scene.eevee.taa_render_samples = samples


def _aim(scene: Any, picture: dict[str, Any], own_camera: Any) -> None:
    """Take a picture through its camera, or through one of our own that is placed for it."""
    name = picture.get("camera")
    if name is None:
        scene.timeline_markers.clear()  # a marker may change the camera at a frame
        scene.camera = _placed_camera(scene, picture)
        return
    camera = _camera(name, picture["linked"])
    if camera != own_camera:  # markers may change the scene's own at a frame
        scene.timeline_markers.clear()
        scene.camera = camera


def _camera(name: str, linked: bool) -> Any:
    for thing in bpy.data.objects:
        if _name(thing) == name and bool(thing.library) == linked:
            return thing
    raise LookupError(f"There is no camera {name} in the copy of the file.")


def _name(thing: Any) -> str:
    """Return a name, "" for one that is not UTF-8."""
    try:
        return str(thing.name)
    except UnicodeDecodeError:
        return ""


def _placed_camera(scene: Any, picture: dict[str, Any]) -> Any:
    camera = bpy.data.objects.get(_OURS)
    if camera is None:
        camera = bpy.data.objects.new(_OURS, bpy.data.cameras.new(_OURS))
        scene.collection.objects.link(camera)
    camera.matrix_world = Matrix(picture["matrix"])
    lens: Any = camera.data
    lens.clip_start = 0.01
    lens.clip_end = 1e5
    lens.sensor_fit = "VERTICAL"
    if picture["angle"]:
        lens.angle_y = math.radians(picture["angle"])
    else:
        lens.type = "ORTHO"
        lens.ortho_scale = picture["height"]
    return camera


def _render(
    scene: Any, picture: dict[str, Any], folder: Path, max_bytes: int, teller: Teller
) -> None:
    """Render one picture to its file."""
    file = Path(picture["file"])
    settings = scene.render.image_settings
    settings.file_format = FORMATS[file.suffix.lower()]
    scene.render.filepath = str(folder / "picture")
    try:
        bpy.ops.render.render(write_still=True, scene=scene.name)
    except RuntimeError as error:
        if _NO_DENOISER not in str(error):
            raise
        teller.tell(note="This Blender has no denoiser: the picture is not denoised.")
        scene.cycles.use_denoising = False
        bpy.ops.render.render(write_still=True, scene=scene.name)
    written = next(folder.glob("picture*"), None)
    if written is None:
        raise ValueError("No picture came out: has the compositor an output?")
    os.replace(written, file)
    if not max_bytes:
        return
    result = bpy.data.images.load(str(file))
    for quality in _QUALITIES:
        if file.stat().st_size <= max_bytes:
            break
        settings.quality = quality
        result.save_render(str(file), scene=scene)
    bpy.data.images.remove(result)


if __name__ == "__main__":
    main(Path(sys.argv[sys.argv.index("--") + 1]))
