"""Maya's leaf, over its stand-in."""
