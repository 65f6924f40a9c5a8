"""Installs the plug-in where an application looks for it. Main thread.

================  ========================================================================
"""
