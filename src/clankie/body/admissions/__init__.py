"""Durable admission: each delivery is claimed once, before anything runs, and keeps its one outcome."""
