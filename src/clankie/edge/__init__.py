"""The edge: Discord into sealed events, results into messages, for many bodies (system.md, Edge)."""
