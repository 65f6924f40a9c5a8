"""What others still take of Blender's adapter from here; it is in its leaf."""

from dcc_bridge_blender import loop as blender_loop
from dcc_bridge_blender.host import BlenderHost

__all__ = ["BlenderHost", "blender_loop"]
