"""Who hears what: intents, membership, channels, content."""

from typing import Any

import pytest

from clankie.sim.gateway.codes import Op
from clankie.sim.world.entities import (
    ChannelType,
    Emoji,
    MessageDraft,
    MessageEdit,
    MessageFlag,
    Overwrite,
    OverwriteType,
    Reference,
    ReferenceKind,
)
from clankie.sim.world.permissions import Intent, Permissions
from sim.gateway.gateways import EVERYTHING, Client, Discord

WITHOUT_CONTENT = EVERYTHING & ~Intent.MESSAGE_CONTENT


def hidden_channel(discord: Discord) -> int:
    channels = discord.world.channels(discord.sample.guild.id)
    return next(each.id for each in channels if each.name == "owners-only")


async def test_a_channel_that_the_bot_may_not_see_is_not_heard(discord: Discord) -> None:
    owner, hidden = discord.sample.owner.id, hidden_channel(discord)
    bot = discord.sample.application.bot_user_id
    async with discord.ready() as client:
        message = discord.world.post_message(owner, hidden, MessageDraft("secret"))
        discord.world.start_typing(owner, hidden)
        discord.world.add_reaction(owner, hidden, message.id, Emoji("👀"))
        await client.nothing_more()
        sees = Overwrite(bot, OverwriteType.MEMBER, allow=Permissions.VIEW_CHANNEL)
        discord.world.set_overwrite(owner, hidden, sees)
        await client.event("CHANNEL_UPDATE")
        discord.world.post_message(owner, hidden, MessageDraft("now"))
        assert (await client.event("MESSAGE_CREATE"))["content"] == "now"


async def test_a_server_that_the_bot_is_not_in_is_not_heard(discord: Discord) -> None:
    owner = discord.sample.owner.id
    other = discord.world.create_guild(owner, "Other")
    async with discord.ready() as client:
        general = discord.world.channels(other.id)[0]
        discord.world.post_message(owner, general.id, MessageDraft("elsewhere"))
        await client.nothing_more()
        discord.world.join(other.id, discord.sample.application.bot_user_id)
        await client.event("GUILD_MEMBER_ADD")
        assert (await client.event("GUILD_CREATE"))["name"] == "Other"
        discord.world.leave(other.id, discord.sample.application.bot_user_id)
        assert await client.event("GUILD_DELETE") == {"id": str(other.id)}
        discord.world.post_message(owner, general.id, MessageDraft("elsewhere"))
        await client.nothing_more()


@pytest.mark.parametrize(
    ("intent", "event"),
    [
        (Intent.GUILD_MESSAGES, "MESSAGE_CREATE"),
        (Intent.GUILD_MESSAGE_TYPING, "TYPING_START"),
        (Intent.GUILD_MESSAGE_REACTIONS, "MESSAGE_REACTION_ADD"),
        (Intent.DIRECT_MESSAGES, "MESSAGE_CREATE"),
        (Intent.DIRECT_MESSAGE_TYPING, "TYPING_START"),
        (Intent.DIRECT_MESSAGE_REACTIONS, "MESSAGE_REACTION_ADD"),
        (Intent.GUILD_MEMBERS, "GUILD_MEMBER_ADD"),
        (Intent.GUILDS, "CHANNEL_CREATE"),
    ],
)
async def test_each_intent_lets_its_own_events_through(
    discord: Discord, intent: Intent, event: str
) -> None:
    world, owner = discord.world, discord.sample.owner.id
    dm = world.open_dm(owner, discord.sample.application.bot_user_id)
    async with discord.ready(intents=int(intent)) as client:
        for place in (discord.general.id, dm.id):
            message = world.post_message(owner, place, MessageDraft("hello"))
            world.start_typing(owner, place)
            world.add_reaction(owner, place, message.id, Emoji("👀"))
        world.join(discord.sample.guild.id, world.create_person("Newcomer").id)
        world.create_channel(owner, discord.sample.guild.id, "more")
        data = await client.event(event)
        direct = intent in {
            Intent.DIRECT_MESSAGES,
            Intent.DIRECT_MESSAGE_TYPING,
            Intent.DIRECT_MESSAGE_REACTIONS,
        }
        assert ("guild_id" in data) is not direct
        await client.nothing_more()


async def heard(client: Client) -> dict[str, Any]:
    return await client.event("MESSAGE_CREATE")


