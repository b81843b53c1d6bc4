"""The edge's end of Discord: discord.py below, raw payloads in, requests and their answers out."""
