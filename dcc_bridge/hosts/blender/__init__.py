"""Blender, from 3.4 on: in its window, in ``blender -b``, and as the module ``bpy``. Main thread.

An item is an object's name, of a linked one with its library: ``Tree [//set.blend]``. No reference
to an object is kept: Blender's undo replaces them all, and one that is left dangles.

Source of the facts in this folder: measured with Debian's Blender 3.4.1 in a window and with the
wheels of bpy 4.5.15 and 5.2.3; the modules name theirs.
"""

from dcc_bridge.hosts.blender.blender_host import BlenderHost
from dcc_bridge.hosts.blender.blender_loop import BlenderLoop, in_window
from dcc_bridge.hosts.blender.blender_undo import watched

__all__ = ["BlenderHost", "BlenderLoop", "in_window", "watched"]
