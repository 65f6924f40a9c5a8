"""Agreed code of an agent, which is read, asked about, run and recorded."""
