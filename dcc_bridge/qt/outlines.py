"""Colours of controls that can be seen and read in any palette of the host. Main thread.

Qt's own style outlines a control in a darker shade of the palette's window colour, and the control
with the focus in a darker shade of the highlight colour: on a dark ground an empty check box cannot
be seen. So `draw_outlines` gives each control a palette in which these two colours are changed just
enough. A style that takes its outlines from elsewhere does not change. The example in an empty line
is made as bright as a text has to be, and stays fainter than what is typed; so is the text of a row
that is chosen in a list.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dcc_bridge.qt import binding as qt

_MIN_CONTRAST: Final = 3.3
"""The contrast of an outline. The Web Content Accessibility Guidelines ask for 3.0 (1.4.11); a
style loses some contrast where it rounds a corner."""
_MIN_TEXT_CONTRAST: Final = 4.8
"""The contrast of an example in an empty line, and of a chosen row. The guidelines ask for 4.5
(1.4.3); smoothing takes some of it away."""
_MIN_EDGE_CONTRAST: Final = 3.1  # of an edge that is drawn with its very colour
# The factors of `QColor.darker` and `QColor.lighter`, in percent, by which the style draws
_SHADE_PERCENT: Final = 140  # an outline, darker than the window
_FOCUS_SHADE_PERCENT: Final = 125  # the outline of the control with the focus, than the highlight
_SOFT_PERCENT: Final = 110  # a check box and a frame, lighter than these outlines
_STEPS: Final = 50  # from a colour to the colour of text
_RED: Final = "#d63a34"
"""The red of a button that loses something. White text on it has a contrast of 4.6."""
_Role: Final = qt.QPalette.ColorRole
_CHANGED_ROLES: Final = (
    _Role.Window,
    _Role.Highlight,
    _Role.HighlightedText,
    _Role.PlaceholderText,
)
_FRAMED: Final = (qt.QAbstractItemView, qt.QPlainTextEdit)
_CONTROLS: Final = (*_FRAMED, qt.QAbstractButton, qt.QLineEdit, qt.QComboBox)


def contrast(one: qt.QColor, other: qt.QColor) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def outlined(palette: qt.QPalette, *, is_framed: bool = False) -> qt.QPalette:
    """Return a palette for controls whose outlines can be seen on the grounds of a palette.

    Main thread. It raises nothing.

    Args:
        palette: The palette of the widget on which the control stands.
        is_framed: Whether the style draws a frame around the control that does not change with the
            focus.

    Returns:
        A copy of the palette with other colours.
    """
    control = qt.QPalette(palette)
    window = palette.color(_Role.Window)
    control.setColor(_Role.Window, _visible_colour(window, _SHADE_PERCENT, palette))
    control.setColor(_Role.PlaceholderText, _readable_example(palette))
    highlight = palette.color(_Role.Highlight)
    if is_framed:  # its frame is not drawn with this colour, but the ground of a chosen row is
        control.setColor(_Role.Highlight, _readable_ground(palette))
        return control
    new_highlight = _visible_colour(highlight, _FOCUS_SHADE_PERCENT, palette)
    if new_highlight != highlight:
        inks = (palette.color(_Role.HighlightedText), window, palette.color(_Role.WindowText))
        ink = max(inks, key=lambda colour: contrast(colour, new_highlight))
        control.setColor(_Role.Highlight, new_highlight)
        control.setColor(_Role.HighlightedText, ink)
    return control


class LosingColours(NamedTuple):
    """The colours of a button that loses something.

    Attributes:
        fill: The ground of the button.
        ink: The colour of the text.
        edge: The colour of the outline.
    """

    fill: qt.QColor
    ink: qt.QColor
    edge: qt.QColor


def losing_colours(palette: qt.QPalette) -> LosingColours:
    """Return the colours of a button that loses something, on the ground of a palette.

    Main thread. It raises nothing.
    """
    fill = qt.QColor(_RED)
    window = palette.color(_Role.Window)
    ink = palette.color(_Role.WindowText)
    edge = fill
    for step in range(_STEPS + 1):
        edge = _mix(fill, ink, step / _STEPS)
        if contrast(edge, window) >= _MIN_EDGE_CONTRAST:
            break
    return LosingColours(fill, qt.QColor(qt.Qt.GlobalColor.white), edge)


def quieter(ink: qt.QColor, ground: qt.QColor, share: float) -> qt.QColor:
    """Mix the colour of a text with its ground, as far as the text can still be read.

    Args:
        ink: The colour of the text.
        ground: The colour of what is behind it.
        share: The share of `ink` where that is enough.
    """
    for step in range(_STEPS + 1):
        mixed = _mix(ground, ink, share + (1 - share) * step / _STEPS)
        if contrast(mixed, ground) >= _MIN_TEXT_CONTRAST:
            return mixed
    return ink


def draw_outlines(window: qt.QWidget) -> None:
    """Outline the controls in a window; again after the window got other controls or colours."""
    framed = outlined(window.palette(), is_framed=True)
    unframed = outlined(window.palette())
    for kind in _CONTROLS:
        palette = unframed
        if kind in _FRAMED:
            palette = framed
        for control in window.findChildren(kind):
            _apply(control, palette)


def _apply(control: qt.QWidget, wanted: qt.QPalette) -> None:
    """Set the colours of a control that `outlined` has changed, where they differ."""
    palette = control.palette()
    is_changed = False
    for role in _CHANGED_ROLES:
        if palette.color(role) != wanted.color(role):
            palette.setColor(role, wanted.color(role))
            is_changed = True
    if is_changed:
        control.setPalette(palette)


def _readable_example(palette: qt.QPalette) -> qt.QColor:
    """Mix in as little of the text colour as makes the example in an empty line readable."""
    ground = palette.color(_Role.Base)
    ink = palette.color(_Role.Text)
    example = palette.color(_Role.PlaceholderText)
    opaque = _mix(ground, example, example.alphaF())
    for step in range(_STEPS + 1):
        mixed = _mix(opaque, ink, step / _STEPS)
        if contrast(mixed, ground) >= _MIN_TEXT_CONTRAST:
            return mixed
    return ink


def _readable_ground(palette: qt.QPalette) -> qt.QColor:
    """Mix in as little black or white as makes the text of a chosen row readable."""
    ground = palette.color(_Role.Highlight)
    ink = palette.color(_Role.HighlightedText)
    extremes = (qt.QColor("black"), qt.QColor("white"))
    end = max(extremes, key=lambda colour: contrast(colour, ink))
    for step in range(_STEPS + 1):
        mixed = _mix(ground, end, step / _STEPS)
        if contrast(mixed, ink) >= _MIN_TEXT_CONTRAST:
            return mixed
    return end


def _visible_colour(colour: qt.QColor, shade: int, palette: qt.QPalette) -> qt.QColor:
    """Mix in as little of the text colour as makes a colour's darker shade visible.

    Args:
        colour: The colour to begin from.
        shade: The factor in percent by which the style darkens the colour.
        palette: The palette with the grounds and the text colour.
    """
    ink = palette.color(_Role.WindowText)
    grounds = (palette.color(_Role.Window), palette.color(_Role.Base))
    for step in range(_STEPS + 1):
        mixed = _mix(colour, ink, step / _STEPS)
        outline = mixed.darker(shade)
        soft_outline = outline.lighter(_SOFT_PERCENT)
        contrasts = []
        for ground in grounds:
            contrasts.append(contrast(outline, ground))
            contrasts.append(contrast(soft_outline, ground))
        if min(contrasts) >= _MIN_CONTRAST:
            return mixed
    return ink


def _mix(start: qt.QColor, end: qt.QColor, share: float) -> qt.QColor:
    """Mix two colours, with that share of the second one."""
    red = start.red() + (end.red() - start.red()) * share
    green = start.green() + (end.green() - start.green()) * share
    blue = start.blue() + (end.blue() - start.blue()) * share
    return qt.QColor(round(red), round(green), round(blue))


def _luminance(colour: qt.QColor) -> float:
    """Return the relative luminance of a colour, as WCAG 2 defines it, from 0 to 1."""
    red = _linear(colour.red() / 255)
    green = _linear(colour.green() / 255)
    blue = _linear(colour.blue() / 255)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(component: float) -> float:
    """Return a component of a colour, 0 to 1, without the gamma of sRGB."""
    if component <= 0.04045:
        return component / 12.92
    return float(((component + 0.055) / 1.055) ** 2.4)
