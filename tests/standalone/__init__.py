"""The standalone application's window."""
