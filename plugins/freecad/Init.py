"""What FreeCAD runs first, also in ``freecadcmd``. There is nothing to do before there is a window.

A farm's interpreter serves only when it is told to. Main thread.
"""
