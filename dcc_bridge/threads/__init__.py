"""The way between threads: the queue to the host's main thread, and the skills suspended there.

`main_thread` has the queue with its two lanes, `jobs` the functions that wait in it. `flows` lets a
skill wait, on its thread or in a coroutine. `watchdog` sees a main thread that stands still.
"""
