"""Enables or disables the add-on in a user's preferences, by a Blender without a window.

A program of its own: ``blender -b --python enabling.py``. It asks nothing and prints what Blender
prints. Blender saves the preferences that it has read, with this one change. Tried with 3.4, 4.5,
5.2 and 5.3.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import bpy

NAME = "dcc_bridge_blender"
_UNSTARTED = (
    "it was not started yet, and would no longer offer to take over the settings of an older "
    "version. Start it once, and run this again"
)


def enable() -> str:
    """Enable the add-on, and save the preferences.

    Returns:
        The reason why it was not enabled; "" if it is.
    """
    if NAME in _addons():
        return ""
    if _would_offer_older_settings():
        return _UNSTARTED
    if _addon_utils().enable(NAME, default_set=True) is None:
        return "Blender cannot load it"
    return _save()


def disable() -> str:
    """Disable the add-on, whose files may be gone, and save the preferences.

    Returns:
        The reason why it was not disabled; "" if it is.
    """
    if NAME not in _addons():
        return ""
    _addon_utils().disable(NAME, default_set=True)
    return _save()


def _addon_utils() -> Any:
    """Return Blender's module, which Python finds once ``bpy`` is imported."""
    return import_module("addon_utils")


def _addons() -> Any:
    preferences: Any = bpy.context.preferences
    return preferences.addons


def _would_offer_older_settings() -> bool:
    """Return whether Blender offers that at its next start, as it does until it has preferences."""
    offers: Any = bpy.ops.preferences.copy_prev
    return bool(offers.poll())


def _save() -> str:
    try:
        done = bpy.ops.wm.save_userpref()
    except RuntimeError as error:
        return f"Blender cannot save its preferences: {str(error).strip()}"
    if "FINISHED" not in done:
        return "Blender did not save its preferences"
    return ""


if __name__ == "__main__":
    do = disable
    if os.environ["DCC_BRIDGE_ENABLE"] == "yes":
        do = enable
    why = do()
    Path(os.environ["DCC_BRIDGE_TELL"]).write_text(json.dumps({"why": why}), encoding="utf-8")
