"""What a text of 400 lines adds to a question's dialog: ``python -m tests.bench.question_text``.

Milliseconds of the main thread's processor until it is drawn. Aim: less than a frame, 16.7.
"""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtWidgets import QApplication

from dcc_bridge.elicitation.question import Details
from tests.bench.figures import against, options, show


def main() -> None:
    """Measure and print."""
    chosen = options(__doc__, rounds=7)
    app = QApplication([])
    from tests.qt.stage import consent, delete, drawn  # they want an application

    code = "\n".join(f"    value_{n} = objects['cube.{n:03}'].location.x * {n}" for n in range(400))
    details = Details(code, tuple((n, "removes objects") for n in range(1, 400, 10)), code[:9000])

    def opened(**more: Any) -> list[float]:
        began = time.thread_time()
        dialog, _ = drawn(consent(**more))
        dialog.grab()
        taken = 1000 * (time.thread_time() - began)
        delete(dialog)
        return [taken]

    opened(details=details)
    rounds = [(opened(), opened(details=details)) for _ in range(chosen.rounds)]
    short, long = ([it[part] for it in rounds] for part in (0, 1))
    columns = ("ms", "without p50", "p95", "with p50", "p95", "difference", "ratio")
    show(f"{chosen.rounds} rounds", columns, [("a dialog", *against(long, short))])
    del app


if __name__ == "__main__":
    main()
