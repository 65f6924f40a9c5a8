"""Skills for tests of the server, over a `FakeHost` and counting how often their body ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from dcc_bridge import elicit_form, elicit_form_sync, on_main, skill
from dcc_bridge.elicitation.question import Reply
from tests.stand_ins import FakeHost

CONFIRM: dict[str, Any] = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean", "title": "Delete"}},
    "required": ["confirm"],
}


NAME: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}
YES = Reply("accept", {"confirm": True})


class Skills:
    """The skills of one test."""

    def __init__(self, count: int = 127, *, has_ui: bool = False) -> None:
        self.host = FakeHost((f"cam{number}" for number in range(count)), has_ui=has_ui)
        self.ran: Counter[str] = Counter()

    def delete(
        self, fallback: dict[str, Any] | None = None, timeout: float | None = None
    ) -> Callable[..., Any]:
        """Make a destructive skill that asks once in mid-body, on the main thread.

        The question has its own `timeout`, where one is given: the call may wait longer than that.
        """

        @skill(risk="destructive", confirms=True)
        def delete(pattern: str = "cam") -> dict[str, Any]:
            self.ran["delete"] += 1
            found = [item for item in self.host.items if item.startswith(pattern)]
            answer = elicit_form_sync(
                f"Delete {len(found)} cameras?",
                CONFIRM,
                title="Delete",
                fallback_values=fallback,
                timeout=timeout,
            )
            if not answer.accepted or not (answer.data or {})["confirm"]:
                return {"deleted": 0, "why": answer.message, "by": answer.answered_by}
            self.host.items = [item for item in self.host.items if item not in found]
            return {"deleted": len(found), "by": answer.answered_by}

        return delete

    def delete_async(self) -> Callable[..., Any]:
        """Make the same as a coroutine."""

        @skill(risk="destructive", confirms=True)
        async def delete() -> dict[str, Any]:
            self.ran["delete"] += 1
            count = await on_main(lambda: len(self.host.items))
            answer = await elicit_form(f"Delete {count} cameras?", CONFIRM)
            if not answer.accepted or not (answer.data or {})["confirm"]:
                return {"deleted": 0, "why": answer.message}
            await on_main(self.host.items.clear)
            return {"deleted": count, "by": answer.answered_by}

        return delete

    def thrice(self) -> Callable[..., Any]:
        """Make a skill that asks three times and edits after the first answer."""

        @skill(risk="destructive", confirms=True)
        def thrice() -> dict[str, Any]:
            self.ran["thrice"] += 1
            heard = []
            for number in range(3):
                answer = elicit_form_sync(f"Step {number}?", CONFIRM, key=f"step{number}")
                heard.append(answer.action)
                if not answer.accepted:
                    break
                if number == 0:
                    self.host.items.pop()
            return {"heard": heard}

        return thrice

    def read(self) -> Callable[..., Any]:
        """Make a skill that only reads."""

        @skill(risk="read")
        def count() -> int:
            return len(self.host.items)

        return count
