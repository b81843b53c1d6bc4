"""The agent behind one small port, and what it may know of who is speaking."""
