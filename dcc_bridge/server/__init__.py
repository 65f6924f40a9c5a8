"""HOW AGENTS REACH THE HOST: the worker, the MCP server, and calls that are parked."""
