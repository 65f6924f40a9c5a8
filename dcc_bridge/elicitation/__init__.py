"""ASK: questions, their answers, and who may give them. No Qt, no MCP."""
