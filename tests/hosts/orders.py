"""How a test tells the person inside of an application what to do. Any thread, any process."""

from typing import Final

ORDERS: Final = "orders"  # the file with what is to be done, a line each, in the application's home
TYPED: Final = "typed"  # the file with what stands in the fields when the order is to note it
DONE: Final = "done"  # the file with what was done
