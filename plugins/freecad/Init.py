"""FreeCAD runs this first, also in ``freecadcmd``. Without a window there is nothing to do.

A farm's interpreter serves only when it is told to. Main thread.
"""
