"""Outlines by which a control can be seen on its ground, whatever the host's palette. Main thread.

Qt's own style outlines a control in a darker shade of its palette's window colour, and the one with
the focus in a darker shade of the highlight: on a dark ground an empty check box cannot be seen.
Each control gets colours of its own for these shades, and is else as the host has it. A style that
outlines in a way of its own takes no notice.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.qt import binding as qt

_LEAST: Final = 3.3
"""The contrast of an outline. The Web Content Accessibility Guidelines ask for 3.0 (1.4.11); a
style takes some of it back where it rounds a corner."""
_SHADE: Final = 140  # how much darker, in percent, the style draws an outline
_FOCUS_SHADE: Final = 125  # the same of the outline of what has the focus
_SOFTER: Final = 110  # how much lighter than that the style draws a check box and a frame
_STEPS: Final = 50
_Role: Final = qt.QPalette.ColorRole
_FRAMED: Final = (qt.QAbstractItemView, qt.QPlainTextEdit)
_CONTROLS: Final = (*_FRAMED, qt.QAbstractButton, qt.QLineEdit, qt.QComboBox)


def contrast(one: qt.QColor, other: qt.QColor) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def outlined(palette: qt.QPalette, *, is_framed: bool = False) -> qt.QPalette:
    """Return the palette of a control that stands on the grounds of another palette. Main thread.

    Its outline and focus are seen on any ground. It raises nothing.

    Args:
        palette: That of what the control stands on.
        is_framed: Whether the style draws a frame around it that does not change with the focus.

    Returns:
        A copy with other colours.
    """
    control = qt.QPalette(palette)
    window = palette.color(_Role.Window)
    control.setColor(_Role.Window, _seen(window, _SHADE, palette))
    highlight = palette.color(_Role.Highlight)
    seen = _seen(highlight, _FOCUS_SHADE, palette)
    if not is_framed and seen != highlight:
        inks = (palette.color(_Role.HighlightedText), window, palette.color(_Role.WindowText))
        control.setColor(_Role.Highlight, seen)
        control.setColor(_Role.HighlightedText, max(inks, key=lambda ink: contrast(ink, seen)))
    return control


def draw_outlines(window: qt.QWidget) -> None:
    """Outline the controls in a window. Again after it got others, or another palette."""
    framed = outlined(window.palette(), is_framed=True)
    other = outlined(window.palette())
    for kind in _CONTROLS:
        for control in window.findChildren(kind):
            _take(control, framed if kind in _FRAMED else other)


def _take(control: qt.QWidget, wanted: qt.QPalette) -> None:
    palette = control.palette()
    roles = (_Role.Window, _Role.Highlight, _Role.HighlightedText)
    other = [role for role in roles if palette.color(role) != wanted.color(role)]
    for role in other:
        palette.setColor(role, wanted.color(role))
    if other:
        control.setPalette(palette)


def _seen(colour: qt.QColor, shade: int, palette: qt.QPalette) -> qt.QColor:
    """Return a colour whose darker shade can be seen on a palette's grounds, or the nearest."""
    ink = palette.color(_Role.WindowText)
    grounds = (palette.color(_Role.Window), palette.color(_Role.Base))
    for step in range(_STEPS + 1):
        mixed = _mixed(colour, ink, step / _STEPS)
        drawn = mixed.darker(shade)
        softer = drawn.lighter(_SOFTER)
        least = min(contrast(line, ground) for line in (drawn, softer) for ground in grounds)
        if least >= _LEAST:
            return mixed
    return ink


def _mixed(one: qt.QColor, other: qt.QColor, part: float) -> qt.QColor:
    ends = ((one.red(), other.red()), (one.green(), other.green()), (one.blue(), other.blue()))
    red, green, blue = (round(start + (end - start) * part) for start, end in ends)
    return qt.QColor(red, green, blue)


def _luminance(colour: qt.QColor) -> float:
    red, green, blue = (
        _linear(part / 255) for part in (colour.red(), colour.green(), colour.blue())
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
