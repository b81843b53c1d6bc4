"""Permits and charges: who may deliver what to whom in the next minute, and what that uses up."""
