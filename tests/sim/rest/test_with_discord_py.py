"""discord.py's own HTTP client, unmodified, against this REST."""

import io
from collections.abc import AsyncIterator

import pytest
from discord.http import HTTPClient, Route, handle_message_parameters

import discord
from clankie.sim.faults import FaultKind
from clankie.sim.world.entities import ChannelType, MessageDraft
from conftest import ManualClock
from sim.rest.places import Place


@pytest.fixture
async def place(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    async with Place(clock) as place:
        monkeypatch.setattr(Route, "BASE", place.base)
        yield place


@pytest.fixture
async def client(place: Place) -> AsyncIterator[discord.Client]:
    """Logged in, and not connected to any gateway."""
    async with discord.Client(intents=discord.Intents.default()) as client:
        await client.login(place.application.token)
        yield client


async def test_it_logs_in_and_is_refused_with_a_wrong_token(
    place: Place, client: discord.Client
) -> None:
    assert client.user is not None
    assert client.user.id == place.bot_id
    assert client.application_id == place.application.id
    async with discord.Client(intents=discord.Intents.none()) as stranger:
        with pytest.raises(discord.LoginFailure):
            await stranger.login("unknown")


async def test_it_posts_reads_edits_reacts_and_deletes(
    place: Place, client: discord.Client
) -> None:
    channel = await client.fetch_channel(place.general.id)
    assert isinstance(channel, discord.TextChannel)
    asked = place.world.post_message(place.guest.id, place.general.id, MessageDraft("?"))
    question = await channel.fetch_message(asked.id)
    answer = await question.reply("answer", mention_author=False)
    assert answer.reference is not None
    assert answer.reference.message_id == asked.id
    assert answer.mentions == []
    edited = await answer.edit(content="better")
    assert edited.content == "better"
    await answer.add_reaction("👍")
    async with channel.typing():
        pass
    read = [message async for message in channel.history(limit=10)]
    assert [message.content for message in read] == ["better", "?"]
    assert read[0].reactions[0].me
    await answer.delete()
    with pytest.raises(discord.NotFound) as gone:
        await channel.fetch_message(answer.id)
    assert gone.value.code == 10008


async def test_its_files_arrive_and_come_back(place: Place, client: discord.Client) -> None:
    channel = await client.fetch_channel(place.general.id)
    assert isinstance(channel, discord.TextChannel)
    files = [discord.File(io.BytesIO(bytes([n]) * 1_000), f"ü{n}.bin") for n in range(3)]
    sent = await channel.send("files", files=files, embed=discord.Embed(title="t"))
    assert [each.filename for each in sent.attachments] == ["ü0.bin", "ü1.bin", "ü2.bin"]
    assert await sent.attachments[2].read() == bytes([2]) * 1_000
    assert sent.embeds[0].title == "t"
    kept = await sent.edit(attachments=[sent.attachments[1]])
    assert [each.filename for each in kept.attachments] == ["ü1.bin"]


async def test_it_starts_threads_and_forum_posts(place: Place, client: discord.Client) -> None:
    channel = await client.fetch_channel(place.general.id)
    assert isinstance(channel, discord.TextChannel)
    message = await channel.send("x")
    http: HTTPClient = client.http
    thread = await http.start_thread_with_message(
        channel.id, message.id, name="aside", auto_archive_duration=1440
    )
    assert int(thread["id"]) == message.id
    forum = place.world.create_channel(place.owner.id, place.guild.id, "forum", ChannelType.FORUM)
    with handle_message_parameters(
        "body",
        file=discord.File(io.BytesIO(b"x"), "a.txt"),
        channel_payload={"name": "post", "auto_archive_duration": 1440},
    ) as parameters:
        post = await http.start_thread_in_forum(forum.id, params=parameters)
    assert post["message"]["id"] == post["id"]
    assert post["message"]["attachments"][0]["filename"] == "a.txt"


async def test_a_message_goes_out_once_after_a_429_and_an_error_of_the_server(
    place: Place, client: discord.Client
) -> None:
    channel = await client.fetch_channel(place.general.id)
    assert isinstance(channel, discord.TextChannel)
    place.faults.set(FaultKind.RATE_LIMIT, seconds=0.05, count=2)
    await channel.send("after 429")
    place.faults.set(FaultKind.RATE_LIMIT, seconds=0.05, scope="global")
    await channel.send("after a global 429")
    place.faults.set(FaultKind.SERVER_ERROR, status=503)
    with pytest.raises(discord.DiscordServerError):
        await channel.send("never")
    said = [each.content for each in place.world.history(place.general.id)]
    assert said == ["after a global 429", "after 429"]


async def test_its_commands_are_kept_and_its_interactions_answered(
    place: Place, client: discord.Client
) -> None:
    tree = discord.app_commands.CommandTree(client)

    @tree.command(name="ask", description="Ask something")
    async def ask(interaction: discord.Interaction, what: str) -> None:
        raise NotImplementedError  # nothing connects this client to a gateway

    (synced,) = await tree.sync()
    assert synced.name == "ask"
    used = place.world.invoke_command(
        place.guest.id,
        place.general.id,
        synced.id,
        [{"name": "what", "type": 3, "value": "this"}],
    )
    hook = discord.Webhook.partial(place.application.id, used.token, client=client)
    path = f"/interactions/{used.id}/{used.token}/callback"
    await client.http.request(Route("POST", path), json={"type": 5})
    followed = await hook.send("done", wait=True, ephemeral=False)
    assert followed.content == "done"
    assert place.count() == 1
