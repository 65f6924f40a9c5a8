"""Houdini's leaf, over its stand-in."""
