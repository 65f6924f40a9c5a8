"""A question as a dialog of Blender's own: an operator that is made for it.

Its header is ours. Nothing is chosen at first where something may be lost, so Enter and OK alone
agree to nothing: they show the dialog again. Nor does what is pressed in its first moment: Blender
gives each choice a letter, and that was meant for something else. Esc, and a click beside it,
cancel. Main thread.
"""

from __future__ import annotations

import textwrap
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import bpy

from dcc_bridge.elicitation import wording
from dcc_bridge.elicitation.question import HandOver, PresenterEvent, Question, Reply
from dcc_bridge.elicitation.schema import Form
from dcc_bridge.elicitation.text import safe_line, safe_text
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.host import Host
from dcc_bridge.hosts.blender.blender_loop import redraw

from .fields import Fields
from .ticket import Ticket

WIDTH: Final = 520
_COLUMNS: Final = 84
"""Characters of a line in it."""
_MOST_LINES: Final = 24
_MOST_ITEMS: Final = 20
_CHOOSE: Final = "Choose below what you want, then press OK."
_ARM: Final = 0.4
"""Seconds after which a dialog takes an answer."""
_Answered = Callable[[Ticket, PresenterEvent | str], None]

_made: list[type[bpy.types.Operator]] = []
_shown: list[bpy.types.Operator] = []


def show(ticket: Ticket, host: Host, answered: _Answered) -> None:
    """Open the dialog. A window has to be the current one.

    Args:
        ticket: What to ask.
        host: Where.
        answered: Called with the answer, or with what is wrong with it.
    """
    forget()
    made = _operator(ticket, host, answered)
    bpy.utils.register_class(made)
    _made.append(made)
    _shown.clear()
    ticket.opened = time.monotonic()
    operators: Any = bpy.ops
    operators.dcc_bridge.question("INVOKE_DEFAULT", **ticket.typed)
    redraw()  # it is drawn with the next event only


def is_shown() -> bool:
    """Whether the dialog is there still; what pops up goes without a word with another file."""
    try:
        return bool(_shown and _shown[0].as_pointer())
    except ReferenceError:
        return False


def dismiss() -> None:
    """Close the dialog that is open: putting the screen in its place again closes what pops up."""
    windows = bpy.context.window_manager
    for window in windows.windows if windows is not None else ():
        with bpy.context.temp_override(window=window):
            window.screen = window.screen


def forget() -> None:
    """Unregister the operator of the last question, which must not be running."""
    while _made:
        bpy.utils.unregister_class(_made.pop())


def _operator(ticket: Ticket, host: Host, answered: _Answered) -> type[bpy.types.Operator]:
    question = ticket.question
    agreed = question.confirmation
    fields = Fields(question.form if question.form and agreed is None else Form((), {}))
    heard: list[object] = []

    def hear(what: PresenterEvent | str) -> set[str]:
        if not heard:
            heard.append(what)
            answered(ticket, what)
        return {"FINISHED"}

    class Ask(bpy.types.Operator):
        """Answers an agent's question."""

        bl_idname = "dcc_bridge.question"
        bl_label = safe_line(f"{host.name}: a question for you")
        bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape
        __annotations__ = _annotations(ticket, fields)

        def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
            _shown[:] = [self]
            windows: Any = context.window_manager
            return windows.invoke_props_dialog(self, width=WIDTH)

        def draw(self, context: bpy.types.Context) -> None:
            _draw(self, self.layout, ticket, host, fields)

        def execute(self, context: bpy.types.Context) -> Any:
            ticket.typed = _typed(self)
            return hear(_answer(self, ticket, fields))

        def cancel(self, context: bpy.types.Context) -> None:
            hear(Reply("cancel"))

    return Ask


def _annotations(ticket: Ticket, fields: Fields) -> dict[str, Any]:
    """Give the operator's properties: the fields, the choice, and what goes with it."""

    def touch(_: Any, __: Any) -> None:
        ticket.is_touched = True

    def choose(operator: Any, _: Any) -> None:
        ticket.is_touched = True
        if not _is_armed(ticket) and "answer" in operator:
            del operator["answer"]

    more: dict[str, Any] = {"options": {"SKIP_SAVE"}, "update": touch}
    return {
        **fields.properties(touch),
        "answer": bpy.props.EnumProperty(
            items=_ways(ticket.question),
            default=set() if ticket.question.consent else {"accept"},
            options={"ENUM_FLAG", "SKIP_SAVE"},
            update=choose,
        ),
        "word": bpy.props.StringProperty(**more),
        "remember": bpy.props.BoolProperty(**more),
    }


def _is_armed(ticket: Ticket) -> bool:
    return time.monotonic() > ticket.opened + _ARM


def _answer(operator: Any, ticket: Ticket, fields: Fields) -> PresenterEvent | str:
    chosen = set(operator.answer)
    if len(chosen) != 1 or not _is_armed(ticket):
        return _CHOOSE
    match chosen.pop():
        case "decline":
            return Reply("decline")
        case "mute":
            return Reply("decline", mute=True)
        case "hand_over":
            return HandOver()
    return _agreed(operator, ticket.question, fields)


