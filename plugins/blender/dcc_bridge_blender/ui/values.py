"""The values that a person fills in for a question: properties of Blender's window manager.

The dialog and the sidebar draw the same values. Blender drops them where a file is opened, so they
are kept and put back. Main thread.
"""

from __future__ import annotations

import itertools
from typing import Any, Final

import bpy

_PROPERTY: Final = "dcc_bridge_answer"  # of the window manager
_numbers = itertools.count()
_classes: list[type[bpy.types.PropertyGroup]] = []


class Values:
    """The values of one question, from `make` until `drop`.

    Attributes:
        kept: The values as they were when `keep` was called last, by their names.
        is_quiet: Whether a value is set that the person did not change.
    """

    def __init__(self) -> None:
        """Begin without values."""
        self._names: tuple[str, ...] = ()
        self.kept: dict[str, Any] = {}
        self.is_quiet = False

    @property
    def is_made(self) -> bool:
        """Whether there are values."""
        return bool(self._names)

    @property
    def group(self) -> Any:
        """The object of Blender's that has the values as properties."""
        return getattr(bpy.context.window_manager, _PROPERTY)

    def make(self, properties: dict[str, Any]) -> None:
        """Let Blender know the properties.

        The class of the last question stays known: its buttons may be on the screen still.

        Args:
            properties: The annotations of the properties by their names.
        """
        _forget(most=1)
        name = f"DCC_BRIDGE_answer_{next(_numbers)}"
        made = type(name, (bpy.types.PropertyGroup,), {"__annotations__": properties})
        bpy.utils.register_class(made)
        _classes.append(made)
        windows: Any = bpy.types.WindowManager
        setattr(windows, _PROPERTY, bpy.props.PointerProperty(type=made))
        self._names = tuple(properties)

    def keep(self) -> None:
        """Keep the values as they are now."""
        if self.is_made:
            group = self.group
            self.kept = {name: getattr(group, name) for name in self._names}

    def put_back(self) -> None:
        """Set the values that were kept last."""
        self.is_quiet = True
        for name, value in self.kept.items():
            setattr(self.group, name, value)
        self.is_quiet = False

    def drop(self) -> None:
        """Leave no value in Blender. Harmless the second time."""
        windows: Any = bpy.context.window_manager
        if self.is_made and windows is not None:
            windows.property_unset(_PROPERTY)
        self._names = ()


def _forget(*, most: int) -> None:
    """Unregister the classes but the newest."""
    while len(_classes) > most:
        bpy.utils.unregister_class(_classes.pop(0))


def unregister() -> None:
    """Take the properties out."""
    windows: Any = bpy.types.WindowManager
    if hasattr(windows, _PROPERTY):
        delattr(windows, _PROPERTY)
    _forget(most=0)
