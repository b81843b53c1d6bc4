"""The stage on simcord, a simulator by others that replaces discord.py's HTTP and gateway inside one process."""

from collections.abc import Sequence
from typing import Any

import simcord
from simcord.actors import MemberActor

import discord
from sim.bots.stages.helper import Helper
from sim.bots.stages.stage import BOT, GUEST, OWNER


class SimcordStage:
    """See `Stage`."""

    def __init__(self, env: simcord.Env, bot: Helper) -> None:
        """Make the server, the bot being connected already."""
        self.bot = bot
        self._env = env
        users = {each: env.create_user(each) for each in (OWNER, GUEST)}
        self._guild = env.create_guild("Stage", owner=users[OWNER])
        self._general = self._guild.create_text_channel("general")
        self._guild.create_text_channel(
            "hidden",
            overwrites={self._guild.default_role: discord.PermissionOverwrite(view_channel=False)},
        )
        self._guild.create_forum_channel("help")
        self._people = {
            OWNER: MemberActor(env, self._guild, users[OWNER]),
            GUEST: self._guild.add_member(users[GUEST]),
        }

    @property
    def names(self) -> dict[int, str]:
        people = {actor.id: name for name, actor in self._people.items()}
        assert self.bot.user is not None
        return people | {
            self.bot.user.id: BOT,
            self._guild.id: "server",
            self._general.id: "general",
        }

    async def begin(self) -> None:
        await self.settled()

    async def settled(self) -> None:
        await self._env.settle()

    async def say(
        self,
        who: str,
        text: str,
        *,
        reply_to: int | None = None,
        files: Sequence[tuple[str, bytes]] = (),
    ) -> int:
        replied = None if reply_to is None else self._message(reply_to)
        said = await self._people[who].send(
            self._general, text, reply_to=replied, attachments=files
        )
        return said.id

    async def direct(self, who: str, text: str) -> None:
        await self._people[who].send_dm(text)

    async def edit(self, who: str, message: int, text: str) -> None:
        await self._people[who].edit(self._message(message), text)

    async def delete(self, who: str, message: int) -> None:
        await self._people[who].delete(self._message(message))

    async def react(self, who: str, message: int, emoji: str) -> None:
        await self._people[who].react(self._message(message), emoji)

    async def unreact(self, who: str, message: int, emoji: str) -> None:
        await self._people[who].unreact(self._message(message), emoji)

    async def pin(self, who: str, message: int) -> None:
        await self._people[who].set_pinned(self._message(message), pinned=True)

    async def type_text(self, who: str) -> None:
        await self._people[who].typing(self._general)

    async def slash(self, who: str, command: str, **options: Any) -> None:
        await self._people[who].slash(self._general, command, **options)

    async def suggest(self, who: str, command: str, option: str, typed: str) -> list[str]:
        choices = await self._people[who].autocomplete(self._general, command, option, typed)
        return [choice["name"] for choice in choices]

    async def click(self, who: str, message: int, custom_id: str) -> None:
        await self._people[who].click(self._message(message), custom_id=custom_id)

    async def choose(self, who: str, message: int, custom_id: str, values: Sequence[str]) -> None:
        await self._people[who].select(self._message(message), values, custom_id=custom_id)

    async def fill_form(self, who: str, command: str, **fields: str) -> None:
        shown = await self._people[who].slash(self._general, command)
        assert shown.modal is not None
        ids = {
            field["label"].lower(): field["custom_id"]
            for row in shown.modal["components"]
            for field in row["components"]
        }
        values = {ids[name]: value for name, value in fields.items()}
        await self._people[who].submit_modal(shown, values)

    async def join(self, name: str) -> None:
        self._people[name] = self._guild.add_member(self._env.create_user(name))
        await self.settled()

    async def leave(self, name: str) -> None:
        self._guild.remove_member(self._people[name])
        await self.settled()

    def seen_by(self, who: str) -> list[str]:
        history = self._general.history(viewer=self._people[who])
        return [message.content for message in history]

    def _message(self, message: int) -> discord.Message:
        return next(each for each in self._general.history() if each.id == message)
