"""The way between threads: the queue to the host's main thread, and the skills suspended there.

`main_thread` has the queue with its two lanes, `jobs` what waits in it. `flows` is how a skill
waits, on its thread or in a coroutine. `watchdog` sees a main thread that stands still.
"""
