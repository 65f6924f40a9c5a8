"""How a test tells the person inside of an application what to do. Any thread, any process."""

from typing import Final

ORDERS: Final = "orders"
"""The file with what is to be done, a line each, in the application's home."""
DONE: Final = "done"
"""The file with what was done."""