async def test_without_the_content_intent_a_message_comes_empty(discord: Discord) -> None:
    owner, general = discord.sample.owner.id, discord.general.id
    draft = MessageDraft(
        "what it says",
        embeds=({"title": "embedded"},),
        components=({"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "x"}]},),
        poll={"question": {"text": "?"}, "answers": [{"poll_media": {"text": "!"}}]},
    )
    async with discord.ready(intents=WITHOUT_CONTENT) as client:
        message = discord.world.post_message(owner, general, draft)
        data = await heard(client)
        assert data["id"] == str(message.id)
        assert (data["content"], data["embeds"], data["components"]) == ("", [], [])
        assert "poll" not in data
        discord.world.edit_message(owner, general, message.id, MessageEdit(content="more"))
        assert (await client.event("MESSAGE_UPDATE"))["content"] == ""
    async with discord.ready() as client:
        discord.world.post_message(owner, general, draft)
        data = await heard(client)
        assert data["content"] == "what it says"
        assert data["poll"]["question"] == {"text": "?"}


async def test_without_the_content_intent_forwards_and_what_is_replied_to_come_empty(
    discord: Discord,
) -> None:
    world, owner, general = discord.world, discord.sample.owner.id, discord.general.id
    bot = discord.sample.application.bot_user_id
    async with discord.ready(intents=WITHOUT_CONTENT) as client:
        first = world.post_message(owner, general, MessageDraft("first"))
        await heard(client)
        forward = Reference(general, first.id, kind=ReferenceKind.FORWARD)
        world.post_message(owner, general, MessageDraft(reference=forward))
        (snapshot,) = (await heard(client))["message_snapshots"]
        assert snapshot["message"]["content"] == ""
        reply = MessageDraft(f"<@{bot}> look", reference=Reference(general, first.id))
        world.post_message(owner, general, reply)
        data = await heard(client)
        assert data["content"] == f"<@{bot}> look"
        assert data["referenced_message"]["content"] == ""


async def test_without_the_content_intent_own_direct_and_mentioning_messages_are_whole(
    discord: Discord,
) -> None:
    world, owner, general = discord.world, discord.sample.owner.id, discord.general.id
    bot = discord.sample.application.bot_user_id
    dm = world.open_dm(owner, bot)
    async with discord.ready(intents=WITHOUT_CONTENT) as client:
        world.post_message(bot, general, MessageDraft("own"))
        world.post_message(owner, general, MessageDraft(f"for <@!{bot}>"))
        world.post_message(owner, dm.id, MessageDraft("direct"))
        said = [(await heard(client))["content"] for _ in range(3)]
        assert said == ["own", f"for <@!{bot}>", "direct"]


async def test_an_ephemeral_answer_names_no_server(discord: Discord) -> None:
    world, owner, general = discord.world, discord.sample.owner.id, discord.general.id
    application = discord.sample.application
    (command,) = world.set_commands(
        application.id, None, [{"name": "whisper", "description": "tell me alone"}]
    )
    async with discord.ready() as client:
        interaction = world.invoke_command(owner, general, command.id)
        data = await client.event("INTERACTION_CREATE")
        assert data["token"] == interaction.token
        assert data["member"]["user"]["id"] == str(owner)
        draft = MessageDraft("psst", flags=MessageFlag.EPHEMERAL)
        world.respond_interaction(interaction.id, interaction.token, 4, draft=draft)
        data = await heard(client)
        assert (data["content"], data["flags"]) == ("psst", 64)
        assert "guild_id" not in data
        assert "member" not in data


async def test_a_private_thread_is_only_heard_by_who_follows_it(discord: Discord) -> None:
    world, owner = discord.world, discord.sample.owner.id
    bot = discord.sample.application.bot_user_id
    async with discord.ready() as client:
        thread = world.create_thread(
            owner, discord.general.id, "between us", type=ChannelType.PRIVATE_THREAD
        )
        world.post_message(owner, thread.id, MessageDraft("hidden"))
        await client.nothing_more()
        world.join_thread(owner, thread.id, bot)
        created = await client.event("THREAD_CREATE")
        assert created["member"]["user_id"] == str(bot)
        await client.event("THREAD_MEMBERS_UPDATE")
        world.post_message(owner, thread.id, MessageDraft("now"))
        assert (await heard(client))["content"] == "now"


async def test_a_bot_hears_of_itself_without_the_members_intent(discord: Discord) -> None:
    world, sample = discord.world, discord.sample
    async with discord.ready(intents=int(Intent.GUILDS)) as client:
        world.set_nick(sample.owner.id, sample.guild.id, sample.owner.id, "Boss")
        world.set_nick(sample.owner.id, sample.guild.id, sample.application.bot_user_id, "Helpful")
        data = await client.event("GUILD_MEMBER_UPDATE")
        assert (data["user"]["id"], data["nick"]) == (str(sample.application.id), "Helpful")
        await client.nothing_more()


async def test_a_presence_is_taken_and_a_voice_state_told(discord: Discord) -> None:
    channels = discord.world.channels(discord.sample.guild.id)
    voice = next(each for each in channels if each.type is ChannelType.VOICE)
    async with discord.ready() as client:
        await client.send(Op.PRESENCE, {"status": "online", "activities": [], "since": 0})
        await client.nothing_more()
        place = {"guild_id": str(discord.sample.guild.id), "channel_id": str(voice.id)}
        await client.send(Op.VOICE_STATE, {**place, "self_mute": False, "self_deaf": False})
        data = await client.event("VOICE_STATE_UPDATE")
        assert data["channel_id"] == str(voice.id)
        assert data["session_id"] == client.ready["session_id"]
