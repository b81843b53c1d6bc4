"""The fleet: who has which machine, who may reach it and how often, and the keys that say so. Never message text."""
