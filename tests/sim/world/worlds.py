"""A small world, and someone who hears everything. It tests nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from clankie.runtime.clock import Clock
from clankie.sim.errors import ApiError
from clankie.sim.store import Store
from clankie.sim.world.dispatch import Dispatch
from clankie.sim.world.entities import Channel, Message, MessageDraft
from clankie.sim.world.permissions import Permissions
from clankie.sim.world.world import World


class Town:
    """A server with an owner, a member, a stranger who is not in it, and a bot."""

    def __init__(self, clock: Clock, store: Store | None = None) -> None:
        self.world = World(clock, store=store)
        self.heard: list[Dispatch] = []
        self.world.subscribe(self.heard.append)
        self.owner = self.world.create_person("Owner").id
        self.member = self.world.create_person("Member").id
        self.stranger = self.world.create_person("Stranger").id
        self.guild = self.world.create_guild(self.owner, "Town").id
        self.world.join(self.guild, self.member)
        self.application = self.world.create_application("Bot", self.owner)
        self.bot = self.application.bot_user_id
        self.world.join(self.guild, self.bot, permissions=Permissions.VIEW_CHANNEL)
        self.general = self.world.channels(self.guild)[0].id
        self.heard.clear()

    def say(self, text: str, actor: int | None = None, **draft: Any) -> Message:
        """Somebody, by default the owner, says something in #general."""
        actor = self.owner if actor is None else actor
        return self.world.post_message(actor, self.general, MessageDraft(text, **draft))

    def channel(self, **settings: Any) -> Channel:
        return self.world.create_channel(self.owner, self.guild, "place", **settings)

    def events(self) -> list[str]:
        """The names of what was heard since the last time."""
        names = [each.event for each in self.heard]
        self.heard.clear()
        return names

    @contextmanager
    def refused(self, code: int) -> Iterator[pytest.ExceptionInfo[ApiError]]:
        """What is tried is refused with this code, and nothing happens."""
        self.heard.clear()
        before = {place: list(log.ids) for place, log in self.world.tables.messages.items()}
        with pytest.raises(ApiError) as refusal:
            yield refusal
        assert refusal.value.code == code
        assert self.heard == []
        assert {place: list(log.ids) for place, log in self.world.tables.messages.items()} == before
