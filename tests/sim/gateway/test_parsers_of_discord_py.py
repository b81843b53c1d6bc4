"""Every event that this Discord tells is one that discord.py's own parsers take, and means to it what it should.

An exception in one of these parsers ends a client's connection, so a wrong payload would look like a crash.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import clankie.sim.world
import discord
from clankie.runtime.clock import SystemClock
from clankie.sim.gateway.codes import Op
from clankie.sim.world.entities import (
    ChannelType,
    Emoji,
    MessageDraft,
    MessageEdit,
    MessageFlag,
    Reference,
    ReferenceKind,
    Sticker,
    Upload,
)
from clankie.sim.world.permissions import Intent
from sim.gateway.lines import Line

PUBLISHED = re.compile(r'"((?:CHANNEL|GUILD|INTERACTION|MESSAGE|THREAD|TYPING|USER|VOICE|WEBHOOKS)_'
                       r'(?:[A-Z]+_)*(?:CREATE|UPDATE|DELETE|BULK|ADD|REMOVE|ALL|EMOJI|START))"')  # fmt: skip


VOICE = discord.Permissions.voice().value
"""What discord.py leaves out of a text channel's permissions, where Discord does not."""


class Recorder(discord.Client):
    """A client that writes down what its parsers make of events."""

    def __init__(self) -> None:
        super().__init__(
            intents=discord.Intents.all(), chunk_guilds_at_startup=False, guild_ready_timeout=0
        )
        self.made: list[tuple[str, tuple[Any, ...]]] = []

    def dispatch(self, event: str, /, *args: Any, **_: Any) -> None:
        self.made.append((event, args))

    def last(self, event: str) -> Any:
        return next(args[-1] for name, args in reversed(self.made) if name == event)


class Reader:
    """A session whose events go through discord.py's parsers."""

    def __init__(self, client: Recorder) -> None:
        self.line = Line(SystemClock())
        self.client = client
        self.seen: set[str] = set()
        told = self.line.send(
            Op.IDENTIFY, {"token": self.line.sample.application.token, "intents": int(Intent.ALL)}
        )
        self.parse(told)

    def parse(self, told: list[dict[str, Any]]) -> None:
        for message in told:
            if message["op"] == Op.DISPATCH:
                self.seen.add(message["t"])
                self.client._connection.parsers[message["t"]](message["d"])

    def read(self) -> None:
        """Parse everything told since the last time."""
        self.parse(self.line.taken())


@pytest.fixture
async def reader() -> AsyncIterator[Reader]:
    client = Recorder()
    await client._async_setup_hook()
    reader = Reader(client)
    yield reader
    task = client._connection._ready_task
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    reader.line.world.close()


async def test_a_server_means_what_it_is(reader: Reader) -> None:
    (guild,) = reader.client.guilds
    assert (guild.name, guild.member_count, len(guild.members)) == ("Sample server", 5, 5)
    assert guild.me.id == reader.line.sample.application.bot_user_id
    assert guild.self_role is not None
    assert guild.self_role.name == "helper"
    assert {type(each).__name__ for each in guild.channels} == {
        "TextChannel", "ForumChannel", "VoiceChannel",
    }  # fmt: skip
    hidden = discord.utils.get(guild.text_channels, name="owners-only")
    assert hidden is not None
    for member in guild.members:
        for channel in guild.text_channels:
            ours = int(reader.line.world.permissions_in(member.id, channel.id))
            theirs = channel.permissions_for(member)
            if theirs.view_channel:
                assert theirs.value & ~VOICE == ours & ~VOICE
            else:
                assert ours == 0


