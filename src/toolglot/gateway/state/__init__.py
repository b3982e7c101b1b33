"""State between requests: stored responses, conversations and kept reasoning.

The Responses API lets a client refer to earlier responses instead of sending them again
(`sessions.py`, `stored_responses.py`, `items.py`, `compaction.py`). Clients of other APIs send
everything again but may leave out the reasoning (`kept_reasoning.py`).
"""
