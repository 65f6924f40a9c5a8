"""Reads the outcomes of the tasks by each application's own API, in a process of its own.

A function has the name of the task. It gets the scene, which is open, and asserts what the artist
wanted.
"""
