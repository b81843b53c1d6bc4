"""What a bot's script may do to a simulated Discord, whichever it is, and what is compared afterwards.

Owns the interface and how an observation is written down without ids. Must not know any simulator.
"""

import difflib
import re
from collections.abc import Sequence
from typing import Any, Protocol

import discord
from sim.bots.stages.helper import Helper

OWNER, GUEST, BOT = "owner", "guest", "bot"
Observation = list[str]
SHOWN = 30
"""Messages of a place that are compared."""


class Stage(Protocol):
    """A server of an owner with the channels `general` and `hidden` and the forum `help`, a guest, and a bot.

    Each action returns once the bot has done all that it does about it. Messages are named by their ids.
    """

    bot: Helper

    @property
    def names(self) -> dict[int, str]:
        """Who is who, by id."""

    async def begin(self) -> None:
        """The guest comes in; the bot is there already."""

    async def say(
        self,
        who: str,
        text: str,
        *,
        reply_to: int | None = None,
        files: Sequence[tuple[str, bytes]] = (),
    ) -> int: ...
    async def direct(self, who: str, text: str) -> None: ...
    async def edit(self, who: str, message: int, text: str) -> None: ...
    async def delete(self, who: str, message: int) -> None: ...
    async def react(self, who: str, message: int, emoji: str) -> None: ...
    async def unreact(self, who: str, message: int, emoji: str) -> None: ...
    async def pin(self, who: str, message: int) -> None: ...
    async def type_text(self, who: str) -> None: ...
    async def slash(self, who: str, command: str, **options: Any) -> None: ...
    async def suggest(self, who: str, command: str, option: str, typed: str) -> list[str]: ...
    async def click(self, who: str, message: int, custom_id: str) -> None: ...
    async def choose(
        self, who: str, message: int, custom_id: str, values: Sequence[str]
    ) -> None: ...
    async def fill_form(self, who: str, command: str, **fields: str) -> None: ...
    async def join(self, name: str) -> None: ...
    async def leave(self, name: str) -> None: ...
    def seen_by(self, who: str) -> list[str]:
        """What stands in #general for somebody, ephemeral messages too, oldest first."""


async def observe(stage: Stage) -> Observation:
    """All that is to be equal, in lines: what the bot heard, what came of what it did, what stands where by REST."""
    writer = Writer(stage.names, stage.bot.texts)
    guild = stage.bot.guilds[0]
    found = [f"heard {writer.plain(each)}" for each in stage.bot.heard]
    found += [f"did {writer.plain(each)}" for each in stage.bot.did]
    places: list[discord.TextChannel | discord.Thread] = [guild.text_channels[0]]
    places += sorted(guild.threads, key=lambda each: each.id)
    for place in places:
        history = [message async for message in place.history(limit=SHOWN)]
        found += [f"{place.name}: {writer.message(message)}" for message in reversed(history)]
    return found


class Writer:
    """Writes down messages with names and texts in place of ids.

    Args:
        names: of people and places.
        texts: of messages.
    """

    def __init__(self, names: dict[int, str], texts: dict[int, str]) -> None:
        self._names = names
        self._texts = texts

    def plain(self, text: str) -> str:
        """A text whose long numbers are names."""
        return re.sub(r"\b\d{15,20}\b", lambda found: self._name(int(found[0])), text)

    def message(self, message: discord.Message) -> str:
        """All of a message that is not as it always is."""
        metadata = message.interaction_metadata
        reference = message.reference
        parts = {
            "type": "" if message.type is discord.MessageType.default else message.type.name,
            "reply to": "" if reference is None else self._name(reference.message_id or 0),
            "mentions": sorted(self._name(user.id) for user in message.mentions),
            "roles": sorted(role.name for role in message.role_mentions),
            "everyone": message.mention_everyone,
            "cards": [sorted(embed.to_dict().items()) for embed in message.embeds],
            "files": [(each.filename, each.size) for each in message.attachments],
            "reactions": [(str(each.emoji), each.count, each.me) for each in message.reactions],
            "components": [_custom_ids(each.to_dict()) for each in message.components],
            "flags": sorted(name for name, value in message.flags if value),
            "pinned": message.pinned,
            "edited": message.edited_at is not None,
            "asked by": "" if metadata is None else self._name(metadata.user.id),
        }
        shown = ", ".join(f"{name} {value}" for name, value in parts.items() if value)
        return f"{self._name(message.author.id)}: {self.plain(message.content)!r} {shown}".rstrip()

    def _name(self, number: int) -> str:
        return self._names.get(number) or self._texts.get(number) or "unknown"


def _custom_ids(row: Any) -> list[str]:
    return [each["custom_id"] for each in row.get("components", ())]


def difference(ours: Observation, theirs: Observation) -> list[str]:
    """Lines of one observation alone: `-` ours, `+` theirs."""
    lines = difflib.unified_diff(ours, theirs, n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]
