"""The simulated Discord: what discord.py uses of it, on loopback, with a page to chat in. It must not know Clankie."""
