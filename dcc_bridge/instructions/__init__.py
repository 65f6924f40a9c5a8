"""Instructions: texts that agents read, each a folder with a file SKILL.md.

A skill is a function that runs; an instruction is a text that is read. MCP calls an instruction a
skill: it is served by the extension "Skills over MCP" (SEP-2640), in the format of Agent Skills.
"""