async def test_messages_mean_what_was_said(reader: Reader) -> None:
    world, sample, client = reader.line.world, reader.line.sample, reader.client
    owner, general = sample.owner.id, world.channels(sample.guild.id)[0].id
    bot = sample.application.bot_user_id
    upload = Upload("voice.ogg", b"x", "audio/ogg", duration_secs=1.5, waveform="AAAA")
    draft = MessageDraft(
        f"<@{bot}> hello",
        uploads=(upload,),
        embeds=({"title": "t", "description": "d", "fields": [{"name": "n", "value": "v"}]},),
        stickers=(Sticker(5, "wave"),),
        poll={"question": {"text": "?"}, "answers": [{"poll_media": {"text": "!"}}]},
        components=({"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "x",
                                                "label": "press"}]},),
        nonce="17",
    )  # fmt: skip
    first = world.post_message(owner, general, draft)
    reader.read()
    message = client.last("message")
    assert message.id == first.id
    assert [each.id for each in message.mentions] == [bot]
    assert isinstance(message.author, discord.Member)
    assert message.attachments[0].duration == 1.5
    assert message.embeds[0].fields[0].value == "v"
    assert message.stickers[0].name == "wave"
    assert message.poll.question == "?"
    assert message.components[0].children[0].label == "press"
    reply = MessageDraft("yes", reference=Reference(general, first.id))
    world.post_message(owner, general, reply)
    forward = Reference(general, first.id, kind=ReferenceKind.FORWARD)
    world.post_message(owner, general, MessageDraft(reference=forward))
    reader.read()
    (one, two) = [args[0] for name, args in client.made if name == "message"][-2:]
    assert one.type is discord.MessageType.reply
    assert one.reference.resolved.id == first.id
    assert two.message_snapshots[0].content == f"<@{bot}> hello"
    assert two.message_snapshots[0].attachments[0].filename == "voice.ogg"
    world.edit_message(owner, general, first.id, MessageEdit(content="changed"))
    reader.read()
    assert client.last("message_edit").content == "changed"
    dm = world.open_dm(owner, bot)
    world.post_message(owner, dm.id, MessageDraft("direct"))
    reader.read()
    assert isinstance(client.last("message").channel, discord.DMChannel)
    webhook = world.create_webhook(owner, general, "Hook")
    world.execute_webhook(webhook.id, MessageDraft("hooked"), username="Someone")
    reader.read()
    assert (client.last("message").author.name, client.last("message").webhook_id) == (
        "Someone", webhook.id,
    )  # fmt: skip


def messages_come_and_go(reader: Reader, places: dict[str, int]) -> None:
    world, owner, general = reader.line.world, reader.line.sample.owner.id, places["general"]
    eyes = Emoji("👀")
    message = world.post_message(owner, general, MessageDraft("hello"))
    own_emoji = world.create_emoji(owner, reader.line.sample.guild.id, "mine")
    for emoji in (eyes, own_emoji):
        world.add_reaction(owner, general, message.id, emoji)
    world.remove_reaction(owner, general, message.id, eyes, owner)
    world.clear_reactions(owner, general, message.id, own_emoji)
    world.add_reaction(owner, general, message.id, eyes)
    world.clear_reactions(owner, general, message.id)
    world.pin(owner, general, message.id)
    world.start_typing(owner, general)
    world.delete_message(owner, general, message.id)
    more = [world.post_message(owner, general, MessageDraft("x")).id for _ in range(2)]
    world.bulk_delete(owner, general, more)
    reader.read()


def threads_begin_and_end(reader: Reader, places: dict[str, int], guest: int) -> None:
    world, sample, client = reader.line.world, reader.line.sample, reader.client
    owner, bot, general = sample.owner.id, sample.application.bot_user_id, places["general"]
    message = world.post_message(owner, general, MessageDraft("a topic"))
    thread = world.create_thread(owner, general, "topic", message_id=message.id)
    loose = world.create_thread(bot, general, "loose")
    reader.read()
    assert client.last("thread_create").me.id == bot
    world.join_thread(owner, thread.id, bot)
    reader.read()
    world.post_message(guest, thread.id, MessageDraft("in a thread"))
    reader.read()
    assert isinstance(client.last("message").channel, discord.Thread)
    assert client.last("message").channel.parent.id == general
    world.edit_channel(owner, thread.id, archived=True, name="done")
    world.leave_thread(owner, thread.id, guest)
    world.delete_channel(owner, loose.id)
    world.create_forum_post(guest, places["help"], "How?", MessageDraft("like this"))
    reader.read()
    assert isinstance(client.last("message").channel.parent, discord.ForumChannel)


