"""Renders pictures of a saved file, in a Blender without a window.

``blender -b --python render_process.py -- FOLDER``: the folder has the file and the job. The bridge
is not running here, and nothing of it is imported. Each line that begins with a mark is for the
process that waits.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import Any, Final

import bpy
from mathutils import Matrix

FILE: Final = "scene.blend"
JOB: Final = "job.json"
FORMATS: Final = {".png": "PNG", ".jpg": "JPEG", ".exr": "OPEN_EXR", ".tif": "TIFF"}
"""Blender's name of each format, by the suffix."""
DONE: Final = "dcc_bridge picture done"
NOTE: Final = "dcc_bridge note: "
END: Final = "dcc_bridge render ended"
_QUALITIES: Final = (90, 75, 60, 45, 30, 15)  # of a JPEG that has to be small
_NO_DENOISER: Final = "without OpenImageDenoise"  # in the error of Debian's Blender
_OURS: Final = "dcc_bridge render"


def main(folder: Path) -> None:
    """Render what a folder's job says."""
    job = json.loads((folder / JOB).read_text(encoding="utf-8"))
    bpy.ops.wm.open_mainfile(filepath=str(folder / FILE), load_ui=False)
    scene = bpy.data.scenes.get(job["scene"]) or bpy.context.scene
    assert scene is not None  # Blender always has one
    _prepare(scene, job)
    own_camera = scene.camera
    for picture in job["pictures"]:
        scene.frame_set(picture["frame"])
        _aim(scene, picture, own_camera)
        _render(scene, picture, folder, job["max_bytes"])
        print(DONE, flush=True)
    print(END, flush=True)


def _prepare(scene: Any, job: dict[str, Any]) -> None:
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
    _mute_outputs(scene)
    if render.engine != "CYCLES" and not _has_display() and hasattr(scene, "cycles"):
        print(f"{NOTE}There is no display for {render.engine}: Cycles rendered it.", flush=True)
        render.engine = "CYCLES"
        scene.cycles.device = "CPU"
    if job["samples"]:
        _set_samples(scene, job["samples"])


def _mute_outputs(scene: Any) -> None:
    """Have the compositor write no files: the person was asked about none of them."""
    tree = getattr(scene, "compositing_node_group", None) or getattr(scene, "node_tree", None)
    for node in tree.nodes if tree else ():
        if node.type == "OUTPUT_FILE" and not node.mute:
            node.mute = True
            print(f"{NOTE}The files of the node {node.name} were not written.", flush=True)


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
        if thing.name == name and bool(thing.library) == linked:
            return thing
    raise LookupError(f"There is no camera {name} in the copy of the file.")


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


def _render(scene: Any, picture: dict[str, Any], folder: Path, max_bytes: int) -> None:
    """Render one picture to its file."""
    file = Path(picture["file"])
    settings = scene.render.image_settings
    settings.file_format = FORMATS[file.suffix.lower()]
    scene.frame_start = scene.frame_end = picture["frame"]
    scene.render.filepath = str(folder / "picture")
    # As an animation of one frame: that is the frame, also of a scene that no window shows.
    try:
        bpy.ops.render.render(animation=True, scene=scene.name)
    except RuntimeError as error:
        if _NO_DENOISER not in str(error):
            raise
        print(f"{NOTE}This Blender has no denoiser: the picture is not denoised.", flush=True)
        scene.cycles.use_denoising = False
        bpy.ops.render.render(animation=True, scene=scene.name)
    written = Path(scene.render.frame_path(frame=picture["frame"]))
    if not written.exists():
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
