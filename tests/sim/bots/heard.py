"""A discord.py bot of the tests' own: unmodified, and every event it hears is written down.

Owns what a bot heard, in order, and waiting for more. Must not know the simulator.
"""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from discord.ext import commands

import discord

SECONDS = 20
_NAMES = """
    connect shard_ready ready shard_resumed resumed disconnect message message_edit message_delete raw_message_edit
    raw_message_delete bulk_message_delete raw_bulk_message_delete raw_reaction_add raw_reaction_remove reaction_add
    reaction_remove raw_reaction_clear raw_typing typing thread_create thread_join thread_update thread_delete
    thread_member_join raw_thread_member_remove member_join member_remove raw_member_remove member_update user_update
    guild_join guild_remove guild_available guild_unavailable guild_role_create guild_role_update guild_role_delete
    guild_channel_create guild_channel_update guild_channel_delete guild_channel_pins_update interaction
    voice_state_update error
"""
EVENTS = tuple(_NAMES.split())


class Heard:
    """What a client heard.

    Args:
        client: a Client, or a Bot with handlers of its own.

    Attributes:
        order: names of all events, as they came.
        errors: what a handler of the client's raised.
    """

    def __init__(self, client: discord.Client) -> None:
        self.client = client
        self.order: list[str] = []
        self.errors: list[BaseException] = []
        self._all: dict[str, list[Any]] = defaultdict(list)
        self._read: dict[str, int] = defaultdict(int)
        self._more = asyncio.Condition()
        for name in EVENTS:
            handler = self._handler(name)
            if isinstance(client, commands.Bot) and name != "error":
                client.add_listener(handler, f"on_{name}")
            else:
                setattr(client, f"on_{name}", handler)  # as `client.event` does

    def all(self, name: str) -> list[Any]:
        """Each event of a name: its one argument, or all of them."""
        return list(self._all[name])

    def messages(self) -> list[str]:
        """What the messages said."""
        return [message.content for message in self._all["message"]]

    async def next(self, name: str) -> Any:
        """The next event of a name that was not taken yet."""
        read = self._read[name]
        await self.until(lambda: len(self._all[name]) > read)
        self._read[name] = read + 1
        return self._all[name][read]

    async def until(self, met: Callable[[], bool]) -> None:
        """Wait for events until something is so."""
        async with asyncio.timeout(SECONDS), self._more:
            await self._more.wait_for(met)

    def _handler(self, name: str) -> Any:
        async def handler(*arguments: Any, **_: Any) -> None:
            if name == "error":
                self._note_error()
            self.order.append(name)
            self._all[name].append(arguments[0] if len(arguments) == 1 else arguments)
            async with self._more:
                self._more.notify_all()

        handler.__name__ = f"on_{name}"
        return handler

    def _note_error(self) -> None:
        error = sys.exc_info()[1]
        if error is not None:
            self.errors.append(error)
