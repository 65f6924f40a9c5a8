"""Files that others made, played through every host that reads them.

``python -m tests.real_files`` plays all of them and prints a table. `test_real_files` plays a
choice of them with the applications.
"""
