"""Skill files: which are trusted, what their text says, and how they are imported and watched."""
