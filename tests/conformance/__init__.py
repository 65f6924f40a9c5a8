"""The official MCP conformance suite, run against a bridge with everything in place."""
