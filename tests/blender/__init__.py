"""Tests of Blender's leaf, most of them in the real application."""
