"""ASK: questions, their answers, and who may give them. No Qt, no MCP.

What an answer leads to is known to its `question.Caller` alone: nothing here knows of consent.
"""
