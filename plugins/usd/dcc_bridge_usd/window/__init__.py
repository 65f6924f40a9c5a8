"""The window of our own small host: an application on a ``qasync`` loop, with a USD stage as scene.

``app.run`` starts it. Nothing here knows MCP: who embeds a server does so through ``run``'s
callbacks. Main thread only, all of it.
"""
