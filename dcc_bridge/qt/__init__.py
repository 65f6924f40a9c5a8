"""What the artist sees: questions as dialogs in the host. The only part that knows Qt."""
