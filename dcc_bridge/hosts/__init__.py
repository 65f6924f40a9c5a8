"""Where we are: one adapter for each application, each with that application's own API only.

How to bring the bridge to another one is in ``resources/guide/hosts.md``.
"""
