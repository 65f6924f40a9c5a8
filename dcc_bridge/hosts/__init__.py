"""Where we are: one adapter for each application, each with that application's own API only."""
