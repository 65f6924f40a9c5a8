"""The window of our own small host: an application on a ``qasync`` loop, with a USD stage as scene.

``app.run`` starts the window. Nothing here knows MCP: a server is embedded through ``run``'s
callbacks. Main thread.
"""
