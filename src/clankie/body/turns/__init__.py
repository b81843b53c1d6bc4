"""Runs each admitted delivery once: bounded, fair between rooms, in order within a session."""
