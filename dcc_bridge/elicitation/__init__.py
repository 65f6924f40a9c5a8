"""ASK: questions, their answers, and who may give them. No Qt, no MCP.

Only the `question.Caller` knows what an answer leads to: nothing here knows of consent.
"""
