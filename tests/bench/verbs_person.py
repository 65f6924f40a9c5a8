"""A person who agrees to everything at once."""

from __future__ import annotations

from dcc_bridge.elicitation.question import Question, Reply, Settle, TakeDown
from tests.stand_ins import Person


class Agreeing(Person):
    """Says yes, and leaves a form as it is filled in."""

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Agree."""
        fields = question.form.fields if question.form else ()
        settle(Reply("accept", {it.name: it.default for it in fields} | {"confirm": True}))
        return lambda reason: None
