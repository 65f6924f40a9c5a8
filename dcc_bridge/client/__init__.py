"""How a person's client finds a host, and how a person answers there."""