def _agreed(operator: Any, question: Question, fields: Fields) -> PresenterEvent | str:
    word = wording.word_of(question, _verb(question))
    if not question.undoable and operator.word.strip() != word:
        return f"This cannot be undone: type {safe_line(word)} to go on."
    agreed = question.confirmation
    if agreed is not None:
        return Reply("accept", {agreed.name: True}, remember=operator.remember)
    content = fields.content(operator)
    try:
        if question.form is not None:
            question.form.check(content)
    except InvalidAnswer as error:
        return str(error)
    return Reply("accept", content, remember=operator.remember)


def _typed(operator: Any) -> dict[str, Any]:
    """Keep what stands in the fields, but for the choice: that is made anew."""
    names = [name for name in type(operator).__annotations__ if name != "answer"]
    return {name: getattr(operator, name) for name in names}


def _verb(question: Question) -> str:
    agreed = question.confirmation
    return agreed.title if agreed is not None else question.title or "Send"


def _ways(question: Question) -> list[tuple[str, str, str]]:
    offers = question.offers
    ways = [("accept", safe_line(_verb(question), 60), ""), ("decline", "Decline", "")]
    if offers.hand_over is not None:
        ways.append(("hand_over", f"Ask in {safe_line(offers.hand_over, 24)}", ""))
    if offers.mute is not None:
        who = safe_line(offers.mute, 24)
        ways.append(("mute", f"Decline, and mute {who} for 10 minutes", ""))
    return ways


def _draw(operator: Any, layout: Any, ticket: Ticket, host: Host, fields: Fields) -> None:
    question = ticket.question
    _draw_header(layout.box(), question, host)
    if ticket.wrong or question.reason:
        _say(layout, str(ticket.wrong or question.reason), icon="ERROR")
    if question.title and question.title not in (_verb(question), question.call.title):
        _say(layout, question.title)
    _say(layout, safe_text(question.message))
    if question.items:
        _draw_items(layout.box(), question)
    fields.draw(operator, layout)
    _draw_undoing(operator, layout, question)
    if question.offers.remember is not None:
        who, most = safe_line(question.offers.mute or "this client", 24), question.offers.remember
        layout.prop(
            operator, "remember", text=f"Do not ask {who} again this session, up to {most:,} items"
        )
    layout.separator()
    layout.column().prop(operator, "answer", expand=True)
    left = ticket.deadline - time.monotonic()
    until = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
    layout.label(text=f"Waits until {until}. Esc gives no answer.", translate=False)


def _draw_header(box: Any, question: Question, host: Host) -> None:
    """Say who asks, where a message cannot."""
    call = question.call
    place = f"{host.name} {host.version} · {safe_line(host.scene(), 60)}"
    client = call.client
    asker = safe_line(client.label, 60) if client else f"{host.name} itself"
    if client and client.name:
        asker += f", calls itself {safe_line(f'{client.name} {client.version}'.strip(), 40)}"
    column = box.column(align=True)
    column.label(text=place, icon="BLENDER", translate=False)
    column.label(text=f"Asked by: {asker}", translate=False)
    column.label(text=f"Skill: {safe_line(call.title, 60)}", translate=False)


def _draw_items(box: Any, question: Question) -> None:
    kinds = (question.consent and question.consent.kinds) or ("",) * len(question.items)
    counts = ", ".join(f"{n:,} {kind}" for kind, n in Counter(filter(None, kinds)).most_common(8))
    total = f"{len(question.items):,} items" if len(question.items) != 1 else "1 item"
    box.label(text=f"{total}: {counts}" if counts else total, translate=False)
    shown = list(zip(question.items, kinds, strict=False))[:_MOST_ITEMS]
    columns = 1 if len(shown) <= _MOST_ITEMS // 2 else 2
    grid = box.grid_flow(columns=columns, even_columns=True, align=True)
    for item, kind in shown:
        grid.label(text=safe_line(item, 40), icon=_icon(kind), translate=False)
    more = len(question.items) - len(shown)
    if more > 0:
        box.label(text=f"… and {more:,} more", translate=False)


def _draw_undoing(operator: Any, layout: Any, question: Question) -> None:
    if question.consent is None:
        return
    if question.undoable:
        layout.label(text="Can be undone as one step (Ctrl Z).", translate=False)
        return
    kept = (
        f" A copy is kept first, in {safe_line(question.consent.kept)}"
        if question.consent.kept
        else ""
    )
    _say(layout, f"This can NOT be undone.{kept}", icon="ERROR")
    word = wording.word_of(question, _verb(question))
    layout.prop(operator, "word", text=f"Type {safe_line(word, 40)}")


def _say(layout: Any, text: str, icon: str = "NONE") -> None:
    """Write a text; Blender does not break lines by itself."""
    lines = [part for line in text.split("\n") for part in textwrap.wrap(line, _COLUMNS) or [""]]
    if len(lines) > _MOST_LINES:
        more = len(lines) - _MOST_LINES
        lines = [*lines[:_MOST_LINES], f"… {more} more lines are not shown here"]
    column = layout.column(align=True)
    for at, line in enumerate(lines):
        column.label(text=line, icon=icon if at == 0 else "NONE", translate=False)


def _icon(kind: str) -> str:
    layout: Any = bpy.types.UILayout
    known = layout.bl_rna.functions["label"].parameters["icon"]
    icon = f"OUTLINER_OB_{kind}"
    return icon if icon in known.enum_items else "OBJECT_DATA"
