"""Somebody who orders in a batch interpreter, where there is no window. Main thread."""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from dcc_bridge.bridge import Bridge
from tests.hosts.orders import DONE, ORDERS

HOME: Final = Path(os.environ["HOME"])
ENDS: Final = ("reload", "close")


class BatchPerson:
    """Does what a file says, line by line."""

    def __init__(self, words: Mapping[str, Callable[[], object]]) -> None:
        self._words = words
        self.end: str | None = None  # the order that ends the server, once it came
        self._done = 0

    def sit_down(self, bridge: Bridge) -> None:
        if self.end is not None:
            self._note(self.end)
        self.end = None
        threading.Thread(target=self._look, args=(bridge,), daemon=True).start()

    def _look(self, bridge: Bridge) -> None:
        while True:
            orders = (HOME / ORDERS).read_text().splitlines() if (HOME / ORDERS).exists() else []
            if len(orders) > self._done:
                order = orders[self._done]
                self._done += 1
                bridge.main.post(partial(self._obey, order)).result()
                if order in ENDS:
                    return
                self._note(order)
            time.sleep(0.01)

    def _note(self, order: str) -> None:
        with open(HOME / DONE, "a") as out:
            out.write(f"{order}\n")

    def _obey(self, order: str) -> None:
        try:
            if order in ENDS:
                self.end = order
            else:
                self._words[order]()
        except Exception:  # noqa: BLE001 - the test reads it, and this process goes on
            traceback.print_exc()
