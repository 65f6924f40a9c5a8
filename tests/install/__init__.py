"""The plug-in where an application looks for it."""
