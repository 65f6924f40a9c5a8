"""The window of our own application."""
