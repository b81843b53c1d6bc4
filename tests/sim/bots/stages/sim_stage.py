"""The stage on this repository's simulator: people act by the world, the bot is connected over real sockets."""

import asyncio
from collections.abc import Sequence
from typing import Any

from clankie.sim.world.entities import (
    ChannelType,
    Emoji,
    InteractionState,
    MessageDraft,
    MessageEdit,
    Overwrite,
    OverwriteType,
    Reference,
    Upload,
)
from clankie.sim.world.permissions import Permissions
from sim.bots.heard import SECONDS
from sim.bots.stages.helper import Helper
from sim.bots.stages.stage import BOT, GUEST, OWNER
from sim.bots.town import Town

_HANDLERS = ("discord.py: on_", "discord-ui-", "CommandTree")
"""How discord.py names the tasks in which a bot's own code runs."""


class SimStage:
    """See `Stage`."""

    def __init__(self, town: Town, bot: Helper) -> None:
        """Make the server. The bot connects afterwards."""
        self.bot = bot
        self._world = world = town.world
        application = town.application
        self._application_id = application.id
        world.leave(town.guild.id, application.bot_user_id)
        self._people = {each: world.create_person(each).id for each in (OWNER, GUEST)}
        owner = self._people[OWNER]
        self._guild = world.create_guild(owner, "Stage")
        self._general = world.channels(self._guild.id)[0]
        deny = Overwrite(self._guild.id, OverwriteType.ROLE, deny=Permissions.VIEW_CHANNEL)
        world.create_channel(owner, self._guild.id, "hidden", overwrites=[deny])
        world.create_channel(owner, self._guild.id, "help", ChannelType.FORUM)
        world.join(
            self._guild.id,
            application.bot_user_id,
            permissions=Permissions.ALL & ~Permissions.ADMINISTRATOR,
        )
        self._bot_id = application.bot_user_id

    @property
    def names(self) -> dict[int, str]:
        people = {number: name for name, number in self._people.items()}
        return people | {self._bot_id: BOT, self._guild.id: "server", self._general.id: "general"}

    async def begin(self) -> None:
        await self.settled()
        self._world.join(self._guild.id, self._people[GUEST])
        await self.settled()

    async def settled(self) -> None:
        """The bot has heard all that happened, and its handlers are done, as are those that they set off."""
        while True:
            heard = self.bot.wait_for("raw_typing", timeout=SECONDS)
            waiting = asyncio.create_task(heard)
            await asyncio.sleep(0)
            self._world.start_typing(self._people[OWNER], self._general.id)
            await waiting
            running = [
                each for each in asyncio.all_tasks() if each.get_name().startswith(_HANDLERS)
            ]
            if not running:
                return
            await asyncio.wait(running, timeout=SECONDS)

    async def say(
        self,
        who: str,
        text: str,
        *,
        reply_to: int | None = None,
        files: Sequence[tuple[str, bytes]] = (),
    ) -> int:
        reference = None if reply_to is None else Reference(self._general.id, reply_to)
        uploads = tuple(Upload(name, data) for name, data in files)
        draft = MessageDraft(text, reference=reference, uploads=uploads)
        said = self._world.post_message(self._people[who], self._general.id, draft)
        await self.settled()
        return said.id

    async def direct(self, who: str, text: str) -> None:
        dm = self._world.open_dm(self._people[who], self._bot_id)
        self._world.post_message(self._people[who], dm.id, MessageDraft(text))
        await self.settled()

    async def edit(self, who: str, message: int, text: str) -> None:
        edit = MessageEdit(content=text)
        self._world.edit_message(self._people[who], self._general.id, message, edit)
        await self.settled()

    async def delete(self, who: str, message: int) -> None:
        self._world.delete_message(self._people[who], self._general.id, message)
        await self.settled()

    async def react(self, who: str, message: int, emoji: str) -> None:
        place = self._people[who], self._general.id, message
        self._world.add_reaction(*place, Emoji(name=emoji))
        await self.settled()

    async def unreact(self, who: str, message: int, emoji: str) -> None:
        place = self._people[who], self._general.id, message
        self._world.remove_reaction(*place, Emoji(name=emoji), self._people[who])
        await self.settled()

    async def pin(self, who: str, message: int) -> None:
        self._world.pin(self._people[who], self._general.id, message)
        await self.settled()

    async def type_text(self, who: str) -> None:
        self._world.start_typing(self._people[who], self._general.id)
        await self.settled()

    async def slash(self, who: str, command: str, **options: Any) -> None:
        await self._slash(who, command, options)

    async def suggest(self, who: str, command: str, option: str, typed: str) -> list[str]:
        asked = self._world.autocomplete(
            self._people[who],
            self._general.id,
            self._command(command),
            [{"name": option, "value": typed, "focused": True}],
        )
        await self.settled()
        choices = self._world.interaction(asked.id).choices
        return [choice["name"] for choice in choices]

    async def click(self, who: str, message: int, custom_id: str) -> None:
        self._world.click(self._people[who], self._general.id, message, custom_id)
        await self.settled()

    async def choose(self, who: str, message: int, custom_id: str, values: Sequence[str]) -> None:
        place = self._people[who], self._general.id, message
        self._world.click(*place, custom_id, 3, values)
        await self.settled()

    async def fill_form(self, who: str, command: str, **fields: str) -> None:
        opened = self._world.interaction(await self._slash(who, command, {}))
        assert opened.state is InteractionState.ANSWERED
        assert opened.modal is not None
        rows = opened.modal["components"]
        filled = [
            {**row, "components": [{**field, "value": fields[field["label"].lower()]}]}
            for row in rows
            for field in row["components"]
        ]
        self._world.submit_modal(self._people[who], opened.id, filled)
        await self.settled()

    async def join(self, name: str) -> None:
        self._people[name] = self._world.create_person(name).id
        self._world.join(self._guild.id, self._people[name])
        await self.settled()

    async def leave(self, name: str) -> None:
        self._world.leave(self._guild.id, self._people[name])
        await self.settled()

    def seen_by(self, who: str) -> list[str]:
        found = self._world.history(self._general.id, limit=100, viewer_id=self._people[who])
        return [message.content for message in reversed(found)]

    async def _slash(self, who: str, command: str, options: dict[str, Any]) -> int:
        given = [{"name": name, "value": value} for name, value in options.items()]
        used = self._world.invoke_command(
            self._people[who], self._general.id, self._command(command), given
        )
        await self.settled()
        return used.id

    def _command(self, name: str) -> int:
        known = self._world.commands(self._application_id, None)
        return next(each.id for each in known if each.name == name)
