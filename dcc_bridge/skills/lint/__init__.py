"""What is wrong with a skill file, found by reading it: nothing of it is imported."""
