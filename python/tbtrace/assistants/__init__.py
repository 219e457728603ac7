"""The server for assistants: `tbtrace mcp FOLDER`. docs/agents.md describes it.

Only `server` imports the SDK of the protocol; all else answers questions in texts, which a test or a script can ask
for as well.
"""
