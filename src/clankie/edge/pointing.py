"""Where Discord is: a simulated one in place of the real one.

discord.py has three class attributes for this; they are this process's, so one process has one Discord. Owns them.
"""

import discord.asset
import discord.gateway
import discord.http
import yarl


def point_at(origin: str) -> None:
    """Let discord.py talk to the Discord at `http://127.0.0.1:8792`."""
    discord.http.Route.BASE = f"{origin}/api/v10"
    discord.asset.Asset.BASE = origin
    gateway = yarl.URL(f"ws{origin.removeprefix('http')}/gateway")
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = gateway