def the_server_changes(reader: Reader, places: dict[str, int], guest: int) -> None:
    world, sample = reader.line.world, reader.line.sample
    owner, guild = sample.owner.id, sample.guild.id
    category = world.create_channel(owner, guild, "Group", ChannelType.CATEGORY)
    place = world.create_channel(owner, guild, "place", parent_id=category.id)
    world.edit_channel(owner, place.id, topic="changed")
    world.delete_channel(owner, place.id)
    world.edit_guild(owner, guild, name="Renamed")
    role = world.create_role(owner, guild, "role")
    world.edit_role(owner, guild, role.id, color=0xFF0000)
    world.set_roles(owner, guild, guest, [role.id])
    world.delete_role(owner, guild, role.id)
    newcomer = world.create_person("Newcomer").id
    world.join(guild, newcomer)
    world.leave(guild, newcomer)
    world.edit_user(sample.application.bot_user_id, avatar="0" * 32)
    world.create_webhook(owner, places["general"], "Hook")
    reader.read()


def commands_are_used(reader: Reader, places: dict[str, int], guest: int) -> None:
    world, sample, client = reader.line.world, reader.line.sample, reader.client
    owner, bot, general = sample.owner.id, sample.application.bot_user_id, places["general"]
    whom = {"name": "whom", "type": 6, "description": "x"}
    command = world.put_command(
        sample.application.id, None, {"name": "ask", "description": "x", "options": [whom]}
    )
    options = [{"name": "whom", "value": str(guest)}]
    asked = world.invoke_command(owner, general, command.id, options)
    world.respond_interaction(asked.id, asked.token, 5)
    world.followup(sample.application.id, asked.token, MessageDraft("because"))
    psst = MessageDraft("psst", flags=MessageFlag.EPHEMERAL)
    world.followup(sample.application.id, asked.token, psst)
    reader.read()
    interaction = client.last("interaction")
    data = interaction.data
    namespace = discord.app_commands.Namespace(interaction, data["resolved"], data["options"])
    assert isinstance(namespace.whom, discord.Member)
    assert namespace.whom.id == guest
    assert (interaction.user.id, interaction.channel.id) == (owner, general)
    assert client.last("message").flags.ephemeral
    row = {"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "x", "label": "x"}]}
    buttons = world.post_message(bot, general, MessageDraft("sure?", components=(row,)))
    world.click(owner, general, buttons.id, "x")
    dm = world.open_dm(owner, bot)
    world.invoke_command(owner, dm.id, command.id, options)
    reader.read()
    assert client.last("interaction").guild is None


def the_client_asks_and_the_server_goes(reader: Reader, places: dict[str, int]) -> None:
    line, guild = reader.line, reader.line.sample.guild.id
    reader.parse(line.send(Op.REQUEST_MEMBERS, {"guild_id": str(guild), "query": "", "limit": 0}))
    state = {"guild_id": str(guild), "channel_id": str(places["Voice"])}
    reader.parse(line.send(Op.VOICE_STATE, state))
    line.world.set_outage(guild, outage=True)
    line.world.set_outage(guild, outage=False)
    reader.read()
    assert [each.name for each in reader.client.guilds] == ["Renamed"]
    line.world.leave(guild, line.sample.application.bot_user_id)
    reader.read()
    assert not list(reader.client.guilds)


async def test_everything_that_can_happen_is_parsed(reader: Reader) -> None:
    world = reader.line.world
    places = {each.name: each.id for each in world.channels(reader.line.sample.guild.id)}
    guest = next(each.id for each in world.users() if each.username == "guest")
    messages_come_and_go(reader, places)
    threads_begin_and_end(reader, places, guest)
    the_server_changes(reader, places, guest)
    commands_are_used(reader, places, guest)
    the_client_asks_and_the_server_goes(reader, places)
    folder = Path(clankie.sim.world.__file__).parent
    sources = (file.read_text("utf-8") for file in folder.glob("*.py"))
    published = {event for source in sources for event in PUBLISHED.findall(source)}
    assert published | {"READY", "GUILD_MEMBERS_CHUNK"} == reader.seen
