"""WHAT THE PANEL SHOWS: a snapshot of a bridge, and its rows. Qt and Blender draw them."""
