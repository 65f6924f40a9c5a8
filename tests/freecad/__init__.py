"""FreeCAD's leaf: adapter, operations and plug-in, most of it run by FreeCAD's own Python."""
